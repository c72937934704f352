package channel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/glob"
)

// Kind tells namespaces of subscriptions apart. The codes stand in the log.
type Kind uint8

// The kinds: a channel by its name, all channels whose name matches a pattern, and the
// channels of SPUBLISH, which are a namespace of their own and know no patterns.
const (
	Plain Kind = iota
	Pattern
	Shard
	kinds
)

// Valid reports whether k is one of the kinds.
func (k Kind) Valid() bool { return k < kinds }

// Ref names a channel or a pattern of one database.
type Ref struct {
	DB   string
	Kind Kind
	Name string
}

func compareRefs(a, b Ref) int {
	return cmp.Or(strings.Compare(a.DB, b.DB), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
}

// share identifies the subscribers of one session to a Ref.
type share struct {
	session uint64
	Ref
}

func compareShares(a, b share) int {
	return cmp.Or(cmp.Compare(a.session, b.session), compareRefs(a.Ref, b.Ref))
}

// hub is the fan-out of a session's node, by the number it drew for itself.
type hub struct{ session, id uint64 }

// Book holds the counts of all databases. Make one with New.
type Book struct {
	totals *cow.BTree[Ref, int64]
	shares *cow.BTree[share, int64]
	hubs   []hub // in the order of their sessions
}

// New is an empty book.
func New() *Book {
	return &Book{totals: cow.NewBTree[Ref, int64](nil, compareRefs), shares: cow.NewBTree[share, int64](nil, compareShares)}
}

// Fork is the book as it is now, in constant time; neither sees the other's changes.
func (b *Book) Fork() *Book {
	return &Book{totals: b.totals.Snapshot(), shares: b.shares.Snapshot(), hubs: slices.Clone(b.hubs)}
}

// Greet notes which hub speaks for a session.
func (b *Book) Greet(session, id uint64) {
	i, found := b.place(session)
	if !found {
		b.hubs = slices.Insert(b.hubs, i, hub{session: session})
	}
	b.hubs[i].id = id
}

func (b *Book) place(session uint64) (int, bool) {
	return slices.BinarySearchFunc(b.hubs, session, func(h hub, session uint64) int { return cmp.Compare(h.session, session) })
}

// Set makes n the number of subscribers that a session has of a Ref, in place of what
// it said before. An absolute number may be said twice without harm.
func (b *Book) Set(session uint64, r Ref, n int64) {
	s := share{session, r}
	n = max(n, 0)
	old, _ := b.shares.Get(s)
	if n == old {
		return
	}
	put(b.shares, s, n)
	total, _ := b.totals.Get(r)
	put(b.totals, r, total+n-old)
}

// put keeps positive numbers only.
func put[K any](t *cow.BTree[K, int64], k K, n int64) {
	if n > 0 {
		t.Set(k, n)
	} else {
		t.Delete(k)
	}
}

// Drop forgets a session and returns the number of its hub; false if it has none, and
// then no subscribers either.
func (b *Book) Drop(session uint64) (id uint64, found bool) {
	i, found := b.place(session)
	if !found {
		return 0, false
	}
	id = b.hubs[i].id
	b.hubs = slices.Delete(b.hubs, i, i+1)
	for _, r := range b.of(session) {
		b.Set(session, r, 0)
	}
	return id, true
}

// of are the Refs that a session subscribes to.
func (b *Book) of(session uint64) (refs []Ref) {
	b.shares.Ascend(share{session: session}, func(s share, _ int64) bool {
		if s.session != session {
			return false
		}
		refs = append(refs, s.Ref)
		return true
	})
	return refs
}

// Has reports whether a session has any subscriber.
func (b *Book) Has(session uint64) bool {
	found := false
	b.shares.Ascend(share{session: session}, func(s share, _ int64) bool {
		found = s.session == session
		return false
	})
	return found
}

// DropDatabase forgets the subscribers of a database, because it was deleted.
func (b *Book) DropDatabase(db string) {
	var gone []share
	b.shares.All(func(s share, _ int64) bool {
		if s.DB == db {
			gone = append(gone, s)
		}
		return true
	})
	for _, s := range gone {
		b.Set(s.session, s.Ref, 0)
	}
}

// In is the part of one database. The zero Scope is empty.
func (b *Book) In(db string) Scope { return Scope{b, db} }

// Scope is the counts of one database.
type Scope struct {
	book *Book
	db   string
}

// DB is the name of the database.
func (s Scope) DB() string { return s.db }

// Count is the number of subscribers of a channel or pattern by its own name.
func (s Scope) Count(k Kind, name string) int64 {
	if s.book == nil {
		return 0
	}
	n, _ := s.book.totals.Get(Ref{s.db, k, name})
	return n
}

// Receivers counts the subscribers that a message to a channel reaches: of the channel, and of
// the patterns that match it. A subscriber of both counts, and receives, twice.
func (s Scope) Receivers(k Kind, name string) int64 {
	n := s.Count(k, name)
	if k != Plain {
		return n
	}
	s.each(Pattern, func(pattern string, count int64) bool {
		if glob.Match(pattern, name) {
			n += count
		}
		return true
	})
	return n
}

// Names are the channels that have a subscriber by name and that match, in order.
func (s Scope) Names(k Kind, matches func(name string) bool) (names []string) {
	s.each(k, func(name string, _ int64) bool {
		if matches(name) {
			names = append(names, name)
		}
		return true
	})
	return names
}

// Number counts the channels or patterns that have a subscriber.
func (s Scope) Number(k Kind) int {
	if s.book == nil {
		return 0
	}
	from, _ := s.book.totals.Rank(Ref{DB: s.db, Kind: k})
	to, _ := s.book.totals.Rank(Ref{DB: s.db, Kind: k + 1})
	return to - from
}

// Patterns is the number of patterns that have a subscriber.
func (s Scope) Patterns() int64 { return int64(s.Number(Pattern)) }

// EachPattern calls f with each pattern that has a subscriber, in order, until it is false.
func (s Scope) EachPattern(f func(pattern string) bool) {
	s.each(Pattern, func(name string, _ int64) bool { return f(name) })
}

func (s Scope) each(k Kind, f func(name string, count int64) bool) {
	if s.book == nil {
		return
	}
	s.book.totals.Ascend(Ref{DB: s.db, Kind: k}, func(r Ref, n int64) bool {
		if r.DB != s.db || r.Kind != k {
			return false
		}
		return f(r.Name, n)
	})
}
