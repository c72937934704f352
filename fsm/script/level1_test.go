package script

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// TestLevel1CountsAsReleased runs programs at feature level 1 and compares what they spend with what the release that brought
// level 1 counted: logs of that level are read by every later release, and a script that ended must end where it did.
func TestLevel1CountsAsReleased(t *testing.T) {
	const path = "testdata/level1.txt"
	text, err := os.ReadFile("lua/testdata/programs.txt")
	if err != nil {
		t.Fatal(err)
	}
	hostile, err := os.ReadFile("../command/testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	programs := strings.Split(string(hostile), "\n---\n")
	for line := range strings.Lines(string(text)) {
		if p, ok := strings.CutPrefix(line, "> "); ok {
			programs = append(programs, strings.ReplaceAll(strings.TrimSuffix(p, "\n"), "␤", "\n"))
		}
	}
	var recorded strings.Builder
	for _, p := range programs {
		name := fnv.New32a()
		name.Write([]byte(p))
		b := lua.Budget{Steps: 200_000, Bytes: 8 << 20, Limit: 200_000}
		v, stop := NewEngine().Eval(&Program{Name: "p", Body: p, Keys: [][]byte{[]byte("k")}, Args: [][]byte{[]byte("a"), []byte("42")}}, world{}, &b)
		answer := fnv.New32a()
		answer.Write([]byte(v.Text()))
		fmt.Fprintf(&recorded, "%08x %d %d %t %08x\n", name.Sum32(), b.Steps, b.Bytes, stop != nil, answer.Sum32())
	}
	if os.Getenv("TRIREME_RECORD") == "level1" {
		if err := os.WriteFile(path, []byte(recorded.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, was := strings.Split(recorded.String(), "\n"), strings.Split(string(want), "\n")
	known := map[string]string{}
	for _, line := range was {
		name, counts, _ := strings.Cut(line, " ")
		known[name] = counts
	}
	compared := 0
	for i, line := range got[:len(got)-1] {
		name, counts, _ := strings.Cut(line, " ")
		counted, ok := known[name]
		if !ok {
			continue // a program that is newer than the record
		}
		compared++
		if counts != counted {
			t.Errorf("%.100s\n spends %s\n was    %s", programs[i], counts, counted)
		}
	}
	if compared < 900 {
		t.Errorf("%d programs were compared", compared)
	}
}
