package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// A command that is admitted below the memory limit may end above it by its own size, as in Redis. Above the limit by
// more than a hundredth it is undone: a single one could otherwise fill the nodes. Only a command that may reach so far
// by the work that it was charged for pays for being able to be undone.

const (
	// overshootPart is the part of the limit by which one command may exceed it.
	overshootPart = 100
	// growthPerWork is the most bytes that a step of work may add to memory: those that it stands for, and what is
	// kept for an element beside them.
	growthPerWork = 4 * bytesPerWork
)

// limited reports whether there is a memory limit.
func (tx *Tx) limited() bool { return tx.MaxMemory > 0 || tx.OwnMax > 0 }

// full reports whether memory is over its limit, or the database over its own.
func (tx *Tx) full() bool {
	return !tx.ReadOnly && (tx.MaxMemory > 0 && tx.DB.Used()+tx.OtherMemory > tx.MaxMemory || tx.fullOwn())
}

// fullOwn reports whether the database is over its own limit.
func (tx *Tx) fullOwn() bool { return tx.OwnMax > 0 && tx.DB.Used()+tx.OwnOther > tx.OwnMax }

// lowestLimit is the lower one of the two limits, 0 if there is none.
func (tx *Tx) lowestLimit() int64 {
	if tx.MaxMemory <= 0 || 0 < tx.OwnMax && tx.OwnMax < tx.MaxMemory {
		return tx.OwnMax
	}
	return tx.MaxMemory
}

// headroom is by how much memory may grow until a limit is exceeded by more than a command may exceed it.
func (tx *Tx) headroom() int64 {
	used, left := tx.DB.Used(), int64(math.MaxInt64)
	if tx.MaxMemory > 0 {
		left = tx.MaxMemory + tx.MaxMemory/overshootPart - used - tx.OtherMemory
	}
	if tx.OwnMax > 0 {
		left = min(left, tx.OwnMax+tx.OwnMax/overshootPart-used-tx.OwnOther)
	}
	return left
}

// overCeiling reports whether a script has written more than it may; it is asked before each of its calls.
func (tx *Tx) overCeiling() bool {
	return tx.limited() && !tx.ReadOnly && tx.headroom() < 0
}

// outOfMemory reports whether a script may not write more, because nothing can make room for it.
func (r *running) outOfMemory() bool {
	if r.full || !r.tx.overCeiling() {
		return r.full
	}
	r.mark(keysPart) // what is evicted comes back if the script is undone
	if len(r.tx.Triggers) > 0 {
		r.mark(messagesPart)
	}
	return !r.tx.makeRoom()
}

// The parts of a database that a script is undone in.
const (
	keysPart = iota
	messagesPart
)

// mark keeps a part of the database as it is, once, so that the script can be undone.
func (r *running) mark(part int) {
	if r.undo[part] == nil && r.tx.Undo != nil {
		r.undo[part] = r.tx.Undo.Mark(r.tx, part == messagesPart)
	}
}

// guardMemory returns what undoes a command that has left too much behind and makes its reply the refusal; nil for one
// that can't.
func (tx *Tx) guardMemory(c *Command, argv [][]byte) func(reply.Value) reply.Value {
	if tx.ReadOnly || tx.Undo == nil || tx.DB == nil || c.Group() == "messages" || c.Flags&Write == 0 || runsScript(c) {
		return nil
	}
	before := tx.DB.Used()
	if tx.growth(c, argv) <= tx.headroom() {
		return nil
	}
	mark, notes := tx.Undo.Mark(tx, false), len(tx.Notifications)
	if len(tx.Triggers) > 0 { // what is evicted on the way sets them off
		keys, messages := mark, tx.Undo.Mark(tx, true)
		mark = func() { keys(); messages() }
	}
	return func(v reply.Value) reply.Value {
		grown := tx.DB.Used() - before
		if grown <= 0 || tx.headroom() >= 0 {
			return v
		}
		if grown <= tx.lowestLimit() && tx.makeRoom() { // what exceeds a limit by itself evicts nothing
			return v
		}
		refusal := tx.overMemory()
		mark()
		tx.retract(notes)
		return refusal
	}
}

// growth is more than the command can add to memory.
func (tx *Tx) growth(c *Command, argv [][]byte) int64 {
	if c.Name == "restore" { // packed: its length says little
		return math.MaxInt64
	}
	n := int64(0)
	for _, word := range argv {
		n += int64(len(word)) + growthPerWork
	}
	steps := tx.workOf(c, argv)
	if steps > (math.MaxInt64-n)/growthPerWork {
		return math.MaxInt64
	}
	return n + steps*growthPerWork
}

// runsScript reports whether the command is a script or function: what those call is guarded itself.
func runsScript(c *Command) bool { return c.Group() == "scripting" }

// roomFor refuses a command that would add so many bytes to the database outside its keys, nil if there is room
// for them.
func (tx *Tx) roomFor(bytes int) *reply.Value {
	if !tx.limited() || tx.ReadOnly {
		return nil
	}
	if tx.full() && !tx.makeRoom() || int64(bytes) > tx.headroom() {
		return ptr(tx.overMemoryBy(int64(bytes)))
	}
	return nil
}

// keeps reports whether a script that is run is kept for EVALSHA, or is there already. Where there is no room it is not.
func (tx *Tx) keeps(digest, body string) bool {
	if tx.ReadOnly {
		return false
	}
	if _, known := tx.Scripts.Script(digest); known {
		return true
	}
	return tx.roomFor(len(body)) == nil
}
