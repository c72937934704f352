package fsm

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// resting is a database in which nothing was ever stored, as the state keeps it until it is opened first: its numbers, its tokens and
// its texts. It takes a tenth of the memory of a database, in two pieces, and the collector has to follow one pointer. What it is
// as a database follows from it, see State.waken. A resting database is never changed.
type resting struct {
	id      uint64
	created int64
	users   acl.Resting
	texts   string // the name, and the two signing keys of messages
	ends    [2]int32
}

// place is a database in State.databases: either one or the other.
type place struct {
	awake   *database
	resting *resting
}

func (r *resting) name() string { return r.texts[:r.ends[0]] }

func (r *resting) signing() queue.Keys {
	return queue.Keys{Current: r.texts[r.ends[0]:r.ends[1]], Next: r.texts[r.ends[1]:]}
}

// rest returns the database as it rests, nil if there is more in it.
func (s *State) rest(d *database) *resting {
	if d.name == DefaultDB || d.keys != s.blank.keys || d.scripts != s.blank.scripts || d.search != s.blank.search || d.messages != nil ||
		d.quarantined != 0 || d.quota != (quota{}) || !d.config.Initial() {
		return nil
	}
	users, ok := d.users.Rest()
	if !ok {
		return nil
	}
	r := &resting{id: d.id, created: d.created, users: users, texts: d.name + d.signing.Current + d.signing.Next}
	r.ends = [2]int32{int32(len(d.name)), int32(len(d.name) + len(d.signing.Current))}
	return r
}

// settleDown puts a database that is not open in its place, resting if there is nothing in it.
func (s *State) settleDown(d *database) {
	if r := s.rest(d); r != nil {
		s.databases.Put(r.name(), place{resting: r}, d.summary)
		return
	}
	s.put(d)
}

// waken returns a resting database for reading, and for open to put in its place. Two calls return two.
func (s *State) waken(r *resting) *database {
	d := &database{name: r.name(), id: r.id, created: r.created, keys: s.blank.keys, scripts: s.blank.scripts, search: s.blank.search,
		signing: r.signing(), saves: s.saves, users: acl.NewResting(s.applier.table.Catalog(), &r.users)}
	d.indexed = d.users
	d.counted, d.summary = s.count(d), s.summarize(d)
	return d
}

// at returns the database of a place, nil if there is none.
func (s *State) at(p place) *database {
	if p.resting != nil {
		return s.waken(p.resting)
	}
	return p.awake
}

// lookup returns the database of a name for reading, nil if there is none.
func (s *State) lookup(name string) *database {
	p, _ := s.databases.Get(name)
	return s.at(p)
}

// from returns the first database whose summary is wanted, from that of a name on, or after it.
func (s *State) from(name string, with bool, want func(*summary) bool) *database {
	p, _, _ := s.databases.Next(name, with, want)
	return s.at(p)
}
