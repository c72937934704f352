package keyspace

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// checkStream fails if the parts of s contradict one another.
func checkStream(t failer, s *StreamLog) {
	t.Helper()
	size := int64(streamCost)
	s.Ascend(0, func(e StreamEntry) bool {
		size += e.size()
		return true
	})
	s.EachGroup(func(g *StreamGroup) bool {
		checkGroup(t, g)
		size += g.size()
		return true
	})
	if s.Size() != size || s.Top().Compare(s.Last()) > 0 {
		t.Fatalf("a stream of %d bytes counts %d; its last entry is %v of %v", size, s.Size(), s.Top(), s.Last())
	}
}

func checkGroup(t failer, g *StreamGroup) {
	t.Helper()
	of := map[string]int{}
	g.EachPending(StreamID{}, func(p StreamPending) bool {
		c := g.Consumer(p.Consumer)
		if c == nil {
			t.Fatalf("%v is pending with %q, whom the group doesn't know", p.ID, p.Consumer)
		}
		if _, ok := findID(c.pending, p.ID); !ok {
			t.Fatalf("%v is pending with %q, who doesn't know", p.ID, p.Consumer)
		}
		of[p.Consumer]++
		return true
	})
	g.EachConsumer(func(c *StreamConsumer) bool {
		if of[c.Name] != c.Pending() {
			t.Fatalf("%q has %d pending, the group %d with it", c.Name, c.Pending(), of[c.Name])
		}
		return true
	})
}

// simpleGroup is the model of a group.
type simpleGroup struct {
	last      StreamID
	pending   map[StreamID]StreamPending
	consumers map[string]bool
}

// simpleStream is the model of a stream: its entries by ID, with their values.
type simpleStream struct {
	entries map[StreamID]string
	groups  map[string]*simpleGroup
}

func (ss *simpleStream) ids() []StreamID {
	return slices.SortedFunc(maps.Keys(ss.entries), StreamID.Compare)
}

func (ss *simpleStream) clone() *simpleStream {
	c := &simpleStream{maps.Clone(ss.entries), map[string]*simpleGroup{}}
	for name, g := range ss.groups {
		c.groups[name] = &simpleGroup{g.last, maps.Clone(g.pending), maps.Clone(g.consumers)}
	}
	return c
}

// compareStream fails if s is not what the model says.
func compareStream(t failer, s *StreamLog, m *simpleStream) {
	t.Helper()
	checkStream(t, s)
	ids, i := m.ids(), 0
	s.Ascend(0, func(e StreamEntry) bool {
		var words []string
		e.Words(func(w string) { words = append(words, w) })
		if i >= len(ids) || e.ID != ids[i] || !slices.Equal(words, []string{"f", m.entries[e.ID]}) {
			t.Fatalf("entry %d is %v %q", i, e.ID, words)
		}
		i++
		return true
	})
	if i != len(ids) || s.Len() != len(ids) || s.Groups() != len(m.groups) {
		t.Fatalf("%d entries, %d counted, %d wanted; %d groups of %d", i, s.Len(), len(ids), s.Groups(), len(m.groups))
	}
	for name, want := range m.groups {
		g := s.Group(name)
		if g == nil || g.Last != want.last || g.Pending() != len(want.pending) || g.Consumers() != len(want.consumers) {
			t.Fatalf("group %q is %+v, want %+v", name, g, want)
		}
		g.EachPending(StreamID{}, func(p StreamPending) bool {
			if want.pending[p.ID] != p {
				t.Fatalf("pending %+v, want %+v", p, want.pending[p.ID])
			}
			return true
		})
	}
}

func drawID(t *rapid.T) StreamID {
	return StreamID{rapid.Uint64Range(0, 40).Draw(t, "ms"), rapid.Uint64Range(0, 3).Draw(t, "seq")}
}

