package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// Cost says how much of the state a call reads, without its words and its reply. Every row
// names one; there is no default, because too low a cost lets one call hold up all others.
type Cost uint8

// The costs.
const (
	noCost Cost = iota // of a row that lacks it
	// costConstant: look-ups and what the words and the reply name.
	costConstant
	// costValues: all elements of the values of its keys, shown or not.
	costValues
	// costShown: all elements of the values of its keys, which are its reply.
	costShown
	// costCounted: often a part of the values of its keys only; the handler counts what a read
	// looks at with Tx.Charge.
	costCounted
	// costKeyspace: every key of the database.
	costKeyspace
	// costSlots: every key of the database, for those of one slot.
	costSlots
	// costSort: all elements of a value, each of which may name other keys.
	costSort
	// costScript: a script, whose cost is known only when it has run.
	costScript
	// costUser: all rules of the user that its second word names.
	costUser
	// costUsers: all rules of all users.
	costUsers
	// costIndex: a search of the node's own indexes, which may also have to wait for them.
	costIndex
)

// What reads look at, in steps (env.Charge): so that those that look at a lot don't keep
// writes waiting.
const (
	stepsPerWord    = 4 // of a command line
	stepsPerElement = 8 // of a value, shown or not
	stepsPerMatch   = 3 // of an element that is compared only
)

// How many logical bytes of a value are looked at for one step: of a text, and of what
// has elements.
const (
	textPerStep     = 64
	elementsPerStep = 6
)

// pagesCost is the cost of a write at an offset, which makes pages.
const pagesCost = 400

// chargeRead counts what a command of a bounded read will look at.
func (tx *Tx) chargeRead(c *Command, argv [][]byte) (over bool) {
	steps := int64(stepsPerWord * len(argv))
	switch c.Cost {
	case costKeyspace, costSlots:
		steps += stepsPerElement * int64(tx.DB.Len())
	case costUser, costUsers:
		steps += stepsPerElement * tx.usersWork(c, argv)
	case costScript, costIndex:
		steps += env.MaxInlineCost + 1
	case costValues, costShown:
		steps += tx.sizes(c, argv)
	case costSort: // each element may be looked up by others
		steps += stepsPerElement * tx.sizes(c, argv)
	}
	return tx.Charge(steps)
}

// interrupted lets other goroutines run, if this is a read on a fork, and reports whether its scripts were killed.
func (tx *Tx) interrupted() bool {
	tx.Yield()
	return tx.Interrupted != nil && tx.Interrupted()
}

// charge spends what a command of a script will look at beyond its words and its reply, which
// the script engine counts. It ends the script when the budget is spent, before the command
// has run.
func (r *running) charge(b *lua.Budget, c *Command, argv [][]byte) {
	tx := r.tx
	steps := int64(0)
	switch c.Cost {
	case costKeyspace:
		steps = int64(tx.DB.Len())
	case costValues, costCounted, costSort:
		steps = tx.sizes(c, argv)
	}
	if c.reach(argv) > 0 {
		steps += pagesCost
	}
	b.Step(int(min(steps, math.MaxInt32)))
}

// usersWork returns the steps of work of reading the users that a call describes.
func (tx *Tx) usersWork(c *Command, argv [][]byte) int64 {
	if tx.Users == nil {
		return 0
	}
	if c.Cost == costUsers {
		return tx.Users.Work()
	}
	return tx.Users.User(string(argv[2])).Work()
}

// sizes returns the size of the values of the keys that a command names, in steps.
func (tx *Tx) sizes(c *Command, argv [][]byte) (steps int64) {
	for _, i := range c.Keys.Positions(argv) {
		o := tx.DB.Peek(tx.Env, argv[i]) // which reports no miss
		if o.Type() == keyspace.String {
			steps += o.Size() / textPerStep
		} else {
			steps += o.Size() / elementsPerStep
		}
	}
	return steps
}
