package searchindex

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/testgate"
)

// patience is for how long a test waits for what must happen.
const patience = time.Minute

// counts asks for the documents of an index until the answer is want.
func (s *stepped) counts(db string, want int64) <-chan string {
	ended := make(chan string, 1)
	go func() {
		if v := s.ask(db, "SEARCH.COUNT", "i", "{}"); v.IsError() || v.Int() != want {
			ended <- fmt.Sprintf("SEARCH.COUNT in %s: %d %s, want %d", db, v.Int(), v.Text(), want)
		}
		close(ended)
	}()
	return ended
}

func (s *stepped) within(what string, ended <-chan string) {
	s.t.Helper()
	select {
	case wrong := <-ended:
		if wrong != "" {
			s.t.Errorf("%s: %s", what, wrong)
		}
	case <-time.After(patience):
		s.t.Fatalf("%s has not ended", what)
	}
}

// TestDatabasesIndexAlone: while searches of one database hold its indexes and changes of it wait for them, another database is
// indexed and searched, with a single worker.
func TestDatabasesIndexAlone(t *testing.T) {
	s := newWorked(t, 0, 1)
	for _, db := range []string{"a", "b"} {
		s.create(db, 0)
		s.in(db, textIndex("i"), textIndex("j"), doc(1, "one"))
		s.within("the first search of "+db, s.counts(db, 1))
	}
	s.e.mu.Lock()
	held := append([]*task(nil), s.e.databases["a"].tasks...)
	s.e.mu.Unlock()
	for _, x := range held { // as searches do
		x.mu.RLock()
	}
	for i := 2; i < 5; i++ {
		s.in("a", doc(i, text(i, 50)))
		waits := s.counts("a", int64(i))
		s.in("b", doc(i, "one"))
		s.within("a search of b while one of a runs", s.counts("b", int64(i)))
		s.e.mu.Lock()
		if d := s.e.databases["a"]; d.reached(s.index - 1) {
			t.Error("an index that a search holds has changed")
		}
		s.e.mu.Unlock()
		for _, x := range held {
			x.mu.RUnlock()
		}
		s.within("the search of a", waits)
		for _, x := range held {
			x.mu.RLock()
		}
	}
	for _, x := range held {
		x.mu.RUnlock()
	}
}

// longWords are so many words that take much memory to read and little time to index.
func longWords(n int) string { return strings.Repeat(strings.Repeat("w", maxToken-1)+" ", n) }

// fill writes documents of so many words to the database a.
func (s *stepped) fill(docs, size int) {
	s.t.Helper()
	var rows [][]string
	for i := range docs {
		if rows = append(rows, doc(i, longWords(size))); len(rows) == 64 || i == docs-1 {
			s.in("a", rows...)
			rows = nil
		}
	}
}

// TestDatabasesTakeTurns: a database with very much to index, whether it is many keys or a single large one, has another one wait
// for no more than a step of its own.
func TestDatabasesTakeTurns(t *testing.T) {
	for what, fill := range map[string]func(s *stepped){ // unordered: independent cases
		"a scan": func(s *stepped) {
			s.fill(5*keysPerStep, 2)
			s.in("a", textIndex("i"))
		},
		"changes": func(s *stepped) {
			s.in("a", textIndex("i"))
			s.fill(5*keysPerStep, 2)
		},
		"long documents": func(s *stepped) {
			s.in("a", textIndex("i"))
			s.fill(90, 1000)
		},
		"a stream": func(s *stepped) {
			s.in("a", strings.Fields("SEARCH.CREATE i ON STREAM log SCHEMA t TEXT"))
			for range 100 {
				s.in("a", []string{"XADD", "log", "*", "t", longWords(1000)})
			}
		},
	} {
		s := newStepped(t)
		s.create("a", 0)
		s.create("b", 0)
		fill(s)
		s.e.step()
		s.in("b", textIndex("i"), doc(1, "one"))
		for range 4 { // two of each
			s.e.step()
		}
		s.e.mu.Lock()
		a, b := s.e.databases["a"], s.e.databases["b"]
		if !b.reached(s.index) || !b.tasks[0].scanned || b.tasks[0].live() != 1 {
			t.Errorf("%s: the other database is not indexed after two steps", what)
		}
		if a.reached(s.index) && a.tasks[0].scanned {
			t.Errorf("%s was no more than a few steps", what)
		}
		s.e.mu.Unlock()
		if s.finish(); !a.reached(s.index) || !a.tasks[0].scanned {
			t.Errorf("%s was not finished", what)
		}
	}
}

// TestLargeDocumentRests: a worker that fills an index with one very large document lets another database have its turn meanwhile.
func TestLargeDocumentRests(t *testing.T) {
	s := newWorked(t, 0, 1)
	s.create("a", 0)
	s.create("b", 0)
	for _, db := range []string{"a", "b"} {
		s.in(db, textIndex("i"))
		s.within("the first search", s.counts(db, 0))
	}
	s.e.mu.Lock()
	a := s.e.databases["a"].tasks[0]
	s.e.mu.Unlock()
	whole, changed, rested := a.take, false, false
	applied := testgate.New(t)
	a.mu.Lock()
	a.take = func(n int64) bool { // in the middle of the document
		if changed {
			return whole(n)
		}
		applied.Wait() // entries are applied one after the other
		s.in("b", doc(1, "one"))
		changed = true
		room := whole(n)
		s.e.mu.Lock()
		rested = s.e.databases["b"].reached(s.index)
		s.e.mu.Unlock()
		return room
	}
	a.mu.Unlock()
	s.in("a", doc(1, text(1, 20_000)))
	applied.Open()
	s.within("the search of the large document", s.counts("a", 1))
	s.within("the search of the other database", s.counts("b", 1))
	if !rested {
		t.Error("the other database had to wait until the document was indexed")
	}
}

// TestEntriesOfOthersCostNothing: an entry that touches nothing of a database moves its indexes on all the same, and costs the same however
// many databases have indexes.
func TestEntriesOfOthersCostNothing(t *testing.T) {
	s := newStepped(t)
	for i := range 50 {
		db := fmt.Sprint("db", i)
		s.create(db, 0)
		s.in(db, textIndex("i"), doc(1, "one"))
	}
	s.finish()
	s.in("db0", doc(2, "two"))
	s.in("", doc(1, "of no index"))
	s.e.mu.Lock()
	queued := len(s.e.queue)
	s.e.mu.Unlock()
	if queued != 1 {
		t.Errorf("%d databases are to be looked at after one has changed", queued)
	}
	s.wantCount("db7", "i", 1)
	if allocs := testing.AllocsPerRun(100, func() { s.e.Applied(s.index, nil) }); allocs > 0 {
		t.Errorf("an entry without notifications makes %v objects", allocs)
	}
}
