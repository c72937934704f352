package command

import (
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/internal/testcpu"
)

// What stays of a call may take twice what it counts for, and what an empty database takes beside it. Objects of JSON with short members take more.
const (
	mostTimesCounted = 2
	mostTimesJSON    = 3
	uncounted        = 128 << 10
)

// TestWhatStaysIsCounted calls every row of the table that writes with many of what a client can make many of, and holds the memory of its
// database, after a collection, against what it counts for.
func TestWhatStaysIsCounted(t *testing.T) {
	s := &scaling{t: t, table: NewTable(), engine: script.NewEngine()}
	recipes, found := commandRecipes(), 0
	for _, c := range s.table.Rows() {
		if c.Flags&Write == 0 && c.Group() != "scripting" {
			continue
		}
		for _, r := range recipes[c.Name] {
			lines := strings.Split(r, "; ")
			n := testcpu.Scale(4 * scaledSize)
			for s.refused(lines, n) && n > scaledSize {
				n /= 2
			}
			stays, counted := s.growth(lines, n)
			most := int64(mostTimesCounted)
			if c.Group() == "json" {
				most = mostTimesJSON
			}
			if found++; stays > most*counted+uncounted {
				t.Errorf("%s: %d bytes stay of n = %d, which count for %d", r, stays, n, counted)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d recipes write", found)
	}
}

// growth measures what stays of a recipe, from an empty database on, in bytes of the heap, and what it counts for.
func (s *scaling) growth(lines []string, n int) (stays, counted int64) {
	before := heap()
	tx, argv := s.prepared(lines, n)
	had := tx.counted()
	tx.Exec(argv)
	counted = max(had, tx.counted()) // a call that makes things smaller may leave room in them
	state := []any{tx.DB, tx.Users, tx.Scripts, tx.Messages, tx.Workflows}
	tx, argv = nil, nil // which hold the words
	stays = heap() - before
	runtime.KeepAlive(state)
	return stays, counted
}

// counted are the logical bytes of the database.
func (tx *Tx) counted() int64 {
	return tx.DB.Used() + tx.Users.Size() + tx.Scripts.Size() + tx.Messages.Used() + tx.Workflows.Used()
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // finalizers and pools of the first one
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
