package spectest

import (
	"os"
	"regexp"
	"testing"
)

// claim is one sentence of the specification as a test.
type claim struct {
	id  string
	run func(*testing.T, *world)
}

// claims are all of them, in the order of the specification.
func claims() []claim {
	var all []claim
	for _, part := range [][]claim{
		intro, resources, endpoints, batches, streams, formats, families, authentication, failures, limitations,
	} {
		all = append(all, part...)
	}
	return all
}

// TestSpec runs the claims. Those of parts that are not built are skipped as open.
func TestSpec(t *testing.T) {
	rows := readIndex(t)
	for _, form := range []struct {
		name  string
		start func(*testing.T) *world
	}{{"one-node", oneNode}, {"three-nodes", threeNodes}} {
		t.Run(form.name, func(t *testing.T) {
			w := form.start(t)
			for _, c := range claims() {
				t.Run(c.id, func(t *testing.T) {
					if part := rows[c.id].open; part != "" {
						t.Skip("open: " + part)
					}
					c.run(t, w)
				})
			}
		})
	}
}

// indexRow is a row of the index.
type indexRow struct {
	silent bool   // the sentence only says that something is not shown
	open   string // the part that is missing
}

const indexFile = "../../docs/spec-index.md"

var rowForm = regexp.MustCompile(`(?m)^\| (KV-[A-Z0-9]+\.\d+) \| [^|]+ \| ([^|]+) \|$`)

// readIndex reads the rows of the index: "TestSpec" is a claim that holds, "open: part"
// one that waits, "-" a sentence without content.
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
		switch {
		case state == "TestSpec":
			rows[id] = indexRow{}
		case state == "-":
			rows[id] = indexRow{silent: true}
		case len(state) > 6 && state[:6] == "open: ":
			rows[id] = indexRow{open: state[6:]}
		default:
			t.Errorf("%s: %s has the state %q", indexFile, id, state)
		}
	}
	return rows
}

// TestIndex keeps the index and the claims together.
func TestIndex(t *testing.T) {
	rows, tested := readIndex(t), map[string]bool{}
	for _, c := range claims() {
		row, ok := rows[c.id]
		if !ok || row.silent {
			t.Errorf("%s has a test and no row that names it", c.id)
		}
		if tested[c.id] {
			t.Errorf("%s has two tests", c.id)
		}
		tested[c.id] = true
	}
	for id, row := range rows {
		if !tested[id] && !row.silent {
			t.Errorf("%s has no test", id)
		}
	}
	const sentences = 100 // fewer rows than that are a damaged index
	if len(rows) < sentences {
		t.Errorf("%s has %d rows", indexFile, len(rows))
	}
}
