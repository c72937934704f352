package cluster

import (
	"runtime"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/internal/failpoint"
)

const (
	// fragmentBytes is the length of a fragment of a large entry: all others may have to wait for one.
	fragmentBytes = 512 << 10
	// undivided is the most bytes of requests with which an entry is written whole.
	undivided = 768 << 10
)

// largeEntry is an entry whose requests are written in fragments (fsm.Fragment), in turn with entries of others. Until the last fragment is in
// raft, nothing of it can be applied, so it can be given up.
type largeEntry struct {
	in    *entryInRaft
	bytes []byte // the encoded requests
	sent  int
}

// inFragments reports whether an entry with so many bytes of requests is written in fragments.
func (n *Node) inFragments(size int) bool { return size > undivided }

// large reports whether a batch is written in fragments, so that it waits for the large entry that is under way, as costly ones do.
func (n *Node) large(b *batch) bool { return n.inFragments(fsm.RequestsSize(b.requests)) }

// beginFragments writes the first fragment of an entry, which is in flight.
func (gc *groupCommitter) beginFragments(in *entryInRaft, requests []fsm.Request) {
	w := wire.Writer{B: make([]byte, 0, fsm.RequestsSize(requests))}
	fsm.EncodeRequests(&w, requests)
	large := &largeEntry{in: in, bytes: w.B}
	if !gc.enter(in) {
		return
	}
	gc.mu.Lock()
	leads := gc.term == in.term
	if leads {
		gc.large, gc.costly.inFlight = large, true
	}
	gc.mu.Unlock()
	if !leads {
		gc.refuse(in, errNotLeading)
		gc.doneFragment()
		return
	}
	gc.writeFragment(large)
}

// nextFragment returns the large entry whose next fragment is to be written, which is in flight from then on; nil if it is not its turn.
func (gc *groupCommitter) nextFragment() *largeEntry {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	others := len(gc.queue) > gc.costly.waiting
	if gc.large == nil || gc.inFlight > 0 || others && !gc.costly.turn {
		return nil
	}
	gc.inFlight++
	gc.costly.inFlight, gc.costly.turn = true, false
	return gc.large
}

// writeFragment gives raft the next fragment, or the entry that follows the last one.
func (gc *groupCommitter) writeFragment(large *largeEntry) {
	in, rest := large.in, large.bytes[large.sent:]
	if len(rest) <= undivided {
		gc.mu.Lock()
		mine := gc.large == large
		if mine {
			gc.large = nil
		}
		gc.mu.Unlock()
		if !mine || !gc.leave(in) { // refused, or lost
			gc.doneFragment()
			return
		}
		gc.wg.Done()
		e := gc.n.entry(in.term)
		e.LowWaters, in.stamp, in.costly = in.lowWaters(), e.Stamp, true
		gc.propose(in, e.EncodeRest(large.sent, rest))
		return
	}
	p := fsm.Fragment{Term: in.term, At: large.sent, Total: len(large.bytes), Bytes: rest[:fragmentBytes]}
	large.sent += fragmentBytes
	written := gc.n.consensus.Propose(p.Encode())
	failpoint.Eval(failpoint.AfterPropose)
	go func() { // it never ends if raft has lost the fragment
		if _, err := written.Wait(); err != nil {
			gc.giveUp(large, err)
		}
		runtime.Gosched()
		gc.doneFragment()
	}()
}

// giveUp ends a large entry of which a fragment could not be written: it certainly is not applied.
func (gc *groupCommitter) giveUp(large *largeEntry, why error) {
	gc.mu.Lock()
	if gc.large == large {
		gc.large = nil
	}
	gc.mu.Unlock()
	gc.refuse(large.in, why)
}

// refuse answers an entry of which certainly nothing is applied, unless it was answered.
func (gc *groupCommitter) refuse(in *entryInRaft, why error) {
	if !gc.leave(in) {
		return
	}
	defer gc.wg.Done()
	gc.evictor.release(in.room)
	for _, b := range in.batches {
		b.answer(nil, why, true)
	}
}

// doneFragment ends a fragment that was in flight.
func (gc *groupCommitter) doneFragment() { gc.done(&entryInRaft{costly: true}) }
