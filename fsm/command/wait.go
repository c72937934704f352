package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Wait says how a Blocking command waits at the edge. A origin that lets its clients wait
// runs the command when there is something for it, and lets it wait otherwise; the
// handler never waits.
type Wait struct {
	// For is the type of value that the command takes elements of; Sources is how many
	// of its keys it takes them from, 0 for all.
	For     keyspace.Type
	Sources int
	// Alone is the same call on one of its keys only; nil if it has but one source.
	Alone func(argv [][]byte, key []byte) [][]byte
	// Ready reports whether the call would answer something, an error too, where that is not
	// whether one of its keys has elements.
	Ready func(tx *Tx, argv [][]byte) bool
	// Lost, if set, returns the error that ends the wait of a call because of what its keys have
	// become; nil while it goes on.
	Lost func(tx *Tx, argv [][]byte) *reply.Value
}

// Sources are the keys that a waiting call takes elements from.
func (c *Command) Sources(argv [][]byte) (keys []string) {
	places := c.Keys.Positions(argv)
	if c.Wait != nil && c.Wait.Sources > 0 {
		places = places[:min(c.Wait.Sources, len(places))]
	}
	for _, i := range places {
		keys = append(keys, string(argv[i]))
	}
	return keys
}

// Arrival is what a blocking call finds when it comes in.
type Arrival uint8

// What there may be.
const (
	Nothing   Arrival = iota // it has to wait
	Something                // for it to take
	Mistake                  // an error, which is the reply at once
)

// Arrive looks at the state for a call that has come in. It returns the call as it is meant
// from now on, and what there is for it.
func (c *Command) Arrive(tx *Tx, argv [][]byte) (call [][]byte, found Arrival) {
	if c.Pin != nil {
		argv = c.Pin(tx, argv)
	}
	if c.Wait.Ready != nil {
		if c.Wait.Ready(tx, argv) {
			return argv, Something
		}
		return argv, Nothing
	}
	for _, key := range c.Sources(argv) {
		switch o := tx.DB.Find(tx.Env, []byte(key)); {
		case o == nil:
		case o.Type() == c.Wait.For:
			return argv, Something
		default:
			return argv, Mistake
		}
	}
	return argv, Nothing
}

// Available is how many waiting calls like this one the key has something for: an upper
// bound. A key of another type has nothing.
func (c *Command) Available(tx *Tx, argv [][]byte, key []byte) int {
	o := tx.DB.Find(tx.Env, key)
	switch {
	case o != nil && o.Type() != c.Wait.For:
		return 0
	case c.Wait.Ready != nil && c.Wait.Ready(tx, c.On(argv, key)):
		return 1
	case c.Wait.Ready != nil || o == nil:
		return 0
	}
	switch v := o.Data().(type) {
	case *keyspace.Elements:
		return v.Len()
	case *keyspace.ZSet:
		return v.Len()
	}
	return 0
}

// Lost is the error that ends the wait of a call for one of its keys, nil while it goes on.
func (c *Command) Lost(tx *Tx, argv [][]byte, key []byte) *reply.Value {
	if c.Wait.Lost == nil {
		return nil
	}
	return c.Wait.Lost(tx, c.On(argv, key))
}

// On is the call on one of its keys only, as it is run when that key has something for it.
func (c *Command) On(argv [][]byte, key []byte) [][]byte {
	if c.Wait.Alone == nil {
		return argv
	}
	return c.Wait.Alone(argv, key)
}

// The ways in which pops wait.
var (
	waitForList   = &Wait{For: keyspace.List, Alone: aloneFirst}
	waitForLists  = &Wait{For: keyspace.List, Alone: aloneCounted}
	waitForSource = &Wait{For: keyspace.List, Sources: 1}
	waitForSorted = &Wait{For: keyspace.SortedSet, Alone: aloneFirst}
	waitForSorts  = &Wait{For: keyspace.SortedSet, Alone: aloneCounted}
	waitForStream = &Wait{For: keyspace.Stream, Alone: aloneStream, Ready: streamReady}
	waitForGroup  = &Wait{For: keyspace.Stream, Alone: aloneStream, Ready: groupReady, Lost: groupLost}
)

// aloneFirst is NAME key timeout of NAME key ... timeout.
func aloneFirst(argv [][]byte, key []byte) [][]byte {
	return [][]byte{argv[0], key, argv[len(argv)-1]}
}

// aloneCounted is NAME timeout 1 key ... of NAME timeout n key ... ...
func aloneCounted(argv [][]byte, key []byte) [][]byte {
	n, _ := ParseInt(argv[2]) // which the command's keys were found by
	return append([][]byte{argv[0], argv[1], []byte("1"), key}, argv[3+n:]...)
}
