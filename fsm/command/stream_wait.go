package command

import "github.com/trireme-dev/trireme/fsm/keyspace"

// groupReady is streamReady of XREADGROUP, which also has something to do when its
// consumer is not there yet: a call that waits makes it first.
func groupReady(tx *Tx, argv [][]byte) bool {
	if streamReady(tx, argv) {
		return true
	}
	p := readStreamRead(tx, NewArgs(argv), true)
	for _, key := range p.keys {
		_, s, _ := find[*keyspace.StreamLog](tx, key)
		if !p.noAck && s.Group(keyspace.Alias(p.group)).Consumer(keyspace.Alias(p.consumer)) == nil {
			return true
		}
	}
	return false
}
