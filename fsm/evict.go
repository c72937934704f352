package fsm

import (
	"math"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Keys make room in two ways; docs/design/eviction.md has the reasons. The leader knows when keys were used, picks victims
// before it makes an entry, and puts them into the entry as Evict. What that did not foresee, each apply makes room for by
// itself, by what the state knows alone.

// Picked are keys of a database that the leader has picked, each as it was then.
type Picked struct {
	Database string
	Number   uint64
	Keys     []PickedKey
}

// PickedKey is a key and its version: one that was changed meanwhile stays.
type PickedKey struct {
	Key     string
	Version uint64
}

// Fields codes the value in its wire format.
func (k *PickedKey) Fields(c *wire.Codec) {
	c.String(&k.Key)
	c.Uvarint(&k.Version)
}

// Fields codes the value in its wire format.
func (p *Picked) Fields(c *wire.Codec) {
	c.String(&p.Database)
	c.Uvarint(&p.Number)
	wire.List(c, &p.Keys, 2)
}

// Eviction is the argument of Evict.
type Eviction struct{ Databases []Picked }

// Fields codes the value in its wire format.
func (e *Eviction) Fields(c *wire.Codec) { wire.Records(c, &e.Databases) }

// policy returns the eviction policy in force in a database.
func (s *State) policy(d *database) keyspace.Policy {
	return d.config.EvictionPolicy(s.settings.Policy)
}

// mayEvict reports whether keys of a database may be evicted.
func (s *State) mayEvict(d *database) bool {
	return d.quarantined == 0 && s.policy(d) != keyspace.NoEviction
}

// evictPicked removes the keys that the leader has picked, as far as they are as they were.
func (s *State) evictPicked(e *env.Env, n Eviction) (Ack, error) {
	for _, in := range n.Databases {
		d := s.database(in.Database)
		if d == nil || d.id != in.Number || d.quarantined != 0 {
			continue
		}
		s.applier.at(d)
		d = s.open(d)
		p := s.policy(d)
		for _, k := range in.Keys {
			if c, ok := d.keys.Candidate(e, p, k.Key); ok && c.Version == k.Version {
				s.evictKey(e, d, k.Key)
			}
			s.applier.pause()
		}
		s.close()
	}
	return Ack{}, nil
}

// evictKey removes a key and tells that.
func (s *State) evictKey(e *env.Env, d *database, key string) (freed int64) {
	d = s.open(d)
	within := e.Database
	e.Database = d.name
	tx := s.witness(e, d)
	tx.Witness(func() {
		freed = d.keys.Evict(e, key)
		tx.Evicted(key)
	})
	e.Database = within
	return freed
}

// evictDown evicts keys until no more than limit is used, of the fullest database first. Of own, keys that changed after
// version began are spared. It goes by the state alone, so that every node evicts the same.
func (s *State) evictDown(e *env.Env, own *keyspace.DB, began uint64, limit int64) bool {
	over := s.used() - limit
	var spent passed
	for over > 0 {
		s.settle()
		d := s.largestEvictable(spent, nil)
		if d == nil {
			return false
		}
		before := uint64(math.MaxUint64)
		if d.keys == own {
			before = began
		}
		key, ok := d.keys.Oldest(e, s.policy(d), d.config.SampleSize(), before)
		if !ok {
			spent = append(spent, d.id)
			continue
		}
		over -= s.evictKey(e, d, key)
	}
	return true
}

// passed lists the numbers of databases.
type passed []uint64

// largestEvictable returns the database with most memory in its keys of those that may be evicted from and are not in spent, nil if
// there is none. Memory in freed, by the database's number, which is about to be released, does not count.
func (s *State) largestEvictable(spent passed, freed map[uint64]int64) *database {
	most, _ := s.databases.Best(0, func(n *summary) int64 { return n.evictable }, func(p place) int64 {
		d := s.at(p)
		if slices.Contains(spent, d.id) {
			return 0
		}
		return d.keys.Used() - freed[d.id]
	})
	return s.at(most)
}

// evicts reports whether keys may be evicted from any database for what all of them use.
func (s *State) evicts() bool { return s.settings.MaxMemory > 0 && s.databases.Sum().evictable > 0 }

// evictsOwn reports whether a database evicts keys to stay below a limit of its own, and whether it is near that: then the
// leader looks closer.
func (s *State) evictsOwn() (some, near bool) {
	t := s.databases.Sum().traits
	return t&evictsOwn != 0, t&nearOwn != 0
}

// Evicted counts the keys that were evicted from all databases since they were made.
func (v *View) Evicted() (n uint64) { return v.s.sums.evicted }
