package fsm

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// maxPicked is the largest number of keys of one Evict, pickedAtOnce of those picked under one hold of the lock.
const (
	maxPicked    = 5000
	pickedAtOnce = 100
)

// poolSize is the number of best candidates that are remembered of the keys that were sampled, as in Redis.
const poolSize = 16

// Victims picks keys to evict, on the leader. One goroutine at a time may use it.
type Victims struct {
	pool  []pooled
	taken map[string]bool  // by database and key: picked for entries that are not applied yet
	needs int64            // what those entries add to memory, less what their victims free
	of    map[string]int64 // the same for each database
	names []string         // of those, in their order
}

// Growth is the memory that requests add to a database, in bytes. Without a name they belong to none.
type Growth struct {
	Database string
	Bytes    int64
}

// Room is the most memory that one entry adds, less that of the keys picked to make room for it.
type Room struct {
	growth []Growth
	keys   []string
}

type pooled struct {
	database string
	number   uint64
	keyspace.Candidate
}

// Expect notes an entry to come, which adds so many bytes at most.
func (v *Victims) Expect(growth ...Growth) Room {
	if v.of == nil {
		v.taken, v.of = map[string]bool{}, map[string]int64{}
	}
	r := Room{growth: growth}
	for _, g := range growth {
		v.grow(g, 1)
	}
	return r
}

// grow adds a growth, or takes it back.
func (v *Victims) grow(g Growth, times int64) {
	v.needs += times * g.Bytes
	i, found := slices.BinarySearch(v.names, g.Database)
	if !found {
		v.names = slices.Insert(v.names, i, g.Database)
	}
	if v.of[g.Database] += times * g.Bytes; v.of[g.Database] == 0 {
		delete(v.of, g.Database)
		v.names = slices.Delete(v.names, i, i+1)
	}
}

// Release says that the entry of that room has been applied, or never will be.
func (v *Victims) Release(r Room) {
	for _, g := range r.growth {
		v.grow(g, -1)
	}
	for _, key := range r.keys {
		delete(v.taken, key)
	}
}

// Evicts reports, without a lock, whether there is a memory limit at which keys may be evicted.
func (m *Machine) Evicts() bool { return m.evictAbove.Load() > 0 || m.evictOwn.Load() }

// Pressed reports, without a lock, whether the entries that v expects may pass a memory limit and keys may be evicted for
// them.
func (m *Machine) Pressed(v *Victims) bool {
	above := m.evictAbove.Load()
	return m.nearOwn.Load() || above > 0 && m.used.Load()+v.needs > above
}

// notePressure keeps what Pressed reads; the lock is held.
func (m *Machine) notePressure() {
	limit := int64(0)
	if m.state.evicts() {
		limit = m.state.settings.MaxMemory
		m.used.Store(m.state.used())
	}
	m.evictAbove.Store(limit)
	some, near := m.state.evictsOwn()
	m.evictOwn.Store(some)
	m.nearOwn.Store(near)
}

// Pick picks keys whose eviction makes room for what v expects, by when and how often this node knows that they were used,
// and notes them in r, the room of the entry that is about to be made. There may be none.
func (m *Machine) Pick(v *Victims, now int64, seed [16]byte, r *Room) Eviction {
	if v.of == nil {
		v.taken, v.of = map[string]bool{}, map[string]int64{}
	}
	p := picking{Victims: v, room: r, freed: map[uint64]int64{}}
	at := m.Time()
	p.e = env.New(m.applied.Load(), max(now, at.Now), m.Level(), seed, 0)
	p.e.ReadOnly, p.e.Wall = true, at.Wall
	for len(r.keys) < maxPicked && m.pickSome(&p) { // the lock is let go between
	}
	return p.Eviction
}

// picking is the progress of one Pick.
type picking struct {
	*Victims
	Eviction
	room  *Room
	e     *env.Env
	freed map[uint64]int64 // by the databases' numbers
	spent passed           // they have no key to pick
}

