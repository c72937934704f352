package httpapitest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Index is a page of the documentation that lists the sentences of a specification, and names the test of each.
type Index struct {
	file, root string
	rows       map[string]IndexRow
}

// IndexRow is the entry of an Index for a sentence.
type IndexRow struct {
	// Silent says that the sentence only states that something is not shown.
	Silent bool
	// Open is the part of the product that is missing, empty if there is none.
	Open string
	// Elsewhere is "folder: TestName", a test of another package, or "folder: a name", one
	// of a JavaScript program; empty for a claim of the package that reads the index.
	Elsewhere string
}

// ReadIndex reads the index in a file below root, the folder of the repository. Its rows
// have names that begin with one of the prefixes: "TestSpec" is a claim that holds here,
// "folder: name" one that holds there, "open: part" one that waits, "-" a sentence without
// content. Less than fewest rows are a damaged index.
func ReadIndex(t testing.TB, root, file string, fewest int, prefixes ...string) *Index {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	n := &Index{file: file, root: root, rows: map[string]IndexRow{}}
	begin := `(?m)^\| (?:` + strings.Join(prefixes, "|") + `)-`
	for _, m := range regexp.MustCompile(strings.Replace(begin, "(?:", "((?:", 1)+`[A-Z0-9]+(?:\.\d+)+) \| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(string(text), -1) {
		if _, twice := n.rows[m[1]]; twice {
			t.Errorf("%s: %s stands there twice", file, m[1])
		}
		row, known := readRow(m[2])
		if !known {
			t.Errorf("%s: %s has the state %q", file, m[1], m[2])
		}
		n.rows[m[1]] = row
	}
	if lines := len(regexp.MustCompile(begin).FindAllString(string(text), -1)); lines != len(n.rows) || lines < fewest {
		t.Errorf("%s: %d rows, of which %d can be read; there are %d at least", file, lines, len(n.rows), fewest)
	}
	return n
}

func readRow(state string) (row IndexRow, known bool) {
	part, open := strings.CutPrefix(state, "open: ")
	switch {
	case state == "TestSpec":
	case state == "-":
		row.Silent = true
	case open:
		row.Open = part
	case strings.Contains(state, ": "):
		row.Elsewhere = state
	default:
		return row, false
	}
	return row, true
}

// SkipOpen skips the test of a claim whose part of the product is missing.
func (i *Index) SkipOpen(t testing.TB, id string) {
	if part := i.rows[id].Open; part != "" {
		t.Skip("open: " + part)
	}
}

// CheckIndex compares an index with the claims that have tests here, and finds the tests that
// it names elsewhere.
func CheckIndex[C interface{ ID() string }](t testing.TB, i *Index, claims []C) {
	t.Helper()
	tested := map[string]bool{}
	for _, c := range claims {
		id := c.ID()
		row, ok := i.rows[id]
		if !ok || row.Silent || row.Elsewhere != "" {
			t.Errorf("%s has a test and no row that names it", id)
		}
		if tested[id] {
			t.Errorf("%s has two tests", id)
		}
		tested[id] = true
	}
	for id, row := range i.rows { // unordered: each is looked at alone
		switch {
		case row.Elsewhere != "":
			if !i.exists(t, row.Elsewhere) {
				t.Errorf("%s: there is no %s", id, row.Elsewhere)
			}
		case !tested[id] && !row.Silent && row.Open == "":
			t.Errorf("%s has no test", id)
		}
	}
}

// exists reports whether a folder has a test of that name.
func (i *Index) exists(t testing.TB, place string) bool {
	t.Helper()
	folder, name, _ := strings.Cut(place, ": ")
	for _, pattern := range []string{"*_test.go", "*.mjs"} {
		files, err := filepath.Glob(filepath.Join(i.root, filepath.FromSlash(folder), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") || strings.Contains(string(text), `test("`+name+`"`) {
				return true
			}
		}
	}
	return false
}
