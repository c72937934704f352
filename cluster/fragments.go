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
func (m *groupCommitter) beginFragments(in *entryInRaft, requests []fsm.Request) {
	w := wire.Writer{B: make([]byte, 0, fsm.RequestsSize(requests))}
	fsm.EncodeRequests(&w, requests)
	large := &largeEntry{in: in, bytes: w.B}
	if !m.enter(in) {
		return
	}
	m.mu.Lock()
	leads := m.term == in.term
	if leads {
		m.large, m.costly.inFlight = large, true
	}
	m.mu.Unlock()
	if !leads {
		m.refuse(in, errNotLeading)
		m.doneFragment()
		return
	}
	m.writeFragment(large)
}

// nextFragment returns the large entry whose next fragment is to be written, which is in flight from then on; nil if it is not its turn.
func (m *groupCommitter) nextFragment() *largeEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	others := len(m.queue) > m.costly.waiting
	if m.large == nil || m.inFlight > 0 || others && !m.costly.turn {
		return nil
	}
	m.inFlight++
	m.costly.inFlight, m.costly.turn = true, false
	return m.large
}

// writeFragment gives raft the next fragment, or the entry that follows the last one.
func (m *groupCommitter) writeFragment(large *largeEntry) {
	in, rest := large.in, large.bytes[large.sent:]
	if len(rest) <= undivided {
		m.mu.Lock()
		mine := m.large == large
		if mine {
			m.large = nil
		}
		m.mu.Unlock()
		if !mine || !m.leave(in) { // refused, or lost
			m.doneFragment()
			return
		}
		m.wg.Done()
		e := m.n.entry(in.term)
		e.LowWaters, in.stamp, in.costly = in.lowWaters(), e.Stamp, true
		m.propose(in, e.EncodeRest(large.sent, rest))
		return
	}
	p := fsm.Fragment{Term: in.term, At: large.sent, Total: len(large.bytes), Bytes: rest[:fragmentBytes]}
	large.sent += fragmentBytes
	written := m.n.consensus.Propose(p.Encode())
	failpoint.Eval(failpoint.AfterPropose)
	go func() { // it never ends if raft has lost the fragment
		if _, err := written.Wait(); err != nil {
			m.giveUp(large, err)
		}
		runtime.Gosched()
		m.doneFragment()
	}()
}

// giveUp ends a large entry of which a fragment could not be written: it certainly is not applied.
func (m *groupCommitter) giveUp(large *largeEntry, why error) {
	m.mu.Lock()
	if m.large == large {
		m.large = nil
	}
	m.mu.Unlock()
	m.refuse(large.in, why)
}

// refuse answers an entry of which certainly nothing is applied, unless it was answered.
func (m *groupCommitter) refuse(in *entryInRaft, why error) {
	if !m.leave(in) {
		return
	}
	defer m.wg.Done()
	m.evictor.release(in.room)
	for _, b := range in.batches {
		b.answer(nil, why, true)
	}
}

// doneFragment ends a fragment that was in flight.
func (m *groupCommitter) doneFragment() { m.done(&entryInRaft{costly: true}) }
