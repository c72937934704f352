package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// nothingPending is the ID behind which nothing is pending: the largest that is no newEntries.
var nothingPending = []byte(keyspace.StreamID{Ms: math.MaxUint64, Seq: math.MaxUint64 - 1}.String())

// consumerCall is Prepare of XREADGROUP, whose consumer is made when the call comes in: the
// same call for what is pending behind everything, on the streams that don't have the consumer.
func consumerCall(tx *Tx, argv [][]byte) (call [][]byte) {
	p := readStreamRead(tx, NewArgs(argv), true)
	if p.noAck { // which waits without one
		return nil
	}
	var ids [][]byte
	_, first := streamOptions(argv)
	call = argv[:first:first]
	for _, key := range p.keys {
		_, s, ok := find[*keyspace.StreamLog](tx, key)
		if !ok {
			continue
		}
		if g := s.Group(keyspace.Alias(p.group)); g != nil && g.Consumer(keyspace.Alias(p.consumer)) == nil {
			call, ids = append(call, key), append(ids, nothingPending)
		}
	}
	if ids == nil {
		return nil
	}
	return append(call, ids...)
}

var (
	errStreamLost = reply.Error("UNBLOCKED the stream key no longer exists")
	errGroupLost  = reply.Error("NOGROUP the consumer group this client was blocked on no longer exists")
)

// groupLost is Lost of XREADGROUP: its group, or the stream that had it, is no longer there.
func groupLost(tx *Tx, argv [][]byte) *reply.Value {
	p := readStreamRead(tx, NewArgs(argv), true)
	for _, key := range p.keys {
		o, s, ok := find[*keyspace.StreamLog](tx, key)
		switch {
		case o == nil || !ok:
			return &errStreamLost
		case s.Group(keyspace.Alias(p.group)) == nil:
			return &errGroupLost
		}
	}
	return nil
}

// aloneStream is NAME options STREAMS key id of NAME options STREAMS key ... id ...
func aloneStream(argv [][]byte, key []byte) [][]byte {
	_, first := streamOptions(argv)
	for i, id := first, first+(len(argv)-first)/2; id < len(argv); i, id = i+1, id+1 {
		if string(argv[i]) == string(key) {
			return append(argv[:first:first], key, argv[id])
		}
	}
	return argv
}
