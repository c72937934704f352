package cluster

import (
	"context"
	"fmt"

	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// maxFetched is the most payloads that one call asks for.
const maxFetched = 1000

// openPayloads opens the store of large payloads, in a directory that this process has locked, and has the machine use it.
func (n *Node) openPayloads() (err error) {
	n.payloads, err = payloads.Open(payloads.Options{
		DataDir: n.opts.DataDir, Inline: n.opts.InlineBytes, Fetch: n.fetchPayloads, Fatal: func(why error) { n.fatal(why.Error()) }, Log: n.log,
	})
	if err != nil {
		return err
	}
	n.machine.KeepPayloads(n.payloads)
	n.metrics.watchPayloads(n.payloads)
	return nil
}

// fetchPayloads asks the other nodes for payloads, one after the other until one has some.
func (n *Node) fetchPayloads(ctx context.Context, want []payload.Digest) [][]byte {
	if !n.running.Load() {
		return nil
	}
	var w wire.Writer
	w.Uvarint(uint64(len(want)))
	for i := range want {
		w.Fixed(want[i][:])
	}
	for _, s := range n.others() {
		b, err := n.peers.Ask(ctx, s.Addr, callPayloads, w.B)
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
	found := n.payloads.Find(want)
	w.Uvarint(uint64(len(found)))
	for _, b := range found {
		w.Bytes(b)
	}
	return w.B, nil
}
