package command

import "github.com/trireme-dev/trireme/fsm/reply"

// changeCount returns as how many changes Redis counts a call that has changed something: INFO tells their number since the last
// save.
type changeCount func(argv [][]byte, v reply.Value) int64

// changesOf is the number of changes of a call that has changed something. A handler whose words and reply don't tell it has set
// tx.changes; scripts leave it to the commands that they call.
func (tx *Tx) changesOf(c *Command, argv [][]byte, v reply.Value) int64 {
	switch {
	case tx.Table.Scripts(argv):
		return 0
	case tx.changes > 0:
		return tx.changes
	case c.Counts == nil:
		return 1
	}
	return c.Counts(argv, v)
}

// answered counts what the command answers as a number.
func answered(_ [][]byte, v reply.Value) int64 {
	if v.Kind() == reply.KindInt {
		return max(1, v.Int())
	}
	return 1
}

// wordsFrom counts words from a place on, every one of so many once.
func wordsFrom(at, every int) changeCount {
	return func(argv [][]byte, _ reply.Value) int64 { return int64((len(argv) - at) / every) }
}

// elements counts those of the reply, or pairs of a map; a single one is no array.
func elements(_ [][]byte, v reply.Value) int64 {
	if v.Kind() == reply.KindMap || v.Kind() == reply.KindKeyed {
		return int64(len(v.Elems()) / 2)
	}
	return int64(max(1, len(v.Elems())))
}

// claimed counts entries that have another owner now.
func claimed(_ [][]byte, v reply.Value) int64 { return int64(len(v.Elems())) }

// claimedOrLost counts entries that have another owner now, and those that are pending no more, since they are gone.
func claimedOrLost(_ [][]byte, v reply.Value) int64 { return inside(v, 1) + inside(v, 2) }

// ownCount is for handlers that count by themselves: none if they have not.
func ownCount([][]byte, reply.Value) int64 { return 0 }

// scored counts the members that a reply holds with their scores.
func scored(_ [][]byte, v reply.Value) int64 {
	n := len(v.Elems())
	if n > 0 && v.Elems()[0].Kind() != reply.KindArray {
		n /= 2
	}
	return int64(max(1, n))
}

// taken counts what is answered behind the name of a key.
func taken(_ [][]byte, v reply.Value) int64 { return inside(v, 1) }

// inside counts the elements of an element of the reply.
func inside(v reply.Value, at int) int64 {
	if at >= len(v.Elems()) {
		return 0
	}
	return int64(len(v.Elems()[at].Elems()))
}
