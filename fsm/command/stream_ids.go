package command

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errStreamID      = reply.Error("ERR Invalid stream ID specified as stream command argument")
	errIntervalStart = reply.Error("ERR invalid start ID for the interval")
	errIntervalEnd   = reply.Error("ERR invalid end ID for the interval")
)

// maxIDText is the length from which on Redis looks at no ID.
const maxIDText = 128

// parseStreamID reads an ID, where missing is the sequence number of a bare time. An ID
// of the form time-* has no number if auto is allowed, and tells so.
func parseStreamID(word []byte, missing uint64, auto bool) (id keyspace.StreamID, open, ok bool) {
	if len(word) >= maxIDText {
		return id, false, false
	}
	word, _, _ = bytes.Cut(word, []byte{0}) // Redis reads up to a zero byte
	ms, seq, both := strings.Cut(keyspace.Alias(word), "-")
	if id.Ms, ok = parseUnsigned(ms); !ok {
		return id, false, false
	}
	switch {
	case !both:
		id.Seq = missing
	case auto && seq == "*":
		return id, true, true
	default:
		id.Seq, ok = parseUnsigned(seq)
	}
	return id, false, ok
}

// parseUnsigned reads a number of 64 bits as Redis does: what isn't a plain one goes to
// C's strtoull, which skips blanks, takes a sign, and leading zeros.
func parseUnsigned(s string) (uint64, bool) {
	if n, ok := parseIntString(s); ok {
		return uint64(n), n >= 0
	}
	digits := strings.TrimLeft(s, " \t\n\v\f\r")
	negative := strings.HasPrefix(digits, "-")
	if negative || strings.HasPrefix(digits, "+") {
		digits = digits[1:]
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}

// streamID reads an ID in full or a bare time, which gets the sequence number 0.
func (a *Args) streamID() keyspace.StreamID {
	id, _, ok := parseStreamID(a.Bytes(), 0, false)
	if !ok {
		a.Fail(errStreamID)
	}
	return id
}

// streamIDs reads the next n words as IDs.
func (a *Args) streamIDs(n int) []keyspace.StreamID {
	ids := make([]keyspace.StreamID, 0, n)
	for range n {
		ids = append(ids, a.streamID())
	}
	return ids
}

// looseID is streamID that also takes - and + for the ends.
func looseID(word []byte, missing uint64) (id keyspace.StreamID, ok bool) {
	switch string(word) {
	case "-":
		return id, true
	case "+":
		return keyspace.MaxStreamID, true
	}
	id, _, ok = parseStreamID(word, missing, false)
	return id, ok
}

// bound reads an end of an interval; behind ( it is excluded.
func bound(word []byte, missing uint64, step func(keyspace.StreamID) (keyspace.StreamID, bool), e reply.Value) (id keyspace.StreamID, bad *reply.Value) {
	ok := false
	if len(word) > 1 && word[0] == '(' {
		if id, _, ok = parseStreamID(word[1:], missing, false); !ok {
			return id, &errStreamID
		}
		if id, ok = step(id); !ok {
			return id, &e
		}
		return id, nil
	}
	if id, ok = looseID(word, missing); !ok {
		return id, &errStreamID
	}
	return id, nil
}

// startID reads the start of an interval.
func (a *Args) startID(word []byte) keyspace.StreamID {
	id, bad := bound(word, 0, keyspace.StreamID.Next, errIntervalStart)
	if bad != nil {
		a.Fail(*bad)
	}
	return id
}

// endID reads the end of an interval.
func (a *Args) endID(word []byte) keyspace.StreamID {
	id, bad := bound(word, math.MaxUint64, keyspace.StreamID.Prev, errIntervalEnd)
	if bad != nil {
		a.Fail(*bad)
	}
	return id
}

// shownID is an ID as a reply.
func shownID(id keyspace.StreamID) reply.Value { return reply.Bulk(id.String()) }

// shownEntry is an entry as a reply: its ID, and its fields and values.
func shownEntry(e keyspace.StreamEntry) reply.Value {
	words := make([]reply.Value, 0, e.Count())
	e.Words(func(w string) { words = append(words, reply.Bulk(w)) })
	return reply.Array(shownID(e.ID), reply.Array(words...))
}
