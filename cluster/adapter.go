package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

// adapter is the state machine of this node's log: the Machine, and what a node does when it applies an entry.
type adapter struct {
	m       *fsm.Machine
	ceiling *clock.Ceiling
	// committed is called before entries are applied.
	committed func()
	outcomes  func([]fsm.Outcome) // this node's share is woken here
	// charge is told how long an entry took, in the log and to apply.
	charge func(now time.Time, took time.Duration, outcomes []fsm.Outcome)
	// logged estimates how long this node's log took for an entry of so many bytes.
	logged   func(bytes int) time.Duration
	restored func()
	// replaced is called when an entry has replaced the state by a backup's, after its outcomes were told.
	replaced func()
	// configured is called when the servers of the cluster have changed.
	configured func()
	fatal      func(reason string)
	observe    func(bytes int, took time.Duration)
	forked     func(took time.Duration)

	receiver // of the snapshots of other nodes

	fragments int // bytes of a large entry that have come before its rest
	poisonGuard
	stopped bool // an entry could not be applied: none is any more

	// Totals of what was applied since the last snapshot; took is in nanoseconds.
	bytes, entries, commands, took atomic.Int64
	// written is what the store of payloads had written to segments then.
	written atomic.Int64
}

// refusal is the answer of an entry that this node could not apply.
type refusal struct{ err error }

// Apply applies committed entries. An entry that can't be followed, and a panic, stop the process: halting is better than
// differing from the others.
func (a *adapter) Apply(entries []consensus.Entry) []any {
	begin, size := time.Now(), 0
	a.committed()
	a.prefetch(entries)
	results := make([]any, len(entries))
	for i := range entries {
		e := &entries[i]
		if e.Command {
			size += len(e.Data)
		}
		switch {
		case a.stopped:
			results[i] = refusal{errStopped}
		case a.holds(e):
			results[i] = refusal{fsm.ErrPoison}
		default:
			results[i] = a.one(e)
		}
	}
	a.bytes.Add(int64(size))
	a.entries.Add(int64(len(entries)))
	took := time.Since(begin)
	a.took.Add(int64(took))
	a.observe(size, took)
	return results
}

// length returns the number of log bytes that the outcomes of an entry are charged for: the end of a large entry is charged for its fragments too.
func (a *adapter) length(data []byte) int {
	n := len(data)
	switch {
	case fsm.IsFragment(data):
		a.fragments += n
	case fsm.IsRest(data):
		n, a.fragments = n+a.fragments, 0
	}
	return n
}

// errStopped answers the entries after one that could not be applied.
var errStopped = errors.New("cluster: this node has stopped at an earlier entry")

// one applies one entry.
func (a *adapter) one(e *consensus.Entry) any {
	if !e.Command {
		a.configured()
		a.m.Skip(e.Index, e.Term) // a read waits for that index, too
		return nil
	}
	for _, n := range a.orders.At(e.Index) {
		a.m.Isolate(n)
	}
	began := time.Now()
	outcomes, err := a.apply(e)
	if err != nil {
		a.stopped = true
		a.fatal(fmt.Sprintf("log entry %d of term %d can't be applied: %v", e.Index, e.Term, err))
		return refusal{err}
	}
	now := time.Now()
	a.passed(e.Index)
	a.charge(now, now.Sub(began)+a.logged(a.length(e.Data)), outcomes)
	failpoint.Eval(failpoint.ApplyBeforeReply)
	a.outcomes(outcomes)
	if fsm.Replaced(outcomes) {
		a.replaced()
	}
	if n, missed := fsm.Missed(outcomes); missed {
		a.missed(n)
	}
	a.commands.Add(commandsIn(outcomes))
	return outcomes
}

// commandsIn counts the commands that outcomes belong to.
func commandsIn(outcomes []fsm.Outcome) (n int64) {
	for i := range outcomes {
		if r, ok := outcomes[i].Value.(fsm.Results); ok {
			n += int64(len(r.Values))
		}
	}
	return n
}

// restart counts what is applied from now on.
func (a *adapter) restart() {
	a.bytes.Store(0)
	a.entries.Store(0)
	a.commands.Store(0)
	a.took.Store(0)
	a.written.Store(a.files.Stats().Written)
}

// since returns the totals of what was applied since the last snapshot.
func (a *adapter) since() appliedSince {
	return appliedSince{files: a.files.Stats().Written - a.written.Load(), bytes: a.bytes.Load(), entries: a.entries.Load(), commands: a.commands.Load(), took: time.Duration(a.took.Load())}
}

