package searchindex

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// text is n words that no other number has.
func text(number, n int) string { return words64(fmt.Sprintf("n%dw", number), 0, n) }

func textIndex(name string) []string {
	return strings.Fields("SEARCH.CREATE " + name + " ON HASH PREFIX 1 doc: SCHEMA t TEXT NOSTEM")
}

func doc(i int, text string) []string { return []string{"HSET", fmt.Sprint("doc:", i), "t", text} }

// wantSuspended has a search refused with an error that says all of these, and SEARCH.DESCRIBE say so.
func (s *stepped) wantSuspended(db, index string, say ...string) {
	s.t.Helper()
	v := s.ask(db, "SEARCH.COUNT", index, "{}")
	for _, part := range append(say, "Index "+index+" is suspended", "Limit: ", "Actual: ", "SEARCH.REINDEX") {
		if !v.IsError() || !strings.Contains(v.Text(), part) {
			s.t.Errorf("SEARCH.COUNT: %q (%d), want %q", v.Text(), v.Int(), part)
		}
	}
	shown := ""
	for _, e := range s.ask(db, "SEARCH.DESCRIBE", index).Elems() {
		shown += e.Text() + " "
	}
	if !strings.Contains(shown, "state suspended suspended Index "+index) {
		s.t.Errorf("SEARCH.DESCRIBE: %s", shown)
	}
}

func (s *stepped) wantCount(db, index string, want int64) {
	s.t.Helper()
	if v := s.ask(db, "SEARCH.COUNT", index, "{}"); v.IsError() || v.Int() != want {
		s.t.Errorf("%s of %s: %d %s, want %d", index, db, v.Int(), v.Text(), want)
	}
}

// TestIndexIsSuspended: an index that would take more than its database or the node may have is dropped before it does, by many
// documents and within a single one, and searches say which limit that is. With more room or less data it is built again.
func TestIndexIsSuspended(t *testing.T) {
	const limit = 1 << 20
	fill := map[string]func(s *stepped){
		"documents": func(s *stepped) {
			for i := range 20 {
				s.in("a", doc(i, text(i, 500)))
			}
		},
		"one document": func(s *stepped) { s.in("a", doc(0, text(0, 10_000))) },
		"facets": func(s *stepped) {
			s.in("a", strings.Fields("SEARCH.DROP i"), strings.Fields("SEARCH.CREATE i ON HASH PREFIX 1 doc: SCHEMA t FACET"), doc(0, strings.Repeat("/ab", 5_000)))
		},
	}
	for what, fill := range fill {
		for _, of := range []string{"database", "node"} {
			t.Run(what+"/"+of, func(t *testing.T) {
				node, own, say := int64(0), int64(limit), "Setting: maxMemory of database a"
				if of == "node" {
					node, own, say = limit, 0, "Setting: max-index-memory"
				}
				s := newWorked(t, node, 0)
				s.create("a", own)
				s.create("b", 0)
				s.in("b", textIndex("i"), doc(0, "one two"))
				s.in("a", textIndex("i"))
				most := int64(0)
				fill(s)
				for s.e.step() {
					most = max(most, s.e.Used())
				}
				s.wantSuspended("a", "i", say, fmt.Sprintf("Limit: %d bytes", limit))
				s.wantCount("b", "i", 1)
				if used := s.e.Used(); used > 32<<10 || most > limit {
					t.Errorf("%d bytes are in use, up to %d were", used, most)
				}
				s.in("a", doc(1, "one"))
				s.finish()
				s.wantSuspended("a", "i", say)
				s.in("a", strings.Fields("SEARCH.REINDEX i")) // which changes nothing
				s.finish()
				s.wantSuspended("a", "i", say)

				s.in("a", strings.Fields("FLUSHDB"), doc(1, "/one"))
				s.finish()
				s.wantCount("a", "i", 1)
				s.in("a", strings.Fields("DEL doc:1"))
				fill(s)
				s.finish()
				s.wantSuspended("a", "i", say)
				if of == "database" {
					s.limit("a", 1<<30)
				} else {
					s.e.mu.Lock()
					s.e.limit = 1 << 30
					s.e.mu.Unlock()
				}
				ended := make(chan int64)
				go func() { ended <- s.ask("a", "SEARCH.COUNT", "i", "{}").Int() }() // it asks for the index
				for n := int64(-1); n < 0; {
					s.e.step()
					select {
					case n = <-ended:
						if n == 0 && what != "facets" {
							t.Errorf("%d documents with more room", n)
						}
					default:
					}
				}
			})
		}
	}
}

