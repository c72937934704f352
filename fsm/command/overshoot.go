package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/env"
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

// ceiling is the most that memory may be after a command that was admitted.
func (tx *Tx) ceiling() int64 { return tx.MaxMemory + tx.MaxMemory/overshootPart }

// overCeiling reports whether a script has written more than it may; it is asked before each of its calls.
func (tx *Tx) overCeiling() bool {
	return tx.Level >= env.Level2 && tx.MaxMemory > 0 && !tx.ReadOnly && tx.DB.Used()+tx.OtherMemory > tx.ceiling()
}

// outOfMemory reports whether a script may not write more, because nothing can make room for it.
func (r *running) outOfMemory() bool {
	if r.full || !r.tx.overCeiling() {
		return r.full
	}
	r.mark(keysPart) // what is evicted comes back if the script is undone
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
	if tx.Level < env.Level2 || tx.ReadOnly || tx.Undo == nil || tx.DB == nil || c.Group == "messages" || c.Flags&Write == 0 || runsScript(c) {
		return nil
	}
	before := tx.DB.Used() + tx.OtherMemory
	if tx.growth(c, argv) <= tx.ceiling()-before {
		return nil
	}
	mark, notes := tx.Undo.Mark(tx, false), len(tx.Notifications)
	return func(v reply.Value) reply.Value {
		now := tx.DB.Used() + tx.OtherMemory
		if now <= tx.ceiling() || now <= before {
			return v
		}
		if now-before <= tx.MaxMemory && tx.makeRoom() { // what exceeds the limit by itself evicts nothing
			return v
		}
		mark()
		tx.retract(notes)
		if tx.run == nil {
			return tx.overMemory()
		}
		return ErrOOM
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
func runsScript(c *Command) bool { return c.Group == "scripting" }
