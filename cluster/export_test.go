package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// The calls that the attacks of examine_test.go forge.
const (
	CallPropose = callPropose
	CallRemoved = callRemoved
	CallStatus  = callStatus
)

// ProposeBody returns the payload of a CallPropose that runs one request.
func ProposeBody(code uint16, body []byte) []byte {
	return (&batch{requests: []fsm.Request{{Code: code, Body: body}}}).encode()
}

// CommonLevel returns the highest feature level that every server has answered, 0 if one doesn't answer.
func (n *Node) CommonLevel(ctx context.Context) env.Level { return n.commonLevel(ctx) }

// Pending returns the number of requests of this node that have no outcome yet.
func (n *Node) Pending() int { return n.proposer.Pending() }

// Fail ends the process as a failing part of the node does.
func (n *Node) Fail(reason string) { n.fatal(reason) }

// MovePayloads writes the large payloads of this node to its disk.
func (n *Node) MovePayloads() error { return n.payloads.MoveAll() }

// Defaults completes options as Open does.
func Defaults(o *Options) { o.defaults() }

// AgreedOnSilence reports whether this node has campaigned because a majority heard nothing from the leader.
func (n *Node) AgreedOnSilence() bool {
	seen := n.consensus.(*consensus.Replica).Elections()
	return seen.Silent.Load() > 0 && seen.Fired.Load() > 0
}

// LeaseTime is the duration of a session lease.
const LeaseTime = leaseTime

// Tick proposes an entry of its own, as a leader does when its term begins and when its reads need a newer time.
func (n *Node) Tick() error {
	_, err := n.proposeAlone(n.entry(n.openTerm.Load()), fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{}))
	return err
}

// LastIndex returns the index of the last entry in the node's log.
func (n *Node) LastIndex() uint64 { return n.consensus.LastIndex() }

// HasPayloads returns how many of the payloads this node itself has.
func (n *Node) HasPayloads(of []payload.Digest) int { return len(n.payloads.Find(of, 1<<40)) }

// FetchedPayloads returns how many payloads other nodes have sent to this one.
func (n *Node) FetchedPayloads() int64 { return n.payloads.Stats().Fetched }

// HurryReceives has the next n snapshots that arrive, at any node, fail if payloads are still to be fetched at their end. It returns a
// function that ends that.
func HurryReceives(n int32) (end func()) {
	var left atomic.Int32
	left.Store(n)
	before := waitReceived
	waitReceived = func() time.Duration {
		if left.Add(-1) >= 0 {
			return 0
		}
		return time.Minute
	}
	return func() { waitReceived = before }
}
