package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errTimeoutInteger = reply.Error("ERR timeout is not an integer or out of range")
	errGroupOption    = reply.Error("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.")
	errNoAckOption    = reply.Error("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.")
	errGroupMissing   = reply.Error("ERR Missing GROUP option for XREADGROUP")
	errNewOnlyGroups  = reply.Error("ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.")
	errUnbalanced     = reply.Error("ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified.")
	errUnbalancedNew  = reply.Error("ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified.")
)

// streamRead is the arguments of XREAD and XREADGROUP.
type streamRead struct {
	grouped         bool // XREADGROUP
	group, consumer []byte
	noAck           bool
	count           int64 // of entries from each stream, 0 for all
	keys, ids       [][]byte
}

// readStreamRead reads options and, behind STREAMS, keys and as many IDs.
func readStreamRead(tx *Tx, a *Args, grouped bool) streamRead {
	p := streamRead{grouped: grouped}
	for a.Left() > 0 && !a.bad && p.keys == nil {
		p.option(tx, a)
	}
	switch {
	case p.keys == nil:
		a.Fail(ErrSyntax)
	case grouped && p.group == nil:
		a.Fail(errGroupMissing)
	}
	return p
}

func (sr *streamRead) option(tx *Tx, a *Args) {
	switch more := a.Left() - 1; {
	case more > 0 && a.Word("BLOCK"):
		if _, bad := parseBlock(a.Bytes(), tx.Now); tx.Origin == Script {
			a.Fail(errBlockInScript(sr.grouped))
		} else if bad != nil {
			a.Fail(*bad)
		}
	case more > 0 && a.Word("COUNT"):
		sr.count = max(a.Int(), 0)
	case more > 0 && a.Word("STREAMS"):
		sr.streams(a)
	case more > 1 && a.Word("GROUP"):
		if !sr.grouped {
			a.Fail(errGroupOption)
		}
		sr.group, sr.consumer = a.Bytes(), a.Bytes()
	case a.Word("NOACK"):
		if sr.noAck = true; !sr.grouped {
			a.Fail(errNoAckOption)
		}
	default:
		a.Fail(ErrSyntax)
	}
}

// errBlockInScript refuses BLOCK in a script, which never waits.
func errBlockInScript(grouped bool) reply.Value {
	name := "XREAD"
	if grouped {
		name = "XREADGROUP"
	}
	return reply.Error("ERR " + name + " command is not allowed with BLOCK option from scripts")
}

func (sr *streamRead) streams(a *Args) {
	n := a.Left()
	switch {
	case n%2 == 1 && sr.grouped:
		a.Fail(errUnbalancedNew)
	case n%2 == 1:
		a.Fail(errUnbalanced)
	}
	sr.keys, sr.ids = a.Take(n/2), a.Take(n/2)
}

// parseBlock reads a timeout in milliseconds.
func parseBlock(word []byte, now int64) (ms int64, bad *reply.Value) {
	ms, ok := ParseInt(word)
	switch {
	case !ok:
		return 0, &errTimeoutInteger
	case ms < 0:
		return 0, &errTimeoutNegative
	case ms > math.MaxInt64-now:
		return 0, &errTimeoutRange
	}
	return ms, nil
}

// streamOptions are the places of BLOCK's timeout and of the first key in a call of
// XREAD or XREADGROUP, 0 for what is not there.
func streamOptions(argv [][]byte) (block, keys int) {
	for i := 1; i < len(argv); i++ {
		switch {
		case EqualFold(argv[i], "BLOCK"):
			i++
			block = i
		case EqualFold(argv[i], "COUNT"):
			i++
		case EqualFold(argv[i], "GROUP"):
			i += 2
		case EqualFold(argv[i], "STREAMS"):
			return block, i + 1
		case !EqualFold(argv[i], "NOACK"):
			return block, 0
		}
	}
	return block, 0
}

func asksToWait(argv [][]byte) bool {
	block, _ := streamOptions(argv)
	return block > 0
}

