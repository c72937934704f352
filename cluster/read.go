package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"trireme/fsm"
	"trireme/fsm/wire"
)

const (
	// roundsUnderWay is how many read-index rounds a node has under way; reads that
	// come meanwhile share the next.
	roundsUnderWay = 2
	// hedge is how long a leader waits for the voters it asked before it asks the rest.
	hedge = 10 * time.Millisecond
	// roundTime ends a round that no majority answers.
	roundTime = time.Second
)

// readPoint is where a read may be served: an index that holds everything
// acknowledged before the round began, and the cluster time to read at.
type readPoint struct {
	index uint64
	now   int64
}

// round is a read-index round that reads share.
type round struct {
	done  chan struct{}
	point readPoint
	err   error
}

// reader coalesces this node's linearizable reads into rounds.
type reader struct {
	n *Node

	mu       sync.Mutex
	open     *round // takes reads until it is started
	underWay int
}

// join gives the round of a read that arrived just now.
func (r *reader) join() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = &round{done: make(chan struct{})}
	}
	joined := r.open
	if r.underWay < roundsUnderWay {
		r.start()
	}
	return joined
}

// start begins the open round; the lock is held.
func (r *reader) start() {
	c := r.open
	r.open = nil
	r.underWay++
	go r.n.readIndex(func(p readPoint, err error) {
		c.point, c.err = p, err
		close(c.done)
		r.mu.Lock()
		r.underWay--
		if r.open != nil {
			r.start()
		}
		r.mu.Unlock()
	})
}

// readIndex asks the leader, here or there, for a read point.
func (n *Node) readIndex(answer func(readPoint, error)) {
	leader, ok := n.leader()
	switch {
	case !ok:
		answer(readPoint{}, fsm.ErrNoLeader)
	case leader.id == n.identity.NodeID:
		n.fence.join(answer)
	default:
		n.peers.readIndex(leader, answer)
	}
}

// Read runs fn on a state as new as r asks; see fsm.Reader.
func (n *Node) Read(ctx context.Context, r fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	at := readPoint{index: r.AtLeast}
	if r.Mode == fsm.Linearizable {
		p, err := n.point(ctx)
		if err != nil {
			return fsm.ReadAt{}, err
		}
		at = readPoint{max(p.index, r.AtLeast), p.now}
	}
	if err := n.await(ctx, at.index); err != nil {
		return fsm.ReadAt{}, err
	}
	got := fsm.ReadAt{AgeMillis: n.age(r.Mode)}
	n.machine.View(at.now, seed(), func(v *fsm.View) {
		got.Index, got.Now = v.Index(), v.Now()
		fn(v)
	})
	return got, nil
}

// seed feeds random reads: they are not replicated, so any chance will do.
func seed() (s [16]byte) {
	for i := 0; i < len(s); i += 8 {
		v := rand.Uint64()
		for j := range 8 {
			s[i+j] = byte(v >> (8 * j))
		}
	}
	return s
}

// point is a read point, asked for again while leaders change.
func (n *Node) point(ctx context.Context) (readPoint, error) {
	began := time.Now()
	for {
		c := n.reader.join()
		select {
		case <-c.done:
		case <-ctx.Done():
			return readPoint{}, fsm.ErrNoLeader
		}
		if c.err == nil {
			return c.point, nil
		}
		if _, known := n.leader(); !known && time.Since(began) > leaderless {
			return readPoint{}, fsm.ErrNoLeader
		}
		select { // a read point is never used for a second try: it is asked for anew
		case <-time.After(retryPause):
		case <-ctx.Done():
			return readPoint{}, fsm.ErrNoLeader
		}
	}
}

// await waits until this node's machine has applied index.
func (n *Node) await(ctx context.Context, index uint64) error {
	for {
		applied, next := n.machine.Applied()
		if applied >= index {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fsm.ErrTooStale
		}
	}
}

// age bounds how old a state that was not confirmed by the leader may be.
func (n *Node) age(mode fsm.Consistency) int64 {
	if mode == fsm.Linearizable || n.raft.State() == raft.Leader {
		return 0
	}
	last := n.raft.LastContact()
	if last.IsZero() {
		return time.Since(n.started).Milliseconds()
	}
	return time.Since(last).Milliseconds()
}

