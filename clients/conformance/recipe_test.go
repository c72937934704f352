package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	repository = "../.."
	tags       = "nomsgpack"
)

// TestRecipeForACommand does what CONTRIBUTING.md says of adding a command, with the blocks
// of the text: the tests of the table accept the command, and it replies as its script says, by
// itself, in transactions, from Lua and on a replica. The tree stays as it is: the compiler reads
// the changed files from an overlay, and tests read a copy of testdata.
func TestRecipeForACommand(t *testing.T) {
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	commands := filepath.Join(dir, "command") // where tests of the table find testdata
	if err := os.CopyFS(filepath.Join(commands, "testdata"), os.DirFS(filepath.Join(root, "fsm/command/testdata"))); err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	name := ""
	for path, block := range recipe(t, root) {
		text, to := block, filepath.Join(dir, filepath.Base(path))
		if rel, ok := strings.CutPrefix(path, "fsm/command/testdata/"); ok {
			to = filepath.Join(commands, "testdata", rel)
			if rel != "surface.txt" {
				name = strings.TrimSuffix(filepath.Base(rel), ".txt")
			}
		} else {
			overlay[filepath.Join(root, path)] = to
		}
		if old, err := os.ReadFile(filepath.Join(root, path)); err == nil {
			text = insert(t, path, string(old), block)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if name == "" {
		t.Fatal("the recipe has no script")
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o644); err != nil {
		t.Fatal(err)
	}
	program := func(in string, words ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = in
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
	}
	with := []string{"-tags", tags, "-overlay", filepath.Join(dir, "overlay.json")}

	tests := filepath.Join(dir, "command.test")
	program(root, append(append([]string{"go", "test", "-c", "-o", tests}, with...), "./fsm/command")...)
	program(commands, tests, "-test.run", "^(TestSurface|TestRows.*|TestFamiliesAreComplete|TestEveryRowHasAScript)$")
	program(commands, tests, "-test.run", "^TestScripts$/^"+name+"$")
	// Where there is a redis-server the command and its script are compared with it, or left out of the comparison.
	program(commands, tests, "-test.run", "^TestFidelity(|OfCommand|OfHistory|OfCommandTable|OfEvents)$")
}

var fence = regexp.MustCompile("(?ms)^```\\w+ (\\S+)\n(.*?)^```$")

// recipe returns the blocks of the section by the file that they go to.
func recipe(t *testing.T, root string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Adding a command\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := map[string]string{}
	for _, m := range fence.FindAllStringSubmatch(section, -1) {
		blocks[m[1]] = m[2]
	}
	if len(blocks) != 4 {
		t.Fatalf("the recipe has %d blocks, want 4: row, handler, script, line", len(blocks))
	}
	return blocks
}

// insert puts a row at the head of a family's list, and a line at the end of a text.
func insert(t *testing.T, path, old, block string) string {
	t.Helper()
	if filepath.Ext(path) != ".go" {
		return strings.TrimRight(old, "\n") + "\n" + block
	}
	const list = "return []Command{\n"
	head, rest, ok := strings.Cut(old, list)
	if !ok {
		t.Fatalf("%s has no list of rows", path)
	}
	return head + list + block + rest
}
