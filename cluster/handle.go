package cluster

import (
	"encoding/json"
	"errors"
	"runtime"
	"time"

	"trireme/cluster/hint"
	"trireme/fsm"
	"trireme/fsm/wire"
)

var (
	errNotRunning  = errors.New("cluster: the node is starting")
	errUnknownCall = errors.New("cluster: unknown call")
)

// handle answers the calls of other nodes.
func (n *Node) handle(from greeting, kind callKind, payload []byte, answer func([]byte, error)) {
	switch kind {
	case callHello:
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
	if from.cluster != n.clusterID() {
		answer(nil, ErrOtherCluster)
		return
	}
	switch kind {
	case callPropose:
		n.takePack(payload, answer)
	case callReadIndex:
		n.fence.join(func(p readPoint, err error) { answer(p.encode(), err) })
	case callConfirm:
		var w wire.Writer
		w.Uvarint(n.raft.CurrentTerm())
		answer(w.B, nil)
	case callTransfer:
		go func() { answer(nil, n.transferTo(string(payload))) }()
	case callCommitted:
		if p, err := decodePoint(payload); err == nil {
			n.learn(p)
		}
	case callHint:
		go func() {
			var q hint.Ask
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
	case callGone:
		n.gone(errGone)
		answer(nil, nil)
	case callReached:
		n.answerReached(payload, answer)
	default:
		answer(nil, errUnknownCall)
	}
}

// takePack takes another node's pack into the next entry.
func (n *Node) takePack(payload []byte, answer func([]byte, error)) {
	k, err := decodePack(payload)
	if err != nil {
		answer(nil, err)
		return
	}
	k.answer = func(outcomes []fsm.Outcome, err error, sure bool) {
		answer(answerPack(k, outcomes, err, sure), nil)
	}
	n.committer.take(k)
}

// self is what this node says of itself.
func (n *Node) self() hello {
	n.mu.Lock()
	h := hello{Node: n.identity.NodeID, Disk: n.identity.DiskID, Cluster: n.identity.ClusterID, Disks: n.identity.Disks, Phase: n.phase}
	h.Processes = n.introduction().processes
	n.mu.Unlock()
	h.List = listText(n.opts.InitialCluster)
	h.HTTP, h.Gossip, h.Version, h.Level = n.opts.HTTP, n.opts.Gossip, n.opts.Version, uint32(fsm.MaxLevel)
	h.Wall, h.Arch, h.Drained = wallTime(time.Now()), runtime.GOARCH, n.drained.Load()
	if n.running.Load() {
		h.Applied, _ = n.machine.Applied()
		h.Term, h.Servers = n.raft.CurrentTerm(), n.Servers()
		h.State = stateName(n.raft.State())
		h.ContactMs = n.age()
	}
	return h
}