// changeStream changes s and the model alike.
func changeStream(t *rapid.T, s *StreamLog, m *simpleStream, now int64) {
	group, consumer := rapid.SampledFrom([]string{"g", "h", ""}).Draw(t, "group"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "consumer")
	g := m.groups[group]
	switch op := rapid.IntRange(0, 11).Draw(t, "op"); {
	case op <= 1:
		for range rapid.SampledFrom([]int{1, 3, 90}).Draw(t, "burst") {
			id, _ := s.Last().Next()
			id.Ms += rapid.Uint64Range(0, 1).Draw(t, "later")
			value := fmt.Sprint(id)
			s.Append(NewStreamEntry(id, [][]byte{[]byte("f"), []byte(value)}))
			m.entries[id] = value
		}
	case op == 2:
		n := rapid.IntRange(0, s.Len()).Draw(t, "drop")
		for _, id := range m.ids()[:n] {
			delete(m.entries, id)
		}
		s.DropFirst(n)
	case op == 3:
		id := drawID(t)
		_, found := m.entries[id]
		if _, ok := s.Get(id); ok != found || s.Delete(id) != found {
			t.Fatalf("%v is there: %v", id, found)
		}
		delete(m.entries, id)
	case g == nil:
		last := drawID(t)
		s.AddGroup(group, last, UnknownRead)
		m.groups[group] = &simpleGroup{last, map[StreamID]StreamPending{}, map[string]bool{}}
	case op <= 6:
		own := s.Own(group)
		c, made := own.OwnConsumer(consumer, now)
		if made == g.consumers[consumer] {
			t.Fatalf("consumer %q made: %v", consumer, made)
		}
		g.consumers[consumer] = true
		for range rapid.SampledFrom([]int{1, 5, 80}).Draw(t, "assign") {
			id, count := drawID(t), rapid.Int64Range(0, 9).Draw(t, "count")
			own.Assign(c, id, now, count)
			g.pending[id] = StreamPending{ID: id, Consumer: consumer, Delivered: now, Count: count}
		}
	case op <= 8:
		for range rapid.SampledFrom([]int{1, 60}).Draw(t, "ack") {
			id := drawID(t)
			_, pending := g.pending[id]
			if s.Own(group).Acknowledge(id) != pending {
				t.Fatalf("%v was pending: %v", id, pending)
			}
			delete(g.pending, id)
		}
	case op == 9:
		before := len(g.pending)
		maps.DeleteFunc(g.pending, func(_ StreamID, p StreamPending) bool { return p.Consumer == consumer })
		if n, ok := s.Own(group).DropConsumer(consumer); ok != g.consumers[consumer] || n != before-len(g.pending) {
			t.Fatalf("%d pending with %q, %v", n, consumer, ok)
		}
		delete(g.consumers, consumer)
	case op == 10:
		id := drawID(t)
		s.Forget(id)
		for _, g := range m.groups {
			delete(g.pending, id)
		}
	case op == 11:
		s.DropGroup(group)
		delete(m.groups, group)
	}
}

// TestStreams changes streams and a model alike while forks and copies are kept, which
// must not change any more, and saves and loads them.
func TestStreams(t *testing.T) {
	type kept struct {
		db    *DB
		model *simpleStream
	}
	rapid.Check(t, func(t *rapid.T) {
		db, m := New(), &simpleStream{map[StreamID]string{}, map[string]*simpleGroup{}}
		key := []byte("s")
		db.PutContainer(entry(1, 1), key, NewStreamLog(), 0)
		var forks []kept
		for i := range rapid.IntRange(1, 40).Draw(t, "changes") {
			e := entry(uint64(i+2), 1000+int64(i))
			o := db.Find(e, key)
			before := o.Size()
			changeStream(t, db.Mutable(e, key, o).(*StreamLog), m, e.Now)
			db.Changed(e, key, before)
			switch rapid.IntRange(0, 9).Draw(t, "turn") {
			case 0:
				forks = append(forks, kept{db.Fork(), m.clone()})
			case 1:
				fork := db.Fork()
				forks = append(forks, kept{db, m.clone()})
				db = fork
			case 2:
				db = reload(t, db)
			case 3:
				db.Copy(e, db.Find(e, key), []byte("copy"))
				db.Move(e, []byte("copy"), db.Find(e, []byte("copy")), key)
			}
		}
		compareStream(t, db.Find(entry(99, 1), key).Data().(*StreamLog), m)
		checkWhole(t, db)
		reload(t, db)
		for _, f := range forks {
			compareStream(t, f.db.Find(entry(99, 1), key).Data().(*StreamLog), f.model)
			checkWhole(t, f.db)
		}
	})
}

// someStream has entries, groups, consumers and pending entries.
func someStream(entries int) *StreamLog {
	s := NewStreamLog()
	for i := range entries {
		s.Append(NewStreamEntry(StreamID{uint64(i/3 + 1), uint64(i % 3)}, [][]byte{[]byte("field"), bytes.Repeat([]byte("v"), i%200)}))
	}
	s.Delete(StreamID{1, 1})
	for _, name := range []string{"g", "h"} {
		s.AddGroup(name, StreamID{1, 0}, 1)
		g := s.Own(name)
		for i := range min(entries, 100) {
			c, _ := g.OwnConsumer(fmt.Sprint("c", i%3), 5)
			g.Assign(c, StreamID{uint64(i), 7}, 9, int64(i))
		}
	}
	return s
}

