package cluster

import (
	"encoding/json"

	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
)

// handle answers the calls of other nodes.
func (n *Node) handle(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	switch {
	case n.handleEarly(from, kind, payload, answer):
	case !n.running.Load():
		answer(nil, errNotRunning)
	case kind == callJoin: // it comes from a node that belongs to no cluster yet
		n.answerJoin(payload, answer)
	case from.Cluster != n.clusterID():
		answer(nil, ErrOtherCluster)
	case !n.handleReplication(from, kind, payload, answer):
		n.handleMembership(from, kind, payload, answer)
	}
}

// handleEarly answers the calls that are answered also before this node runs, and reports whether it is one.
func (n *Node) handleEarly(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) bool {
	switch kind {
	case callStatus:
		go func() { answer(json.Marshal(n.self())) }()
	case callAdopt:
		go func() {
			var a adoption
			if err := json.Unmarshal(payload, &a); err != nil {
				answer(nil, err)
				return
			}
			answer(nil, n.adopt(a))
		}()
	case callProbe:
		n.answerProbe(payload, answer)
	case callAppend:
		if len(payload) > 0 {
			return false
		}
		go func() { answer(nil, n.admitProcess(from, transport.ForRaft)) }() // what raft's own connections are asked when they open
	default:
		return false
	}
	return true
}

// handleReplication answers the calls about the log and its leader, and reports whether it is one.
func (n *Node) handleReplication(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) bool {
	switch kind {
	case callPropose:
		n.takeBatch(payload, answer)
	case callReadIndex:
		n.answerReadIndex(from, payload, answer)
	case callTransfer:
		go func() { answer(nil, n.transferTo(string(payload))) }()
	default:
		return n.consensus.Handle(kind, payload, answer)
	}
	return true
}

// handleMembership answers the calls about nodes and what they serve.
func (n *Node) handleMembership(from transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	switch kind {
	case callMonitor:
		n.answerMonitor(payload, answer)
	case callMoved:
		n.answerMoved(payload, answer)
	case callRemove, callReplace:
		n.answerChange(kind, payload, answer)
	case callRemoved:
		n.hearRemoved(from)
		answer(nil, nil)
	case callUsed:
		n.hearUses(payload)
	case callPayloads:
		go func() { answer(n.findPayloads(payload)) }()
	case callReached:
		n.answerReached(payload, answer)
	case callQuarantine:
		n.answerQuarantine(payload, answer)
	case callHistory:
		go func() { answer(n.history()) }()
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
