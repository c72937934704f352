package command

import (
	"trireme/fsm/env"
	"trireme/fsm/keyspace"
)

// What reads look at, in steps (env.Toil): so that those that look at a lot don't keep
// writes waiting.
const (
	stepsPerWord    = 4 // of a command line
	stepsPerElement = 8 // of a value, shown or not
	stepsPerMatch   = 3 // of an element that is compared only
)

// toil is how much of the state a row looks at when it reads.
type toil uint8

const (
	littleToil toil = iota // or the handler counts by itself
	toilByValue
	toilByKeyspace
	toilBySorting
	toilByScript
)

// wholeReads are the rows that read all of the values of their keys, beside those of
// wholeValues.
var wholeReads = map[string]bool{"hgetall": true, "hkeys": true, "hvals": true, "smembers": true}

// countsItself are rows of wholeValues that often look at a part only, and count that.
var countsItself = map[string]bool{"lpos": true, "georadius": true, "georadiusbymember": true, "geosearch": true}

// toilOf is what kind of work a row is.
func toilOf(c *Command) toil {
	switch {
	case wholeKeyspace[c.Name] || c.Name == "cluster getkeysinslot" || c.Name == "cluster countkeysinslot":
		return toilByKeyspace
	case c.Group == "scripting" && c.Flags&ReadOnly != 0 && c.Keys.Find != nil:
		return toilByScript
	case c.Name == "sort" || c.Name == "sort_ro":
		return toilBySorting
	case wholeReads[c.Name] || (wholeValues[c.Name] && !countsItself[c.Name]) || c.Group == "json":
		return toilByValue
	}
	return littleToil
}

// toil counts what a command of a brief read will look at.
func (tx *Tx) toil(c *Command, argv [][]byte) (over bool) {
	steps := int64(stepsPerWord * len(argv))
	switch c.toil {
	case toilByKeyspace:
		steps += stepsPerElement * int64(tx.DB.Len())
	case toilByScript:
		steps += env.MostToil + 1
	case toilByValue:
		steps += tx.sizes(c, argv)
	case toilBySorting: // each element may be looked up by others
		steps += stepsPerElement * tx.sizes(c, argv)
	}
	return tx.Toil(steps)
}

// sizes is what there is to look at in the values of the keys that a command names, in
// steps.
func (tx *Tx) sizes(c *Command, argv [][]byte) (steps int64) {
	for _, i := range c.Keys.Positions(argv) {
		o := tx.DB.Peek(tx.Env, argv[i]) // which tells of no miss
		if o.Type() == keyspace.String {
			steps += o.Size() / textPerStep
		} else {
			steps += o.Size() / elementsPerStep
		}
	}
	return steps
}
