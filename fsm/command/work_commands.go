package command

import (
	"bytes"

	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// The work of commands whose words say more about it than their keys do.

// wordsWork is that of the words of a call: it is all that is charged for what a write changes, if its row says no more.
func wordsWork(c *Command, argv [][]byte) int64 {
	size := 0
	for _, word := range argv {
		size += len(word)
	}
	steps := int64(len(argv) + size/bytesPerWork)
	if c.Group() == "json" {
		steps += documentsWork(argv, size)
	}
	if c.Flags&Write != 0 {
		steps += (writtenWord - 1) * int64(max(0, len(argv)-fewWords))
	}
	return steps
}

// documentsWork returns the work of reading JSON and paths in the words of a call.
func documentsWork(argv [][]byte, size int) int64 {
	steps := int64(size/documentPerWork + documentMember*len(argv))
	for _, word := range argv[1:] {
		for _, sign := range [...]string{",", ":", "[", "{"} {
			steps += documentMember * int64(bytes.Count(word, []byte(sign)))
		}
	}
	return steps
}

// noMoreWork returns the work of writes that read no more of a value than they change.
func noMoreWork(*Tx, [][]byte) int64 { return 0 }

// shownWork is that of reads whose reply has the whole value of every key, as often as it is
// named.
func shownWork(tx *Tx, argv [][]byte) int64 { return tx.volumes(tx.Table.Find(argv), argv) }

// bitOpWork reads all sources and writes one that is as long as the longest.
func bitOpWork(tx *Tx, argv [][]byte) (sum int64) {
	longest := int64(0)
	for _, key := range argv[min(3, len(argv)):] {
		n := tx.volume(key)
		sum, longest = sum+n, max(longest, n)
	}
	return sum + longest
}

// sources are the volumes of the keys that a combination of sets reads: all but the first
// where that is the destination.
func (tx *Tx) sources(argv [][]byte) (volumes []int64) {
	c := tx.Table.Find(argv)
	places := c.Keys.Positions(argv)
	if len(places) > 0 && c.Flags&Write != 0 {
		places = places[1:]
	}
	for _, at := range places {
		volumes = append(volumes, tx.volume(argv[at]))
	}
	return volumes
}

// unionWork reads all sets and makes one of all of their members.
func unionWork(tx *Tx, argv [][]byte) (steps int64) {
	for _, n := range tx.sources(argv) {
		steps += combinedMember * n
	}
	return steps
}

// intersectionWork looks each member of the smallest set up in all others.
func intersectionWork(tx *Tx, argv [][]byte) int64 {
	volumes := tx.sources(argv)
	if len(volumes) == 0 {
		return 0
	}
	least := volumes[0]
	for _, n := range volumes {
		least = min(least, n)
	}
	return least * (int64(len(volumes)) + combinedMember)
}

// differenceWork reads all sets and makes one of members of the first.
func differenceWork(tx *Tx, argv [][]byte) (steps int64) {
	for i, n := range tx.sources(argv) {
		if i == 0 {
			n *= 1 + combinedMember
		}
		steps += n
	}
	return steps
}

// differenceCountWork looks each member of the first set up in all others.
func differenceCountWork(tx *Tx, argv [][]byte) int64 {
	volumes := tx.sources(argv)
	if len(volumes) == 0 {
		return 0
	}
	return volumes[0] * int64(len(volumes))
}

// lcsWork fills a table of the lengths of both strings.
func lcsWork(tx *Tx, argv [][]byte) int64 {
	a, b := tx.DB.Peek(tx.Env, argv[1]), tx.DB.Peek(tx.Env, argv[2])
	if a.Type() != keyspace.String || b.Type() != keyspace.String {
		return 0
	}
	if a.Len() > 0 && b.Len() > maxLCSCells/a.Len() {
		return 0 // the command refuses it
	}
	return int64(a.Len()/cellsPerWork+1) * int64(b.Len()+1)
}

// fieldsWork shows the values of the fields that are named, as often as they are.
func fieldsWork(tx *Tx, argv [][]byte) (steps int64) {
	o := tx.DB.Peek(tx.Env, argv[1])
	if o.Type() != keyspace.Hash {
		return 0
	}
	hash, ok := o.Data().(*keyspace.Fields)
	if !ok {
		return 0
	}
	for _, field := range argv[2:] {
		if text, _, found := hash.Get(tx.Time, keyspace.Alias(field)); found {
			steps += int64(len(text) / bytesPerWork)
		}
	}
	return steps
}

// drawWork shows so many elements at random, the same one more than once if the count is negative. Without a count it is one.
func drawWork(tx *Tx, argv [][]byte) int64 {
	o := tx.DB.Peek(tx.Env, argv[1])
	elements := int64(elementsIn(o))
	if o.Type() == keyspace.Hash {
		if hash, ok := o.Data().(*keyspace.Fields); ok {
			elements = int64(hash.Len(tx.Time))
		}
	}
	if elements == 0 {
		return 0 // there is nothing to draw, or the command refuses the type
	}
	each := tx.volume(argv[1]) / elements // some are longer, others shorter
	if len(argv) < 3 {
		return max(each-1, 0)
	}
	switch n, _ := ParseInt(argv[2]); {
	case n >= 0:
		return min(n, elements) * max(each, 1)
	case n < -maxRepeats:
		return 0 // the command refuses it
	default:
		return -n * (1 + each)
	}
}

// trimWork removes elements of a list, or keeps others.
func trimWork(tx *Tx, argv [][]byte) int64 {
	o := tx.DB.Peek(tx.Env, argv[1])
	if o.Type() != keyspace.List {
		return 0
	}
	n := int64(elementsIn(o))
	from, ok1 := ParseInt(argv[2])
	to, ok2 := ParseInt(argv[3])
	if !ok1 || !ok2 {
		return 0 // the command refuses it
	}
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	kept := max(0, min(to, n-1)-max(from, 0)+1)
	return min(kept, n-kept)
}

// keySlotWork is the work of CLUSTER KEYSLOT, which sums up a key byte by byte.
func keySlotWork(_ *Tx, argv [][]byte) int64 { return int64(len(argv[2]) / bytesPerWork) }
