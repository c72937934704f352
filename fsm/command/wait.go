package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Waiting says of a Blocking command how long a call waits and what for.
type Waiting struct {
	// TimeoutAt is the position of the timeout; negative counts from the end.
	TimeoutAt int
	// Waits, if set, reports whether these arguments ask to wait, and what Timeout returns then.
	Waits func(argv [][]byte, now int64) (ms int64, ok bool)
	// Pin, if set, returns the arguments that the command is called with again while
	// it waits: what means the present in them is replaced by what it means now. Whoever
	// waits asks for them once, when the call arrives.
	Pin func(tx *Tx, argv [][]byte) [][]byte
	// Wait says what the command waits for; one without never waits.
	Wait *Wait
}

// Wait says how a Blocking command waits at the edge. A origin that lets its clients wait
// runs the command when there is something for it, and lets it wait otherwise; the
// handler never waits.
type Wait struct {
	// For is the type of value that the command takes elements of; Sources is the number
	// of its keys that it takes them from, 0 for all.
	For     keyspace.Type
	Sources int
	// Alone is the same call on one of its keys only; nil if it has but one source.
	Alone func(argv [][]byte, key []byte) [][]byte
	// Into is the place of the key that an element is moved to, 0 for a command that answers
	// with it. A value of another type there refuses the element; see Refused.
	Into int
	// Ready returns what the call would find, where that does not depend on whether one of its
	// keys has elements. Waiters of such a command don't compete for what there is. It may not
	// be anything but Nothing where the handler returns null.
	Ready func(tx *Tx, argv [][]byte) Arrival
	// Prepare, if set, returns a call to be run once before this one waits, which takes nothing;
	// nil for none.
	Prepare func(tx *Tx, argv [][]byte) [][]byte
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

// Arrival is the result of a blocking call's first look at its keys.
type Arrival uint8

// What there may be.
const (
	Nothing   Arrival = iota // it has to wait
	Something                // for it to take
	Mistake                  // an error, which is the reply at once
)

// Arrive looks at the state for a call that has come in. It returns the call as it is meant
// from now on, what there is for it, and the call to be run before it waits, nil for none. Words
// that are wrong are a mistake whatever the state is.
func (c *Command) Arrive(tx *Tx, argv [][]byte) (call, before [][]byte, found Arrival) {
	if c.misread(tx, argv) {
		return argv, nil, Mistake
	}
	if c.Pin != nil {
		argv = c.Pin(tx, argv)
	}
	if c.Wait.Ready != nil {
		found = c.Wait.Ready(tx, argv)
		if c.Wait.Prepare != nil && found != Mistake {
			before = c.Wait.Prepare(tx, argv)
		}
		return argv, before, found
	}
	for _, key := range c.Sources(argv) {
		switch o := tx.DB.Find(tx.Env, []byte(key)); {
		case o == nil:
		case o.Type() == c.Wait.For:
			return argv, nil, Something
		default:
			return argv, nil, Mistake
		}
	}
	return argv, nil, Nothing
}

// misread reports whether the handler refuses the words of a call. The handler reads all of
// them before it touches the state, and does no more here.
func (c *Command) misread(tx *Tx, argv [][]byte) bool {
	return c.Run(tx, &Args{argv: argv, at: c.words, judging: true}).IsError()
}

// Refused is the error that a waiting call is answered with instead of an element that one
// of its keys has, nil if it may take the element. The element stays where it is.
func (c *Command) Refused(tx *Tx, argv [][]byte) *reply.Value {
	if c.Wait.Into == 0 {
		return nil
	}
	if o := tx.DB.Find(tx.Env, argv[c.Wait.Into]); o != nil && o.Type() != c.Wait.For {
		return &ErrWrongType
	}
	return nil
}

// Available returns an upper bound of the waiting calls like this one that the key can
// answer: 0 for a key of another type.
func (c *Command) Available(tx *Tx, argv [][]byte, key []byte) int {
	o := tx.DB.Find(tx.Env, key)
	switch {
	case o != nil && o.Type() != c.Wait.For:
		return 0
	case c.Wait.Ready != nil && c.Wait.Ready(tx, c.On(argv, key)) != Nothing:
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
	waitForSource = &Wait{For: keyspace.List, Sources: 1, Into: 2}
	waitForSorted = &Wait{For: keyspace.SortedSet, Alone: aloneFirst}
	waitForSorts  = &Wait{For: keyspace.SortedSet, Alone: aloneCounted}
	waitForStream = &Wait{For: keyspace.Stream, Alone: aloneStream, Ready: streamReady}
	waitForGroup  = &Wait{For: keyspace.Stream, Alone: aloneStream, Ready: streamReady, Prepare: consumerCall, Lost: groupLost}
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
