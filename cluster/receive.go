package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm"
)

// receiveTime bounds the wait, at the end of another node's snapshot, for the payloads that it names. raft waits with it, and
// grants no votes. Fetching goes on beyond it, and the leader sends a snapshot again.
const receiveTime = 5 * time.Second

// waitReceived returns the wait for one snapshot. Tests change it.
var waitReceived = func() time.Duration { return receiveTime }

// errFetching refuses a snapshot whose payloads are not all here yet.
var errFetching = errors.New("cluster: payloads that a snapshot names are being fetched; it is wanted again when they are here")

// receiver fetches the payloads that other nodes' snapshots name and that this node lacks.
type receiver struct {
	files *payloads.Store
	mu    sync.Mutex
	last  *payloads.Gathering // nil if there was none, or its snapshot is in use
	// senders have what is asked for, in addition to the servers that this node knows. A node that joins knows none.
	senders atomic.Pointer[[]consensus.Server]
}

// begin begins to gather for a snapshot. It refuses while the payloads of the one before are being fetched.
func (r *receiver) begin(senders []consensus.Server) (*payloads.Gathering, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	former := r.last
	if former != nil {
		select {
		case <-former.Ended():
		default:
			return nil, errFetching
		}
	}
	r.senders.Store(&senders)
	r.last = r.files.Gather(context.Background(), former)
	return r.last, nil
}

// finish says that the snapshot that came last is in use, or that none will be.
func (r *receiver) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		r.last.Done()
		r.last = nil
	}
}

// Receive returns a reader of another node's snapshot, which ends when all payloads that it names are on this node's disk, and
// fails if they are not there in time.
func (a *adapter) Receive(senders []consensus.Server, snapshot io.Reader) io.Reader {
	g, err := a.receiver.begin(senders)
	if err != nil {
		return failed{err}
	}
	in, out := io.Pipe()
	go func() {
		err := readNames(in, g)
		g.End(err)
		io.Copy(io.Discard, in) // of a snapshot that is damaged, or names nothing; fails only with what its writer knows
	}()
	return &arriving{snapshot: snapshot, names: out, gathering: g}
}

// failed is a reader that fails.
type failed struct{ err error }

// Read fails.
func (f failed) Read([]byte) (int, error) { return 0, f.err }

// readNames has the payloads that a snapshot names gathered.
func readNames(snapshot io.Reader, g *payloads.Gathering) error {
	dec, err := zstd.NewReader(snapshot, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	defer dec.Close()
	return fsm.SnapshotReferences(dec, g.Want)
}

// arriving reads a snapshot that arrives.
type arriving struct {
	snapshot  io.Reader
	names     *io.PipeWriter
	gathering *payloads.Gathering
	end       error // nil before the end
}

// Read reads on.
func (ar *arriving) Read(b []byte) (int, error) {
	if ar.end != nil {
		return 0, ar.end
	}
	n, err := ar.snapshot.Read(b)
	if n > 0 {
		if _, err := ar.names.Write(b[:n]); err != nil {
			return n, fmt.Errorf("cluster: receive a snapshot: %w", err)
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		ar.names.Close()
		if ar.end = ar.wait(); ar.end == nil {
			ar.end = io.EOF
		}
	case err != nil:
		ar.names.CloseWithError(err)
		ar.end = err
	}
	return n, ar.end
}

// wait waits for the payloads.
func (ar *arriving) wait() error {
	select {
	case <-ar.gathering.Ended():
		return ar.gathering.Err()
	case <-time.After(waitReceived()):
		return errFetching
	}
}
