package command

import "trireme/fsm/keyspace"

// readReady tells whether a call of XREAD would answer something.
func readReady(tx *Tx, argv [][]byte) bool {
	v := xRead(tx, NewArgs(argv))
	return !v.IsNil()
}

// groupReady tells whether a call of XREADGROUP would answer something, or has to make its
// consumer first.
func groupReady(tx *Tx, argv [][]byte) bool {
	p := readStreamRead(NewArgs(argv), tx.Now, true)
	for i, key := range p.keys {
		_, s, ok := find[*keyspace.StreamLog](tx, key)
		if !ok || string(p.ids[i]) != ">" {
			return true
		}
		g := s.Group(keyspace.Alias(p.group))
		if g == nil || s.Top().Compare(g.Last) > 0 || (!p.noAck && g.Consumer(keyspace.Alias(p.consumer)) == nil) {
			return true
		}
	}
	return len(p.keys) == 0
}
