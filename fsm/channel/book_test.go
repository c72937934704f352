package channel

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/glob"
)

var (
	anyDB      = rapid.SampledFrom([]string{"default", "d", "default2"})
	anyKind    = rapid.SampledFrom([]Kind{Plain, Pattern, Shard})
	anyName    = rapid.SampledFrom([]string{"", "a", "ab", "b", "a*", "*", "?", "[ab]"})
	anySession = rapid.SampledFrom([]uint64{0, 1, 2, 300})
)

// model is the book as a plain list of what every session has said.
type model map[share]int64

func (m model) count(r Ref) (n int64) {
	for s, c := range m {
		if s.Ref == r {
			n += c
		}
	}
	return n
}

func (m model) receivers(db, name string) (n int64) {
	n = m.count(Ref{db, Plain, name})
	for s, c := range m {
		if s.DB == db && s.Kind == Pattern && glob.Match(s.Name, name) {
			n += c
		}
	}
	return n
}

func (m model) names(db string, k Kind) (names []string) {
	for s := range m {
		if s.DB == db && s.Kind == k && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// reload writes a book and reads it back.
func reload(t *rapid.T, b *Book) *Book {
	n := New()
	if err := b.Save(n.Load); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, m := New(), model{}
		var fork *Book
		var forked model
		drop := func(gone func(share) bool) { maps.DeleteFunc(m, func(s share, _ int64) bool { return gone(s) }) }
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				s := share{anySession.Draw(t, "session"), Ref{anyDB.Draw(t, "db"), anyKind.Draw(t, "kind"), anyName.Draw(t, "name")}}
				n := rapid.Int64Range(-1, 3).Draw(t, "n")
				b.Greet(s.session, s.session+7)
				b.Set(s.session, s.Ref, n)
				if m[s] = n; n <= 0 {
					delete(m, s)
				}
			},
			"drop": func(t *rapid.T) {
				session := anySession.Draw(t, "session")
				if id, found := b.Drop(session); found && id != session+7 || b.Has(session) {
					t.Fatalf("hub %d of session %d", id, session)
				}
				drop(func(s share) bool { return s.session == session })
			},
			"drop database": func(t *rapid.T) {
				db := anyDB.Draw(t, "db")
				b.DropDatabase(db)
				drop(func(s share) bool { return s.DB == db })
			},
			"fork":   func(*rapid.T) { fork, forked = b.Fork(), maps.Clone(m) },
			"reload": func(t *rapid.T) { b = reload(t, b) },
			"": func(t *rapid.T) {
				compare(t, b, m)
				if fork != nil {
					compare(t, fork, forked)
				}
			},
		})
	})
}

func compare(t *rapid.T, b *Book, m model) {
	for _, db := range []string{"default", "d", "default2", "none"} {
		in := b.In(db)
		for _, name := range []string{"", "a", "ab", "b", "a*", "zz"} {
			if got, want := in.Receivers(Plain, name), m.receivers(db, name); got != want {
				t.Fatalf("%s %q: %d receivers, want %d", db, name, got, want)
			}
			if got, want := in.Receivers(Shard, name), m.count(Ref{db, Shard, name}); got != want {
				t.Fatalf("%s %q: %d receivers of the shard, want %d", db, name, got, want)
			}
		}
		for _, k := range []Kind{Plain, Shard} {
			if got, want := in.Names(k, func(string) bool { return true }), m.names(db, k); !slices.Equal(got, want) {
				t.Fatalf("%s: channels %q, want %q", db, got, want)
			}
		}
		if got, want := in.Patterns(), len(m.names(db, Pattern)); got != int64(want) {
			t.Fatalf("%s: %d patterns, want %d", db, got, want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	b := New()
	b.Greet(5, 9)
	b.Set(5, Ref{"default", Plain, "c"}, 2)
	var records [][]byte
	if err := b.Save(func(r []byte) error { records = append(records, slices.Clone(r)); return nil }); err != nil || len(records) != 1 {
		t.Fatal(err, records)
	}
	for i := 3; i < len(records[0]); i++ { // fields missing at the end are zero: three bytes say that there is a channel
		if New().Load(records[0][:i]) == nil {
			t.Errorf("a record cut to %d bytes was taken", i)
		}
	}
	twice := New()
	if twice.Load(records[0]) != nil || twice.Load(records[0]) == nil {
		t.Error("a session was taken twice")
	}
	kind := slices.Clone(records[0])
	kind[strings.Index(string(kind), "default")+len("default")] = byte(kinds)
	if New().Load(kind) == nil {
		t.Error("an unknown kind was taken")
	}
}
