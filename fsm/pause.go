package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// As in Redis, no key is removed because its deadline has passed while CLIENT PAUSE is in force. Whoever reads or writes
// such a key finds none, as ever. A write that stores another value under it, or deletes it, still counts it as
// expired.

// MaxExpiryHold is the longest time, in milliseconds from its HoldExpiry, for which keys past their deadline are kept:
// clients that are not paused go on to store keys, and those that are kept fill memory.
const MaxExpiryHold = 3_600_000

// ExpiryHold keeps the keys of a database that are past their deadline.
type ExpiryHold struct {
	// Millis is for how long from now on; 0 ends it. A shorter time than is left changes nothing.
	Millis int64
}

// Fields codes the value in its wire format.
func (eh *ExpiryHold) Fields(c *wire.Codec) {
	c.Varint(&eh.Millis)
}

// holdExpiry answers with the time that is left.
func (t tenant) holdExpiry(e *env.Env, n ExpiryHold) (ExpiryHold, error) {
	config, until := &t.d.config, int64(0)
	if n.Millis > 0 {
		until = max(config.ExpiryHeld(), e.Now+min(n.Millis, MaxExpiryHold))
	}
	config.HoldExpiry(until)
	return ExpiryHold{Millis: max(0, until-e.Now)}, nil
}

// holdsExpiry reports whether the keys of the database that are past their deadline are to stay, and forgets a hold
// that is over.
func (d *database) holdsExpiry(now int64) bool {
	until := d.config.ExpiryHeld()
	if until != 0 && until <= now {
		d.config.HoldExpiry(0)
	}
	return until > now
}

// ExpiryHeld reports whether HoldExpiry is in force for a database.
func (v *View) ExpiryHeld(db string) bool {
	d := v.s.database(db)
	return d != nil && d.config.ExpiryHeld() > v.Now()
}
