package cluster

import (
	"encoding/json"

	"github.com/trireme-dev/trireme/cluster/failover"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// handle answers the calls of other nodes.
func (n *Node) handle(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	switch kind {
	case callStatus:
		go func() { answer(json.Marshal(n.self())) }()
		return
	case callAdopt:
		go func() {
			var a adoption
			if err := json.Unmarshal(payload, &a); err != nil {
				answer(nil, err)
				return
			}
			answer(nil, n.adopt(a))
		}()
		return
	}
	if kind == callProbe { // also before this node runs
		n.answerProbe(payload, answer)
		return
	}
	if !n.running.Load() {
		answer(nil, errNotRunning)
		return
	}
	if kind == callJoin { // it comes from a node that belongs to no cluster yet
		n.answerJoin(payload, answer)
		return
	}
	if from.Cluster != n.clusterID() {
		answer(nil, ErrOtherCluster)
		return
	}
	switch kind {
	case callPropose:
		n.takeBatch(payload, answer)
	case callReadIndex:
		n.quorum.join(func(p readPoint, err error) { answer(p.encode(), err) })
	case callConfirm:
		var w wire.Writer
		w.Uvarint(n.raft.CurrentTerm())
		answer(w.B, nil)
	case callTransfer:
		go func() { answer(nil, n.transferTo(string(payload))) }()
	case callCommitIndex:
		if p, err := decodePoint(payload); err == nil {
			n.advanceCommit(p)
		}
	case callFailover:
		go func() {
			var q failover.Ask
			if err := json.Unmarshal(payload, &q); err != nil {
				answer(nil, err)
				return
			}
			answer(json.Marshal(n.watcher.Answer(q)))
		}()
	case callMonitor:
		n.answerMonitor(payload, answer)
	case callMoved:
		n.answerMoved(payload, answer)
	case callRemove, callReplace:
		n.answerChange(kind, payload, answer)
	case callRemoved:
		n.hearRemoved(from)
		answer(nil, nil)
	case callReached:
		n.answerReached(payload, answer)
	default:
		answer(nil, errUnknownCall)
	}
}

// takeBatch puts another node's batch into the next entry.
func (n *Node) takeBatch(payload []byte, answer func([]byte, error)) {
	b, err := decodeBatch(payload)
	if err != nil {
		answer(nil, err)
		return
	}
	b.answer = func(outcomes []fsm.Outcome, err error, sure bool) {
		answer(answerBatch(b, outcomes, err, sure), nil)
	}
	n.committer.add(b)
}
