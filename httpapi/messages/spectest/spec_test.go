package spectest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// claim is one rule as a test.
type claim struct {
	id  string
	run func(*testing.T, *world)
}

// claims are all of them, in the order of the specification.
func claims() []claim {
	var all []claim
	for _, part := range [][]claim{intro, keys, deadLetters, events, published, states, eventFilters, destinations, publishing, callbacks, times, limits, routing, errorTexts, delivery, resources} {
		all = append(all, part...)
	}
	return all
}

// TestSpec runs the claims. Those of parts that are not built are skipped as open.
func TestSpec(t *testing.T) {
	rows := readIndex(t)
	w := startWorld(t)
	for _, c := range claims() {
		t.Run(c.id, func(t *testing.T) {
			if part := rows[c.id].open; part != "" {
				t.Skip("open: " + part)
			}
			c.run(t, w)
		})
	}
}

// indexRow is a row of the index.
type indexRow struct {
	silent    bool   // the sentence only says that something is not shown
	open      string // the part that is missing
	elsewhere string // "folder: TestName", a test of another package
}

const root = "../../.."

const indexFile = root + "/docs/messages-index.md"

var rowForm = regexp.MustCompile(`(?m)^\| (M[SP]-[A-Z0-9]+(?:\.\d+)+) \| [^|]+ \| ([^|]+) \|$`)

// readIndex reads the rows of the index: "TestSpec" is a claim that holds here,
// "folder: TestName" one that holds there, "open: part" one that waits, "-" a sentence
// without content.
func readIndex(t *testing.T) map[string]indexRow {
	t.Helper()
	text, err := os.ReadFile(indexFile)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]indexRow{}
	for _, m := range rowForm.FindAllStringSubmatch(string(text), -1) {
		id, state := m[1], m[2]
		if _, twice := rows[id]; twice {
			t.Errorf("%s: %s stands there twice", indexFile, id)
		}
		part, isOpen := strings.CutPrefix(state, "open: ")
		switch {
		case state == "TestSpec":
			rows[id] = indexRow{}
		case state == "-":
			rows[id] = indexRow{silent: true}
		case isOpen:
			rows[id] = indexRow{open: part}
		case strings.Contains(state, ": Test"):
			rows[id] = indexRow{elsewhere: state}
		default:
			t.Errorf("%s: %s has the state %q", indexFile, id, state)
		}
	}
	if lines := strings.Count(string(text), "\n| M"); lines != len(rows) {
		t.Errorf("%s: %d rows, of which %d can be read", indexFile, lines, len(rows))
	}
	return rows
}

// TestIndex keeps the index and the claims together, and finds the tests that it names in
// other packages.
func TestIndex(t *testing.T) {
	rows, tested := readIndex(t), map[string]bool{}
	for _, c := range claims() {
		row, ok := rows[c.id]
		if !ok || row.silent || row.elsewhere != "" {
			t.Errorf("%s has a test and no row that names it", c.id)
		}
		if tested[c.id] {
			t.Errorf("%s has two tests", c.id)
		}
		tested[c.id] = true
	}
	for id, row := range rows { // unordered: each is looked at alone
		switch {
		case row.elsewhere != "":
			if !exists(t, row.elsewhere) {
				t.Errorf("%s: there is no %s", id, row.elsewhere)
			}
		case !tested[id] && !row.silent && row.open == "":
			t.Errorf("%s has no test", id)
		}
	}
	const sentences = 150 // fewer rows than that are a damaged index
	if len(rows) < sentences {
		t.Errorf("%s has %d rows", indexFile, len(rows))
	}
}

// exists tells whether a folder has a test of that name.
func exists(t *testing.T, place string) bool {
	t.Helper()
	folder, name, _ := strings.Cut(place, ": ")
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