// fence confirms, for all reads that wait, that this node led after they arrived: a
// majority of voters, asked after that, say that their term is still this leader's. A
// voter raises its term before it grants a vote, so none of that majority had voted
// for a later leader, and no later leader can have committed anything. docs/design/reads.md
// compares this with VerifyLeader, which also counts answers to older questions.
type fence struct {
	n *Node

	mu       sync.Mutex
	waiting  []func(readPoint, error)
	underWay int
	ticking  bool
}

// join adds a read to the next round.
func (f *fence) join(answer func(readPoint, error)) {
	f.mu.Lock()
	f.waiting = append(f.waiting, answer)
	if f.underWay < roundsUnderWay {
		f.start()
	}
	f.mu.Unlock()
}

// start begins a round for all who wait; the lock is held.
func (f *fence) start() {
	who := f.waiting
	f.waiting = nil
	f.underWay++
	go f.round(func(p readPoint, err error) {
		for _, answer := range who {
			answer(p, err)
		}
		f.mu.Lock()
		f.underWay--
		if len(f.waiting) > 0 {
			f.start()
		}
		f.mu.Unlock()
	})
}

// round takes a read point and confirms it.
func (f *fence) round(end func(readPoint, error)) {
	n := f.n
	term := n.raft.CurrentTerm()
	p, err := f.place(term)
	if err != nil {
		end(readPoint{}, err)
		return
	}
	p.index = n.raft.CommitIndex()
	if err := n.confirm(term); err != nil {
		end(readPoint{}, err)
		return
	}
	end(p, nil)
}

// place takes the read time, and has time moved on in the log when it reaches the
// ceiling.
func (f *fence) place(term uint64) (readPoint, error) {
	n := f.n
	for range 3 {
		if n.openTerm.Load() != term || n.raft.State() != raft.Leader {
			return readPoint{}, errNotLeading
		}
		at, now := n.clock.readTime()
		applied := n.machine.Now()
		if now > applied+readAhead/2 {
			f.tick(term, at > applied+readAhead)
		}
		if at <= applied+readAhead {
			return readPoint{now: at}, nil
		}
	}
	return readPoint{}, errNotLeading
}

// tick appends an entry that moves cluster time, one at a time, and waits for it if
// asked to.
func (f *fence) tick(term uint64, wait bool) {
	if wait {
		f.n.command(term, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{}))
		return
	}
	f.mu.Lock()
	busy := f.ticking
	f.ticking = true
	f.mu.Unlock()
	if busy {
		return
	}
	f.n.wg.Go(func() {
		f.n.command(term, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{}))
		f.mu.Lock()
		f.ticking = false
		f.mu.Unlock()
	})
}

var errUnconfirmed = errors.New("cluster: no majority confirmed the leader")

// confirm returns nil if a majority of voters, asked from now on, is in this term.
func (n *Node) confirm(term uint64) error {
	voters, needed := n.otherVoters()
	if needed == 0 {
		return nil
	}
	answers := make(chan bool, len(voters))
	asked := 0
	ask := func(count int) {
		for ; asked < count && asked < len(voters); asked++ {
			n.peers.confirm(voters[asked], term, answers)
		}
	}
	ask(needed)
	timer := time.NewTimer(hedge)
	defer timer.Stop()
	yes, no, late := 0, 0, false
	for yes < needed {
		select {
		case ok := <-answers:
			if ok {
				yes++
			} else {
				no++
				ask(needed + no)
			}
			if no > len(voters)-needed {
				return errUnconfirmed
			}
		case <-timer.C:
			if late {
				return errUnconfirmed
			}
			late = true
			n.peers.prefer(voters[:asked])
			ask(len(voters))
			timer.Reset(roundTime)
		}
	}
	if n.raft.CurrentTerm() != term || n.raft.State() != raft.Leader {
		return errNotLeading
	}
	return nil
}

// encode and decode carry a read point between nodes.
func (p readPoint) encode() []byte {
	var w wire.Writer
	w.Uvarint(p.index)
	w.Varint(p.now)
	return w.B
}

func decodePoint(b []byte) (readPoint, error) {
	r := wire.NewReader(b)
	p := readPoint{r.Uvarint(), r.Varint()}
	return p, r.Done()
}