// TestLargestDatabaseLosesItsIndex: where the node has no room for an index, the database that takes most loses one, not the one that came last.
func TestLargestDatabaseLosesItsIndex(t *testing.T) {
	s := newWorked(t, 4<<20, 0)
	for _, db := range []string{"a", "b"} {
		s.create(db, 0)
		s.in(db, textIndex("i"))
	}
	for i := range 30 {
		s.in("a", doc(i, text(i, 500)))
	}
	s.finish()
	s.wantCount("a", "i", 30)
	for i := range 8 {
		s.in("b", doc(i, text(i, 500)))
	}
	s.finish()
	s.wantCount("b", "i", 8)
	s.wantSuspended("a", "i", "Setting: max-index-memory")
}

// TestIndexesAreReleased: what indexes take is given back at once when they, their database or the state go, while they are built, too.
func TestIndexesAreReleased(t *testing.T) {
	for what, end := range map[string]func(s *stepped){ // unordered: independent cases
		"drop":  func(s *stepped) { s.in("a", strings.Fields("SEARCH.DROP i")); s.e.step() },
		"flush": func(s *stepped) { s.in("a", strings.Fields("FLUSHALL")); s.e.step() },
		"delete": func(s *stepped) {
			s.propose(fsm.DeleteDatabase.Code, fsm.DeleteDatabase.Body(fsm.DatabaseName{Name: "a"}))
		},
		"restore": func(s *stepped) { s.e.Restored(s.index) },
	} {
		for _, built := range []bool{true, false} {
			s := newStepped(t)
			s.create("a", 0)
			for i := range 2 * keysPerStep {
				s.in("a", doc(i, text(i, 40)))
			}
			before := heap()
			s.in("a", textIndex("i"))
			if s.e.step(); built {
				s.finish()
			} else if len(s.e.databases["a"].tasks) != 1 || s.e.databases["a"].tasks[0].scanned {
				t.Fatal("the index was built in one step")
			}
			filled := s.e.databases["a"].tasks[0]
			used, taken := s.e.Used(), heap()-before
			if used < 4<<20 {
				t.Fatalf("%d bytes are in use", used)
			}
			if end(s); s.e.Used() > 4<<10 {
				t.Errorf("after %s (built: %v) %d bytes of %d are in use", what, built, s.e.Used(), used)
			}
			if s.e.charge(filled, 1) || s.e.Used() > 4<<10 {
				t.Errorf("after %s the index still gets memory", what)
			}
			filled = nil
			if left := heap() - before; left > taken/4 {
				t.Errorf("after %s (built: %v) %d bytes of the heap are left of %d", what, built, left, taken)
			}
		}
	}
}

// TestFieldsOfOnePathShare: however many fields take the same values in the same way, they are in the index once.
func TestFieldsOfOnePathShare(t *testing.T) {
	one, many := newStepped(t), newStepped(t)
	fields := ""
	for i := range 256 {
		fields += fmt.Sprintf(" f%d TEXT FROM t", i)
	}
	one.do("SEARCH.CREATE i ON HASH PREFIX 1 doc: SCHEMA f0 TEXT FROM t")
	many.do("SEARCH.CREATE i ON HASH PREFIX 1 doc: SCHEMA" + fields)
	for _, s := range []*stepped{one, many} {
		for i := range 60 {
			s.in("", doc(i, text(i, 300)))
		}
		s.finish()
	}
	if a, b := one.e.Used(), many.e.Used(); b > a+256*fieldCost {
		t.Errorf("256 fields take %d bytes, one takes %d", b, a)
	}
	for _, f := range []string{"f0", "f255"} {
		if v := many.ask("", "SEARCH.COUNT", "i", `{"`+f+`":{"$eq":"n7w1"}}`); v.Int() != 1 {
			t.Errorf("%s: %d %s", f, v.Int(), v.Text())
		}
	}
}