func (a *adapter) apply(e *consensus.Entry) (o []fsm.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	o, err = a.m.Apply(e.Index, e.Term, e.Data)
	a.ceiling.Applied(e.Term, a.m.Time())
	return o, err
}

// Reached reports whether the entry at index was applied.
func (a *adapter) Reached(index uint64) bool { return a.m.Reached(index) }

// Snapshot forks the state, in constant time. The fork is written out while applies go on. What it names is durable before
// raft closes the snapshot, and stays as long as that does.
func (a *adapter) Snapshot() (write func(io.Writer) error, done func(), err error) {
	if a.poisoned.Load() != nil {
		return nil, nil, fsm.ErrPoison // raft would take everything after the entry for applied
	}
	begin := time.Now()
	a.restart()
	a.m.MarkSaved()
	pin := a.files.Pin()
	f := a.m.Fork()
	a.forked(time.Since(begin))
	return func(w io.Writer) error { return writeSnapshot(w, f, a.files) }, pin.Settle, nil
}

// writeSnapshot writes a fork out, compressed: our own sums are inside, raft's CRC-64 outside. Payloads are named if files is
// not nil.
func writeSnapshot(w io.Writer, f *fsm.Frozen, files payload.Files) error {
	enc, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := f.WriteReferences(enc, files); err != nil {
		enc.Close()
		return err
	}
	failpoint.Eval(failpoint.MidSnapshot)
	return enc.Close()
}

// maxWindow bounds what a damaged compressed snapshot may make the decoder allocate.
const maxWindow = 64 << 20

// Restore replaces the state by a snapshot's; on an error the state is as before. It is decompressed meanwhile, on
// another core if there is one: decoding, which takes longer, goes on at the same time.
func (a *adapter) Restore(r io.Reader) error {
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	defer dec.Close()
	failpoint.Eval(failpoint.MidRestore)
	if err := a.m.Restore(dec); err != nil {
		if errors.Is(err, fsm.ErrFormerLevel) {
			a.fatal(fmt.Sprintf("a snapshot can't be restored: %v", err))
		}
		return err
	}
	a.ceiling.Restored(a.m.Time())
	a.finish()
	a.overtaken()
	a.restored()
	return nil
}

const (
	// digestEntries is the number of entries between two digests.
	digestEntries = 100_000
	// digestShare bounds the time of digests to one part in digestShare of a processor, if the leader's own digest takes as long as
	// those of other nodes.
	digestShare = 20
)

// digests keeps track of the digests that this node takes of its state.
type digests struct {
	begins uint64       // entries from here on are new: those before are applied again, at a start
	busy   atomic.Bool  // one is being taken
	took   atomic.Int64 // by the last one, in nanoseconds
}

// wants reports whether this node hashes the state as it is at an entry. It does not while it applies again what it
// applied before a restart: nobody asks for the digests of those states any more, and after each fork writes have to
// copy what they change. Nor does it begin a digest before the last one has ended.
func (d *digests) wants(index uint64) bool { return index >= d.begins && !d.busy.Load() }

// pace returns how long the leader waits after one digest before it has the next one taken.
func (d *digests) pace() time.Duration { return time.Duration(d.took.Load()) * digestShare }

// digest hashes a fork in the background and reports the result.
func (n *Node) digest(f *fsm.Frozen) {
	n.digests.busy.Store(true)
	n.wg.Go(func() {
		began := time.Now()
		d := f.Digest()
		n.digests.took.Store(int64(time.Since(began)))
		n.digests.busy.Store(false)
		n.log.Info("digest", "index", f.Index(), "digest", d)
		body := fsm.ReportDigest.Body(fsm.DigestReport{Index: f.Index(), Node: n.opts.NodeID, Digest: d})
		for range 20 {
			if leader, ok := n.leader(); ok {
				if _, err := n.proposeOnce(context.Background(), leader, fsm.ReportDigest.Code, body); err == nil || n.failed.Load() {
					return
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// verdict stops this node if its state differs from that of a majority. Its files
// stay for inspection; it comes back under a new id.
func (n *Node) verdict(v fsm.DigestVerdict) {
	for _, node := range v.Divergent {
		n.log.Error("a node's state differs from the majority's", "peer", node, "index", v.Index)
		if node == n.opts.NodeID {
			n.fatal(fmt.Sprintf("the state at index %d differs from the other nodes'; keep the data directory for inspection and let the node come back under a new id", v.Index))
		}
	}
}