// next is the database that a key is to be evicted from: one that passes its own limit, or the fullest if all together pass
// theirs; nil if there is room, or no key may go.
func (p *picking) next(s *State) *database {
	if d := p.over(s); d != nil {
		return d
	}
	if !s.evicts() || s.used()+p.needs <= s.settings.MaxMemory {
		return nil
	}
	return s.largestEvictable(p.spent, p.freed)
}

// over is the first database that passes its own limit. One that is not near it passes it only by what is expected.
func (p *picking) over(s *State) *database {
	passes := func(d *database) bool {
		limit := s.memoryLimit(d)
		return limit > 0 && s.usedBy(d)+p.of[d.name] > limit && s.mayEvict(d) && !slices.Contains(p.spent, d.id)
	}
	var found *database
	for _, name := range p.names {
		if d := s.lookup(name); d != nil && passes(d) {
			found = d
			break
		}
	}
	for d := s.first(has(nearOwn)); d != nil && (found == nil || d.name < found.name); d = s.after(d, has(nearOwn)) {
		if passes(d) {
			return d
		}
	}
	return found
}

// pickSome picks up to pickedAtOnce keys and reports whether more are needed.
func (m *Machine) pickSome(p *picking) (more bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := m.state
	p.pool = slices.DeleteFunc(p.pool, func(c pooled) bool {
		d := s.database(c.database)
		return d == nil || d.id != c.number
	})
	for range pickedAtOnce {
		d := p.next(s)
		if d == nil {
			return false
		}
		c, found := p.best(p.e, d, s.policy(d))
		if !found {
			p.spent = append(p.spent, d.id)
			continue
		}
		p.add(d, c)
		p.freed[d.id] += c.Cost
		p.take(p.room, d, c)
	}
	return true
}

// take notes that a key is picked.
func (v *Victims) take(r *Room, d *database, c keyspace.Candidate) {
	name := d.name + "/" + c.Key
	v.taken[name] = true
	r.keys = append(r.keys, name)
	freed := Growth{d.name, -c.Cost}
	r.growth = append(r.growth, freed)
	v.grow(freed, 1)
}

// add adds a key to those of its database.
func (e *Eviction) add(d *database, c keyspace.Candidate) {
	i := slices.IndexFunc(e.Databases, func(p Picked) bool { return p.Number == d.id })
	if i < 0 {
		i = len(e.Databases)
		e.Databases = append(e.Databases, Picked{Database: d.name, Number: d.id})
	}
	e.Databases[i].Keys = append(e.Databases[i].Keys, PickedKey{c.Key, c.Version})
}

// best draws a sample of a database's keys into the pool and takes the best choice out of it: one that is there still, is
// not picked already, and was not used since it came into the pool.
func (v *Victims) best(e *env.Env, d *database, p keyspace.Policy) (keyspace.Candidate, bool) {
	for range 3 {
		d.keys.Sample(e, p, d.config.SampleSize(), func(c keyspace.Candidate) bool { return v.remember(d, c) })
		for i := len(v.pool) - 1; i >= 0; i-- {
			was := v.pool[i]
			if was.number != d.id {
				continue
			}
			v.pool = slices.Delete(v.pool, i, i+1)
			now, ok := d.keys.Candidate(e, p, was.Key)
			if ok && now.Score >= was.Score && !v.taken[d.name+"/"+was.Key] {
				return now, true
			}
		}
	}
	return keyspace.Candidate{}, false
}

// remember puts a key that is not picked already into the pool, whose worst choice leaves it when it is full.
func (v *Victims) remember(d *database, c keyspace.Candidate) bool {
	if v.taken[d.name+"/"+c.Key] {
		return false
	}
	if slices.ContainsFunc(v.pool, func(p pooled) bool { return p.number == d.id && p.Key == c.Key }) {
		return true
	}
	i, _ := slices.BinarySearchFunc(v.pool, c.Score, func(p pooled, score int64) int { return cmp.Compare(p.Score, score) })
	v.pool = slices.Insert(v.pool, i, pooled{d.name, d.id, c})
	if len(v.pool) > poolSize {
		v.pool = slices.Delete(v.pool, 0, 1)
	}
	return true
}
