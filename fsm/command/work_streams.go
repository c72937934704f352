package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// groupedRead is the price of an entry that XREADGROUP answers, in prices of one that XREAD answers: what is pending is looked up, or
// noted, beside the entry.
const groupedRead = 3

// streamsWork reads the entries that follow an ID in each stream, up to a count, as often as the stream is named.
func streamsWork(tx *Tx, argv [][]byte) (steps int64) {
	count, group, consumer := int64(math.MaxInt64), []byte(nil), []byte(nil)
words:
	for i := 1; i+1 < len(argv); i++ {
		switch {
		case EqualFold(argv[i], "STREAMS"):
			break words
		case EqualFold(argv[i], "BLOCK"):
			i++
		case EqualFold(argv[i], "COUNT"):
			i++
			if n, ok := ParseInt(argv[i]); ok && n > 0 {
				count = n
			}
		case EqualFold(argv[i], "GROUP") && i+2 < len(argv):
			group, consumer = argv[i+1], argv[i+2]
			i += 2
		}
	}
	keys := tx.Table.Find(argv).Keys.Positions(argv)
	for _, at := range keys {
		s := tx.streamAt(argv[at])
		if s == nil || at+len(keys) >= len(argv) {
			continue
		}
		word := argv[at+len(keys)]
		if group == nil {
			steps += tx.entriesWork(argv[at], s, min(count, entriesAfter(s, word)))
		} else {
			steps += groupedRead * tx.entriesWork(argv[at], s, min(count, entriesFor(s, word, group, consumer)))
		}
	}
	return steps
}

// entriesWork is the work of reading n entries of a stream, which are of its mean size.
func (tx *Tx) entriesWork(key []byte, s *keyspace.StreamLog, n int64) int64 {
	return max(n, tx.volume(key)*n/int64(max(s.Len(), 1)))
}

// entriesAfter is the number of entries that XREAD answers without a count. That of an ID that is none is 0.
func entriesAfter(s *keyspace.StreamLog, word []byte) int64 {
	after, bad := readAfter(s, word)
	if bad != nil {
		return 0
	}
	return newerThan(s, after)
}

func newerThan(s *keyspace.StreamLog, id keyspace.StreamID) int64 {
	from, ok := id.Next()
	if !ok {
		return 0
	}
	return int64(s.Len() - s.From(from))
}

// entriesFor is the number of entries that XREADGROUP answers without a count: those that are new, or those that a consumer has
// pending.
func entriesFor(s *keyspace.StreamLog, word, group, consumer []byte) int64 {
	g := s.Group(keyspace.Alias(group))
	if g == nil {
		return 0
	}
	if string(word) == ">" {
		return newerThan(s, g.Last)
	}
	if c := g.Consumer(keyspace.Alias(consumer)); c != nil {
		return int64(c.Pending())
	}
	return 0
}