// blockTimeout is Waits of XREAD and XREADGROUP.
func blockTimeout(argv [][]byte, now int64) (ms int64, ok bool) {
	at, _ := streamOptions(argv)
	if at == 0 || at >= len(argv) {
		return 0, false
	}
	ms, bad := parseBlock(argv[at], now)
	return ms, bad == nil
}

// streamKeys are the first half of the words behind STREAMS.
var streamKeys = keyPlaces{Find: func(argv [][]byte) (keys []int) {
	_, first := streamOptions(argv)
	if first == 0 {
		return nil
	}
	for i := range max(len(argv)-first, 0) / 2 {
		keys = append(keys, first+i)
	}
	return keys
}}

// pinStreams is Pin of XREAD: $ is the ID that is the last one when the call arrives.
func pinStreams(tx *Tx, argv [][]byte) [][]byte {
	pinned := append([][]byte(nil), argv...)
	for _, i := range streamKeys.Positions(argv) {
		_, first := streamOptions(argv)
		id := i + (len(argv)-first)/2
		if string(argv[id]) != "$" {
			continue
		}
		if _, s, ok := find[*keyspace.StreamLog](tx, argv[i]); ok {
			pinned[id] = []byte(s.Last().String())
		}
	}
	return pinned
}

// streamReady returns what XREAD or XREADGROUP with these arguments, pinned, would answer
// now: a waiting caller looks before calling again. An error about one stream is the answer
// whatever the others have.
func streamReady(tx *Tx, argv [][]byte) Arrival {
	a := &Args{argv: argv, at: 1}
	p := readStreamRead(tx, a, EqualFold(argv[0], "XREADGROUP"))
	if _, ok := a.Done(); !ok {
		return Mistake
	}
	found := Nothing
	for i, key := range p.keys {
		_, s, ok := find[*keyspace.StreamLog](tx, key)
		if !ok {
			return Mistake
		}
		found = max(found, p.ready(s, p.ids[i]))
	}
	return found
}

// ready returns what there is in one stream.
func (sr *streamRead) ready(s *keyspace.StreamLog, word []byte) Arrival {
	var ok bool
	var bad *reply.Value
	var from keyspace.StreamID
	if sr.grouped {
		g := s.Group(keyspace.Alias(sr.group))
		if from, bad = groupReadAfter(word); g == nil {
			return Mistake
		}
		ok = servesFrom(s, g, from)
	} else {
		from, bad = readAfter(s, word)
		ok = s.Top().Compare(from) > 0
	}
	switch {
	case bad != nil:
		return Mistake
	case ok:
		return Something
	}
	return Nothing
}

func xRead(tx *Tx, a *Args) reply.Value {
	p := readStreamRead(tx, a, false)
	if err, ok := a.Done(); !ok {
		return err
	}
	from := make([]keyspace.StreamID, len(p.keys))
	for i, key := range p.keys {
		_, s, ok := find[*keyspace.StreamLog](tx, key)
		if !ok {
			return ErrWrongType
		}
		var bad *reply.Value
		if from[i], bad = readAfter(s, p.ids[i]); bad != nil {
			return *bad
		}
	}
	var found []reply.Value
	for i, key := range p.keys {
		if _, s, _ := find[*keyspace.StreamLog](tx, key); s.Top().Compare(from[i]) > 0 {
			start, _ := from[i].Next()
			found = append(found, reply.Bulk(string(key)), reply.Array(between(tx, s, start, keyspace.MaxStreamID, p.count, false)...))
		}
	}
	return keyed(found)
}

func keyed(found []reply.Value) reply.Value {
	if found == nil {
		return reply.NilArray()
	}
	return reply.Keyed(found...)
}

// readAfter is the ID behind which XREAD reads a stream: $ is the last that there was, +
// the one before the last that is there.
func readAfter(s *keyspace.StreamLog, word []byte) (id keyspace.StreamID, bad *reply.Value) {
	switch string(word) {
	case "$":
		return s.Last(), nil
	case "+":
		if s.Len() > 0 {
			id, _ = s.Top().Prev()
		}
		return id, nil
	case ">":
		return id, &errNewOnlyGroups
	}
	id, _, ok := parseStreamID(word, 0, false)
	if !ok {
		return id, &errStreamID
	}
	return id, nil
}
