package keyspace

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// hashOfFields is a hash of ten fields with a value.
func hashOfFields(value string) *Fields {
	h := NewFields()
	for i := range 10 {
		h.Set(env.At(1), fmt.Sprint("field:", i), value, 0)
	}
	return h
}

// TestMovedValuesArePacked packs a value that was written under another key.
func TestMovedValuesArePacked(t *testing.T) {
	e := &env.Env{Time: env.At(1)}
	db := New()
	db.PutContainer(e, []byte("draft"), hashOfFields("value"), 0)
	db.Move(e, []byte("draft"), db.get("draft"), []byte("final"))
	if db.Cool(0); !db.get("final").isPacked() {
		t.Fatalf("the form after Cool is %d, want a packed one", db.get("final").form)
	}
}

// TestLargeElementsAreNotEncoded holds what Cool allocates for few elements of a megabyte: nothing near their size, which nobody is
// charged for.
func TestLargeElementsAreNotEncoded(t *testing.T) {
	e := &env.Env{Time: env.At(1)}
	db := New()
	db.PutContainer(e, []byte("key"), hashOfFields(strings.Repeat("x", 1<<20)), 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	db.Cool(0)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 || db.get("key").isPacked() {
		t.Fatalf("Cool allocated %d bytes, want at most %d; packed: %v", n, 64<<10, db.get("key").isPacked())
	}
}

// TestPackedForms packs values of a number of elements around those at which their forms change, and compares what is read of them, in
// order and by place, page and encoding, with what was read before; then the same after a change, for which they are unpacked.
func TestPackedForms(t *testing.T) {
	e := &env.Env{Time: env.At(1)}
	for _, n := range []int{1, 64, 65, 66, 100, 127, 128} {
		db := New()
		hash, members, ints, scores := NewFields(), NewMembers(), NewMembers(), NewZSet(n, 10)
		for i := range n {
			hash.Set(e.Time, fmt.Sprint("field:", i), fmt.Sprint("value:", i), 0)
			members.Add(fmt.Sprint("member:", i))
			ints.Add(fmt.Sprint(i))
			scores.Put([]byte(fmt.Sprint("member:", i*7%n)), float64(i/5))
		}
		for key, c := range map[string]Container{"hash": hash, "set": members, "ints": ints, "zset": scores} {
			want, encoding := readAll(e, c), newHolder(key, c).Encoding()
			db.PutContainer(e, []byte(key), c, 0)
			db.Cool(0)
			o := db.get(key)
			if !o.isPacked() {
				t.Fatalf("%s of %d: the form is %d, want a packed one", key, n, o.form)
			}
			if got := readAll(e, o.view()); got != want || o.Encoding() != encoding {
				t.Fatalf("%s of %d, packed:\n%s\nwant\n%s\n%s, want %s", key, n, got, want, o.Encoding(), encoding)
			}
			if got := readAll(e, db.Mutable(e, []byte(key), o)); got != want {
				t.Fatalf("%s of %d, unpacked:\n%s\nwant\n%s", key, n, got, want)
			}
		}
	}
}

// readAll is everything that can be read of a container, as text.
func readAll(e *env.Env, c Container) string {
	var b strings.Builder
	pages := func(scan func(cursor uint64) uint64) {
		for cursor := uint64(0); ; {
			if cursor = scan(cursor); cursor == 0 {
				return
			}
			fmt.Fprint(&b, " / ")
		}
	}
	switch c := c.(type) {
	case *Fields:
		fmt.Fprintln(&b, c.Len(e.Time), c.Size())
		pages(func(cursor uint64) uint64 {
			return c.Scan(e.Time, cursor, 7, func(field, value string) { fmt.Fprint(&b, field, "=", value, " ") })
		})
		c.All(e.Time, func(field, value string) bool { fmt.Fprint(&b, field, "=", value, " "); return true })
		pick := c.Picker(e.Time)
		for i := range c.Len(e.Time) {
			field, _ := pick(i)
			fmt.Fprint(&b, field, " ")
		}
	case *Members:
		fmt.Fprintln(&b, c.Len(), c.Size())
		pages(func(cursor uint64) uint64 {
			return c.Scan(cursor, 7, func(member string) { fmt.Fprint(&b, member, " ") })
		})
		for i := range c.Len() {
			fmt.Fprint(&b, c.At(i), " ")
		}
	case *ZSet:
		fmt.Fprintln(&b, c.Len(), c.Size())
		c.Each(0, func(s Scored) bool { fmt.Fprint(&b, s.Member, "=", s.Score, " "); return true })
	}
	return b.String()
}

// TestPackedPagesTakeNoTree holds that a page and a place of a packed value of a hundred members are read without unpacking it.
func TestPackedPagesTakeNoTree(t *testing.T) {
	e := &env.Env{Time: env.At(1)}
	db := New()
	members := NewMembers()
	for i := range 100 {
		members.Add(fmt.Sprint("member:", i))
	}
	db.PutContainer(e, []byte("set"), members, 0)
	db.Cool(0)
	for what, read := range map[string]func(m *Members){
		"a page":  func(m *Members) { m.Scan(0, 10, func(string) {}) },
		"a place": func(m *Members) { m.At(50) },
	} {
		if n := testing.AllocsPerRun(100, func() { read(db.get("set").view().(*Members)) }); n > 4 {
			t.Errorf("%s takes %v allocations, want at most 4", what, n)
		}
	}
}
