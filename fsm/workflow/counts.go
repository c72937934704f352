package workflow

import "github.com/trireme-dev/trireme/fsm/wire"

// Counts are the sizes of the store: all runs, those that are active, those with a dead letter, and the waiters.
type Counts struct {
	Runs, Active, Dead, Waiters int
	// Paused are runs that wait at the end of their retries; they are active.
	Paused int
}

// Add adds the counts of another store.
func (co *Counts) Add(m Counts) {
	co.Paused += m.Paused
	co.Runs, co.Active, co.Dead, co.Waiters = co.Runs+m.Runs, co.Active+m.Active, co.Dead+m.Dead, co.Waiters+m.Waiters
}

// Counts returns the sizes of the store.
func (s *Store) Counts() Counts {
	return Counts{Runs: s.runs.Len() + s.past.Records(), Active: s.runs.Len() - s.dead.Len() - s.ended.Len(), Dead: s.dead.Len(), Waiters: s.waiters.Len(), Paused: s.paused.Len()}
}

// Fields codes the value in its wire format.
func (co *Counts) Fields(c *wire.Codec) {
	for _, v := range [...]*int{&co.Runs, &co.Active, &co.Dead, &co.Waiters} {
		wire.Uint(c, v)
	}
	if c.More(co.Paused > 0) { // from the level env.Files on
		wire.Uint(c, &co.Paused)
	}
}
