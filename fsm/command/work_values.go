package command

import (
	"github.com/trireme-dev/trireme/fsm/hll"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/script"
)

// The work of commands that look at more of a value than their words name, or at elements that take long.

const (
	geoLook       = 8  // steps to compute how far a member is from a place
	numberLook    = 4  // steps to read a text as a long double
	dumpedElement = 4  // steps to write an element as DUMP does, and to compute its checksum
	claimedEntry  = 8  // steps to give a pending entry to another consumer
	removedMember = 2  // steps for each member of a set of which a range is removed
	describedRow  = 32 // steps to describe a command
)

// popWork takes so many elements out of the first value that has some. Without a count it is one.
func popWork(tx *Tx, argv [][]byte) int64 {
	places := tx.Table.Find(argv).Keys.Positions(argv)
	if len(places) == 0 {
		return 0
	}
	count, rest := int64(0), argv[places[len(places)-1]+1:]
	for i, word := range rest {
		if n, ok := ParseInt(word); ok && (len(rest) == 1 || i > 0 && EqualFold(rest[i-1], "COUNT")) {
			count = n
		}
	}
	for _, at := range places {
		o := tx.DB.Peek(tx.Env, argv[at])
		if n := int64(elementsIn(o)); n > 0 && count > 0 {
			return min(count, n) * (storedMember - 1 + tx.volume(argv[at])/n)
		}
	}
	return 0
}

// comparedWork reads the value of the key if a condition of the call is about it, or if it is the reply.
func comparedWork(tx *Tx, argv [][]byte) int64 {
	for _, word := range argv[2:] {
		for _, condition := range []string{"IFEQ", "IFNE", "IFDEQ", "IFDNE", "GET"} {
			if EqualFold(word, condition) {
				return tx.volume(argv[1])
			}
		}
	}
	return 0
}

// dumpWork writes all elements of a value.
func dumpWork(tx *Tx, argv [][]byte) int64 {
	o := tx.DB.Peek(tx.Env, argv[1])
	if o.Type() == keyspace.String {
		return dumpedElement * max(tx.volume(argv[1]), int64(o.Len())/bytesPerWork)
	}
	return dumpedElement * tx.volume(argv[1])
}

// deletedLibraryWork takes the functions of a library away.
func deletedLibraryWork(tx *Tx, argv [][]byte) int64 {
	if tx.Scripts == nil {
		return 0
	}
	if l := tx.Scripts.Library(string(argv[2])); l != nil {
		return storedMember * int64(len(l.Functions))
	}
	return 0
}

// dumpedLibrariesWork writes the code of all libraries as DUMP writes a value.
func dumpedLibrariesWork(tx *Tx, _ [][]byte) (steps int64) {
	if tx.Scripts != nil {
		tx.Scripts.Libraries(func(l *script.Library) { steps += 1 + dumpedElement*int64(len(l.Code))/bytesPerWork })
	}
	return steps
}

// removedWork removes members of a sorted set. It counts all of them: which are meant is found by looking.
func removedWork(tx *Tx, argv [][]byte) int64 { return removedMember * tx.volume(argv[1]) }

// radiusWork makes a set of what is found, if that is stored.
func radiusWork(tx *Tx, argv [][]byte) int64 {
	if tx.Table.Find(argv).OnlyReads(argv) {
		return 0
	}
	return geoLook * tx.volume(argv[1])
}

// geoStoreWork is radiusWork of GEOSEARCHSTORE.
func geoStoreWork(tx *Tx, argv [][]byte) int64 { return geoLook * tx.volume(argv[2]) }

// numbersWork reads the values of an array as numbers.
func numbersWork(tx *Tx, argv [][]byte) int64 { return numberLook * tx.volume(argv[1]) }

// describeWork describes the commands that are named.
func describeWork(_ *Tx, argv [][]byte) int64 { return describedRow * int64(len(argv)) }

// streamAt is the stream under a key, nil if there is none.
func (tx *Tx) streamAt(key []byte) *keyspace.StreamLog {
	s, _ := tx.DB.Peek(tx.Env, key).Container().(*keyspace.StreamLog)
	return s
}

// groupAt is the group of a name of the stream under a key, nil if there is none.
func (tx *Tx) groupAt(key, name []byte) *keyspace.StreamGroup {
	if s := tx.streamAt(key); s != nil {
		return s.Group(keyspace.Alias(name))
	}
	return nil
}