// TestDecodeStreamRefuses cuts a record at every place, and feeds some that contradict
// themselves.
func TestDecodeStreamRefuses(t *testing.T) {
	var w wire.Writer
	someStream(4).Encode(&w)
	for n := range len(w.B) {
		r := wire.NewReader(w.B[:n])
		if _, ok := decodeStream(r); ok && r.Err() == nil {
			t.Errorf("a record cut to %d of %d bytes was read", n, len(w.B))
		}
	}
	head := func(last byte, rest ...byte) []byte { return append([]byte{last, 0, 0, 0, 2}, rest...) }
	for name, record := range map[string][]byte{
		"entry above the last":    head(1, 1, 2, 0, 4, 1, 'f', 1, 'v', 0, 1),
		"entry 0-0":               head(1, 1, 0, 0, 4, 1, 'f', 1, 'v', 0, 1),
		"entries out of order":    head(9, 2, 2, 5, 4, 1, 'f', 1, 'v', 0, 5, 4, 1, 'f', 1, 'v', 0, 1),
		"half a pair":             head(9, 1, 2, 5, 2, 1, 'f', 0, 1),
		"no fields":               head(9, 1, 2, 5, 0, 0, 1),
		"a word that is cut":      head(9, 1, 2, 5, 4, 1, 'f', 2, 'v', 0, 1),
		"added below zero":        {9, 0, 0, 0, 1, 0, 0, 1},
		"groups out of order":     head(9, 0, 2, 1, 'h', 0, 0, 1, 0, 0, 1, 'g', 0, 0, 1, 0, 0, 1),
		"read below unknown":      head(9, 0, 1, 1, 'h', 0, 0, 3, 0, 0, 1),
		"consumers twice":         head(9, 0, 1, 1, 'h', 0, 0, 1, 2, 1, 'c', 0, 1, 1, 'c', 0, 1, 0, 1),
		"pending with a stranger": head(9, 0, 1, 1, 'h', 0, 0, 1, 0, 1, 1, 1, 1, 2, 2, 1),
		"ids without a limit":     head(9, 0, 0, 1, 100, 0, 0, 0, 0, 1),
		"an id remembered twice":  head(9, 0, 0, 1, 100, 100, 0, 0, 2, 1, 'p', 1, 'i', 1, 1, 0, 1, 'p', 1, 'i', 1, 1, 0, 1),
		"pending out of order":    head(9, 0, 1, 1, 'h', 0, 0, 1, 1, 1, 'c', 0, 1, 2, 1, 1, 0, 2, 2, 0, 1, 0, 2, 2, 1),
		"no mark of completion":   head(9, 0, 0, 0),
	} {
		r := wire.NewReader(record)
		if _, ok := decodeStream(r); ok && r.Done() == nil {
			t.Errorf("%s: read", name)
		}
	}
	r := wire.NewReader(head(9, 1, 2, 5, 4, 1, 'f', 1, 'v', 1, 1, 'h', 0, 0, 1, 1, 1, 'c', 0, 1, 1, 1, 1, 0, 2, 2, 1))
	if _, ok := decodeStream(r); !ok || r.Done() != nil {
		t.Errorf("a good record was refused: %v", r.Done())
	}
}

// TestStreamIDs steps over the ends of both numbers.
func TestStreamIDs(t *testing.T) {
	most := MaxStreamID.Seq
	for _, c := range []struct {
		id, next StreamID
		text     string
	}{
		{StreamID{0, 0}, StreamID{0, 1}, "0-0"},
		{StreamID{1, most}, StreamID{2, 0}, "1-18446744073709551615"},
		{StreamID{most, most - 1}, MaxStreamID, "18446744073709551615-18446744073709551614"},
	} {
		next, ok := c.id.Next()
		back, okBack := c.next.Prev()
		if next != c.next || !ok || back != c.id || !okBack || c.id.String() != c.text || c.id.Compare(c.next) >= 0 {
			t.Errorf("%v: next %v %v, back %v %v", c.id, next, ok, back, okBack)
		}
	}
	if id, ok := MaxStreamID.Next(); ok || !id.Zero() {
		t.Errorf("behind the greatest: %v, %v", id, ok)
	}
	if id, ok := (StreamID{}).Prev(); ok || id != MaxStreamID {
		t.Errorf("before the first: %v, %v", id, ok)
	}
}
