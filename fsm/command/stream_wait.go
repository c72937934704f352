package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// groupReady is streamReady of XREADGROUP, which also has something to do when its
// consumer is not there yet: a call that waits makes it first.
func groupReady(tx *Tx, argv [][]byte) Arrival {
	if found := streamReady(tx, argv); found != Nothing {
		return found
	}
	p := readStreamRead(tx, NewArgs(argv), true)
	for _, key := range p.keys {
		_, s, _ := find[*keyspace.StreamLog](tx, key)
		if !p.noAck && s.Group(keyspace.Alias(p.group)).Consumer(keyspace.Alias(p.consumer)) == nil {
			return Something
		}
	}
	return Nothing
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
