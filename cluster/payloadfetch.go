package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// maxFetched is the most payloads that one call asks for.
	maxFetched = 1000
	// fetchedBytes is the size in bytes from which on an answer gets no more payloads.
	fetchedBytes = 16 << 20
	// fetchTimeout bounds the wait for one node's answer.
	fetchTimeout = 10 * time.Second
)

// openPayloads opens the store of large payloads, in a directory that this process has locked, and has the machine use it.
func (n *Node) openPayloads() (err error) {
	n.payloads, err = payloads.Open(payloads.Options{
		DataDir: n.opts.DataDir, Inline: n.opts.InlineBytes, Fetch: n.fetchPayloads, Fatal: func(why error) { n.fatal(why.Error()) }, Log: n.log,
		Snapshots: func() ([]string, error) { return logstore.SnapshotNames(n.opts.DataDir) },
	})
	if err != nil {
		return err
	}
	n.machine.KeepPayloads(n.payloads)
	n.metrics.watchPayloads(n.payloads)
	return nil
}

// fetchPayloads asks the other nodes for payloads, one after the other until one has some. It begins with another node each
// time.
func (n *Node) fetchPayloads(ctx context.Context, want []payload.Digest) [][]byte {
	if !n.running.Load() {
		return nil
	}
	var w wire.Writer
	w.Uvarint(uint64(len(want)))
	for i := range want {
		w.Fixed(want[i][:])
	}
	holders := n.holders()
	for i := range holders {
		s := holders[(int(n.fetches.Add(1))+i)%len(holders)]
		b, err := n.askPayloads(ctx, s.Addr, w.B)
		if err != nil {
			n.log.Warn("another node could not be asked for a payload", "peer", s.ID, "error", err)
			continue
		}
		if list, err := decodePayloads(b); err == nil && len(list) > 0 {
			return list
		}
	}
	return nil
}

func (n *Node) askPayloads(ctx context.Context, addr string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	return n.peers.Ask(ctx, addr, callPayloads, request)
}

// holders returns the nodes that may have a payload: the other servers, and those that a snapshot came with.
func (n *Node) holders() []consensus.Server {
	all := n.others()
	if senders := n.adapter.senders.Load(); senders != nil {
		for _, s := range *senders {
			if s.ID != n.opts.NodeID && s.Addr != "" && !slices.ContainsFunc(all, func(o consensus.Server) bool { return o.ID == s.ID }) {
				all = append(all, s)
			}
		}
	}
	return all
}

func decodePayloads(b []byte) (list [][]byte, err error) {
	r := wire.NewReader(b)
	for range r.Count(1) {
		list = append(list, r.Bytes())
	}
	return list, r.Done()
}

// findPayloads answers fetchPayloads.
func (n *Node) findPayloads(asked []byte) ([]byte, error) {
	r := wire.NewReader(asked)
	want := make([]payload.Digest, min(r.Count(len(payload.Digest{})), maxFetched+1))
	for i := range want {
		copy(want[i][:], r.Fixed(len(want[i])))
	}
	if err := r.Done(); err != nil || len(want) > maxFetched {
		return nil, fmt.Errorf("cluster: malformed request for payloads (%d, %w)", len(want), err)
	}
	var w wire.Writer
	found := n.payloads.Find(want, fetchedBytes)
	w.Uvarint(uint64(len(found)))
	for _, b := range found {
		w.Bytes(b)
	}
	return w.B, nil
}
