package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	goPath  = regexp.MustCompile("`((?:cmd|cluster|fsm|httpapi|resp|scheduler|jepsen|bench|clients|cli|node|internal|console|deploy|docs|scripts)/[A-Za-z0-9_./-]+)`")
)

// pages are the Markdown files that people wrote or may read; reports are written by
// programs that check themselves.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "node_modules" || name == "bin" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".md") {
			return nil
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 40 {
		t.Fatalf("only %d pages found", len(all))
	}
	return all
}

func TestLinksLead(t *testing.T) {
	all := pages(t)
	anchors := map[string]map[string]bool{}
	for path, text := range all {
		anchors[filepath.Clean(path)] = anchorsOf(text)
	}
	for path, text := range all {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			at := filepath.Clean(path)
			if file != "" {
				at = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s links to %s, which does not exist", path, target)
			} else if known, page := anchors[at]; page && anchor != "" && !known[anchor] {
				t.Errorf("%s links to %s, which has no such heading", path, target)
			}
		}
	}
}

// anchorsOf returns the anchors of a page's headings as GitHub makes them.
func anchorsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(m[1])) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				b.WriteRune(r)
			}
		}
		all[b.String()] = true
	}
	return all
}

// Folders and files that a page names in backquotes exist. The changelog tells of the past.
func TestPagesNameExistingFiles(t *testing.T) {
	for path, text := range pages(t) {
		if strings.HasSuffix(path, "CHANGELOG.md") || strings.Contains(path, "/reports/") {
			continue
		}
		for _, m := range goPath.FindAllStringSubmatch(text, -1) {
			name := strings.TrimSuffix(strings.TrimSuffix(m[1], "/..."), "/")
			if _, err := os.Stat(filepath.Join(root, name)); err == nil || planned[name] || strings.HasPrefix(name, "console/") {
				continue
			}
			if matches, _ := filepath.Glob(filepath.Join(root, name+"*")); len(matches) == 0 {
				t.Errorf("%s names `%s`, which does not exist", path, m[1])
			}
		}
	}
}

// Targets of make that a page names exist.
func TestPagesNameExistingTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range pages(t) {
		for _, m := range regexp.MustCompile("`make ([a-z][a-z-]+)").FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
				t.Errorf("%s names `make %s`, which the Makefile does not have", path, m[1])
			}
		}
	}
}

// Flags that the operations page names are flags of the program, and the other way round
// cmd/trireme's own test holds.
func TestPagesNameExistingFlags(t *testing.T) {
	var source strings.Builder
	for _, folder := range []string{"cmd/trireme", "httpapi", "httpapi/messages", "resp", "internal/observe", "jepsen/cmd/jepsen", "jepsen/cmd/accept", "bench/cmd/bench"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
	}
	known := source.String()
	flag := regexp.MustCompile("`trireme [a-z -]*--([a-z][a-z-]+)|^\\| `--([a-z][a-z-]+)")
	for path, text := range pages(t) {
		if strings.HasSuffix(path, "CHANGELOG.md") || strings.Contains(path, "/reports/") {
			continue
		}
		for line := range strings.Lines(text) {
			for _, m := range flag.FindAllStringSubmatch(line, -1) {
				// Each secret may be given by a file: the flag of the secret with -file.
				if name := strings.TrimSuffix(m[1]+m[2], "-file"); !strings.Contains(known, `"`+name+`"`) {
					t.Errorf("%s names the flag --%s, which no program has", path, name)
				}
			}
		}
	}
}

// Nothing refers to texts that are not in the repository.
func TestNoReferencesToTextsElsewhere(t *testing.T) {
	elsewhere := regexp.MustCompile(`\(?\bdecisions? \d+|\breliability [A-Z]\d+|\bcontract [CR]\d+\b|\((?:messages|workflows|kv-http)\.md \d`)
	check := func(path string, text []byte) {
		for _, m := range elsewhere.FindAll(text, -1) {
			t.Errorf("%s refers to %q: give the reason itself", path, m)
		}
	}
	for path, text := range pages(t) {
		if !strings.Contains(path, "/reports/") {
			check(path, []byte(text))
		}
	}
	for _, f := range repository(t) {
		text, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		if f.Folder != "internal/layout" {
			check(f.Path, text)
		}
	}
}