// claimWork gives each entry that is named to another consumer.
func claimWork(_ *Tx, argv [][]byte) int64 { return claimedEntry * int64(len(argv)) }

// autoClaimWork looks at pending entries, at so many for each of the count, and gives as many as the count to another consumer.
func autoClaimWork(tx *Tx, argv [][]byte) int64 {
	g := tx.groupAt(argv[1], argv[2])
	if g == nil {
		return 0
	}
	count := int64(autoClaimCount)
	for i := 6; i+1 < len(argv); i++ {
		if n, ok := ParseInt(argv[i+1]); ok && EqualFold(argv[i], "COUNT") {
			count = max(0, min(n, autoClaimMostAll))
		}
	}
	pending := int64(g.Pending())
	return storedMember*min(count*autoClaimLooks, pending) + claimedEntry*min(count, pending)
}

// referencesWork looks each entry that is named up in all groups, if the call says what becomes of what they have pending.
func referencesWork(tx *Tx, argv [][]byte) int64 {
	s := tx.streamAt(argv[1])
	if s == nil || !namesReferences(argv) {
		return storedMember * int64(len(argv))
	}
	return int64(len(argv)) * (storedMember + int64(s.Groups()))
}

func namesReferences(argv [][]byte) bool {
	for _, word := range argv[2:min(len(argv), 12)] { // they stand before the IDs or fields
		if EqualFold(word, "DELREF") || EqualFold(word, "ACKED") {
			return true
		}
	}
	return false
}

// trimmedWork removes the entries of a stream that XADD trims, and what groups have of them.
func trimmedWork(tx *Tx, argv [][]byte) int64 {
	s := tx.streamAt(argv[1])
	if s == nil {
		return 0
	}
	removed := int64(0)
	for i := 2; i+1 < min(len(argv), 12); i++ {
		limits, starts := EqualFold(argv[i], "MAXLEN"), EqualFold(argv[i], "MINID")
		if !limits && !starts {
			continue
		}
		at := i + 1
		if len(argv[at]) == 1 && (argv[at][0] == '=' || argv[at][0] == '~') && at+1 < len(argv) {
			at++
		}
		if n, ok := ParseInt(argv[at]); limits && ok {
			removed = max(0, int64(s.Len())+1-max(n, 0))
		} else if starts {
			id := &Args{argv: argv, at: at}
			removed = int64(s.From(id.startID(argv[at])))
		}
		break
	}
	if namesReferences(argv) {
		removed *= storedMember + int64(s.Groups())
	}
	return removed
}

// streamTrimWork is the work of XTRIM: it looks at all entries, and groups have something of those that it removes.
func streamTrimWork(tx *Tx, argv [][]byte) int64 {
	steps := tx.volume(argv[1])
	if s := tx.streamAt(argv[1]); s != nil && namesReferences(argv) {
		steps *= storedMember + int64(s.Groups())
	}
	return steps
}

// consumerWork gives up what the consumer has pending.
func consumerWork(tx *Tx, argv [][]byte) int64 {
	g := tx.groupAt(argv[2], argv[3])
	if g == nil {
		return 0
	}
	steps := int64(g.Consumers()) / storedMember
	if len(argv) > 4 {
		if c := g.Consumer(keyspace.Alias(argv[4])); c != nil {
			steps += storedMember * int64(c.Pending())
		}
	}
	return steps
}

// sketchAddWork is the work of PFADD: a sketch is copied, and a sparse one is walked for each element.
func sketchAddWork(tx *Tx, argv [][]byte) int64 {
	size, elements := int64(tx.DB.Peek(tx.Env, argv[1]).Len()), int64(len(argv)-2)
	steps := size / bytesPerWork
	if size < int64(len(hll.Registers{}))/2 {
		longest := min(hll.MaxSparse, size+sparseElement*elements)
		steps += elements * (longest / sparseBytesPerWork)
	}
	return steps
}

// sketchDebugWork is the work of PFDEBUG: a byte of a sparse sketch stands for several registers, which are written one by one.
func sketchDebugWork(tx *Tx, argv [][]byte) int64 {
	return int64(tx.DB.Peek(tx.Env, argv[2]).Len() / sketchBytesPerWork)
}

// sparseBytesPerWork is the number of bytes of a sparse sketch that PFADD walks in a step.
const sparseBytesPerWork = 40

// sketchBytesPerWork is the number of bytes of a sketch that PFDEBUG reads in a step.
const sketchBytesPerWork = 8

// sparseElement is the number of bytes that an element adds to a sparse sketch.
const sparseElement = 3