// TestManyIndexesStayWithinTheLimit: ten indexes of 256 fields over the same text take no more than the limit of their database, by what is counted
// and on the heap, and nothing once it is deleted.
func TestManyIndexesStayWithinTheLimit(t *testing.T) {
	const limit = 8 << 20
	s := newWorked(t, 0, 1)
	s.create("a", limit)
	kinds := []string{"TEXT FROM t", "TEXT NOSTEM FROM t", "KEYWORD FROM t", "TEXT NOTOKENIZE FROM t"}
	for i := range 10 {
		words := strings.Fields(fmt.Sprintf("SEARCH.CREATE i%d ON HASH PREFIX 1 doc: SCHEMA", i))
		for f := range 256 {
			words = append(append(words, fmt.Sprint("f", f)), strings.Fields(kinds[f%len(kinds)])...)
		}
		s.in("a", words)
	}
	before := heap()
	for i := range 60 {
		s.in("a", doc(i, text(i, 200)))
	}
	suspended, most := 0, int64(0)
	for i := range 20 { // each is asked for again, and built again if the others have left room
		v := s.ask("a", "SEARCH.COUNT", fmt.Sprint("i", i%10), "{}")
		for strings.Contains(v.Text(), "being built") {
			v = s.ask("a", "SEARCH.COUNT", fmt.Sprint("i", i%10), "{}")
		}
		if strings.Contains(v.Text(), "is suspended") {
			suspended += i / 10
		} else if v.Int() != 60 {
			t.Errorf("i%d has %d documents: %s", i%10, v.Int(), v.Text())
		}
		most = max(most, s.e.Used())
	}
	if taken := heap() - before; most > limit || taken > 2*limit || suspended == 0 || suspended == 10 {
		t.Errorf("with %d suspended, indexes counted %d bytes and took %d of the heap, the limit is %d", suspended, most, taken, limit)
	}
	s.propose(fsm.DeleteDatabase.Code, fsm.DeleteDatabase.Body(fsm.DatabaseName{Name: "a"}))
	if used, taken := s.e.Used(), heap()-before; used != 0 || taken > 1<<20 {
		t.Errorf("after the database was deleted %d bytes count and %d of the heap are left", used, taken)
	}
	runtime.KeepAlive(s)
}

// TestStreamEntriesCount: an index of a stream counts its entries, whether they are documents or not, and gives them back.
func TestStreamEntriesCount(t *testing.T) {
	s := newStepped(t)
	s.do("SEARCH.CREATE i ON STREAM log SCHEMA t TEXT")
	s.finish()
	empty := s.e.Used()
	for i := range 5000 {
		s.do(fmt.Sprintf("XADD log %d-1 other 1", i+1))
	}
	s.finish()
	if n := s.e.Used() - empty; n < 5000*entryCost {
		t.Errorf("5000 entries count %d bytes", n)
	}
	s.do("XTRIM log MAXLEN 10")
	s.finish()
	if n := s.e.Used() - empty; n > 20*entryCost {
		t.Errorf("10 entries count %d bytes", n)
	}
}

// TestRestoredStateIsIndexed: the databases of a state that is restored are found again.
func TestRestoredStateIsIndexed(t *testing.T) {
	s := newStepped(t)
	s.create("a", 0)
	s.in("a", textIndex("i"), doc(1, "one"))
	var saved bytes.Buffer
	if err := s.m.Fork().Write(&saved); err != nil {
		t.Fatal(err)
	}
	s.propose(fsm.DeleteDatabase.Code, fsm.DeleteDatabase.Body(fsm.DatabaseName{Name: "a"}))
	s.finish()
	if err := s.m.Restore(bytes.NewReader(saved.Bytes())); err != nil {
		t.Fatal(err)
	}
	s.finish()
	s.wantCount("a", "i", 1)
}
