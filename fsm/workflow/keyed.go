package workflow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Runs of one endpoint and key may be debounced, or be singletons: see queue.Gather. The live runs of a key are in the order in which they
// came. Of a singleton the first one runs, and the others are held until they are the first. A debounced trigger replaces the input of the
// last one, as long as its first call has not begun.

// Hold says why nothing of a live run is delivered: its entries are Held.
type Hold uint8

// The reasons.
const (
	NotHeld Hold = iota
	// HeldBehind: another run of its singleton comes first.
	HeldBehind
	// HeldPaused: it is paused.
	HeldPaused
	holds
)

// holdIndex finds the runs that are held, and what they wait for. It is derived from the runs.
type holdIndex struct {
	keyed  *cow.BTree[keyed, struct{}]  // live runs that gather, by their keys
	paused *cow.BTree[uint64, struct{}] // runs that are paused
}

func newHoldIndex() holdIndex { return holdIndex{keyed: byKey(), paused: byNumber[struct{}]()} }

func (hi *holdIndex) fork() holdIndex {
	return holdIndex{keyed: hi.keyed.Snapshot(), paused: hi.paused.Snapshot()}
}

// keyed is a live run by its key.
type keyed struct {
	key [16]byte
	no  uint64
}

func byKey() *cow.BTree[keyed, struct{}] {
	return cow.NewBTree[keyed, struct{}](func(k keyed) uint64 { return binary.BigEndian.Uint64(k.key[:]) }, func(a, b keyed) int {
		return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.no, b.no))
	})
}

// keyOf returns the key of runs with a configuration, which gathers.
func keyOf(url string, o *queue.Options) [16]byte {
	c := queue.Content{URL: url, Options: queue.Options{Gather: o.Gather}}
	return c.GatherKey()
}

// enterKey puts a live run behind the others of its key, if it has one. A run of a singleton that is not the first is held.
func (s *Store) enterKey(r *Run) {
	if r.Gather == nil {
		return
	}
	key := keyOf(r.URL, &r.Options)
	s.keyed.Set(keyed{key, r.No}, struct{}{})
	if first := s.firstOf(key); r.Gather.IsSingleton() && first != r.No && r.Hold == NotHeld {
		r.Hold = HeldBehind
	}
}

// leaveKey takes a run that is over from those of its key, and has the next one of a singleton begin.
func (wo *work) leaveKey() {
	s := wo.s
	wo.r.Hold = NotHeld
	if wo.r.Gather == nil {
		return
	}
	key := keyOf(wo.r.URL, &wo.r.Options)
	s.keyed.Delete(keyed{key, wo.r.No})
	if next, found := s.runs.Get(s.firstOf(key)); found && next.Hold == HeldBehind {
		k := s.edit(wo.e, wo.q, next)
		k.release()
		k.store()
	}
}

// release has a run go on that was held: what was held is delivered, with all its retries.
func (wo *work) release() {
	wo.r.Hold = NotHeld
	for _, at := range wo.openPlaces() {
		old, _ := wo.s.entries.Get(at)
		if old.State == Held {
			n := *old
			wo.dispatch(at, &n)
			wo.count(n.size() - old.size())
		}
	}
}

// openPlaces are the places of the entries that are still to be delivered.
func (wo *work) openPlaces() (list []place) {
	wo.s.open.AscendHead(wo.r.No, func(p place, _ struct{}) bool {
		if p.run == wo.r.No {
			list = append(list, p)
		}
		return p.run == wo.r.No
	})
	return list
}

// live calls f for the numbers of the live runs of a key, the oldest first, until it returns false.
func (s *Store) live(key [16]byte, f func(no uint64) bool) {
	s.keyed.Ascend(keyed{key: key}, func(k keyed, _ struct{}) bool { return k.key == key && f(k.no) })
}

// firstOf is the number of the oldest live run of a key, 0 if there is none.
func (s *Store) firstOf(key [16]byte) (first uint64) {
	s.live(key, func(no uint64) bool {
		first = no
		return false
	})
	return first
}

// countOf is the number of live runs of a key.
func (s *Store) countOf(key [16]byte) int {
	from, _ := s.keyed.Rank(keyed{key, 0})
	to, _ := s.keyed.Rank(keyed{key, math.MaxUint64})
	return to - from
}

// lastOf is the newest live run of a key, nil if there is none.
func (s *Store) lastOf(key [16]byte) *Run {
	i, _ := s.keyed.Rank(keyed{key, math.MaxUint64})
	if i == 0 {
		return nil
	}
	k, _ := s.keyed.At(i - 1)
	if k.key != key {
		return nil
	}
	r, _ := s.runs.Get(k.no)
	return r
}

// join judges a trigger by the live runs of its key, and returns the answer if it starts none.
func (s *Store) join(e *env.Env, q *queue.Store, n *Submission, parent *Run) (won Receipt, done bool) {
	g, key := n.Gather, keyOf(n.URL, &n.Options)
	if err := s.refusesKey(e, n, key, parent); err != nil {
		return Receipt{Refused: err}, true
	}
	switch g.Mode {
	case queue.Debounce:
		if r := s.lastOf(key); r != nil && s.unstarted(q, r) {
			return s.debounce(e, q, n, r), true
		}
	case queue.SingletonSkip, queue.SingletonAttach:
		if r, found := s.runs.Get(s.firstOf(key)); found {
			attach, first := g.Mode == queue.SingletonAttach, s.entry(place{r.No, 0})
			return Receipt{ID: first.ID, RunID: ownedText(r.ID), Created: r.Created, Attached: attach, Deduplicated: !attach}, true
		}
	case queue.SingletonCancel:
		var list []uint64
		s.live(key, func(no uint64) bool {
			list = append(list, no)
			return true
		})
		for i := len(list) - 1; i >= 0; i-- { // the first comes last, or the next would begin
			r, _ := s.runs.Get(list[i])
			s.cancel(e, q, r)
		}
	}
	return won, false
}

func (s *Store) entry(at place) *Entry {
	n, _ := s.entries.Get(at)
	return n
}

// again returns a run as it is now, nil for none.
func (s *Store) again(r *Run) *Run {
	if r == nil {
		return nil
	}
	now, _ := s.runs.Get(r.No)
	return now
}

// refusesKey says why a trigger with a key can't be taken, nil if it can.
func (s *Store) refusesKey(e *env.Env, n *Submission, key [16]byte, parent *Run) *queue.Error {
	waits := n.Gather.Mode == queue.SingletonQueue || n.Gather.Mode == queue.SingletonCancel
	switch {
	case e.Level < env.Files:
		return refusal(queue.ErrInvalid, "debounce and singleton need feature level %d: upgrade all nodes", env.Files)
	case n.Gather.Mode == queue.Batched:
		return refusal(queue.ErrInvalid, "a workflow run has one input: a batch starts none")
	case parent != nil && !waits:
		return refusal(ErrRefused, "the step that invokes a run waits for that one: use the singleton modes queue or cancel")
	}
	if parent != nil {
		if _, own := s.keyed.Get(keyed{key, parent.No}); own {
			return refusal(ErrRefused, "workflow run %s would wait for a run of its own singleton", parent.ID)
		}
	}
	if n.Gather.Mode == queue.SingletonQueue && s.countOf(key) > queue.MaxBehind {
		return refusal(queue.ErrQuota, "quota maxBehindSingleton exceeded")
	}
	return nil
}

// unstarted reports whether the first call of a run has not begun.
func (s *Store) unstarted(q *queue.Store, r *Run) bool {
	first := s.entry(place{r.No, 0})
	return r.Entries == 1 && (first.State == Held || first.State == Pending && !q.Attempted(first.ID))
}

// debounce has a run that has not started begin later, with another input.
func (s *Store) debounce(e *env.Env, q *queue.Store, n *Submission, old *Run) Receipt {
	before := s.entry(place{old.No, 0})
	k := s.edit(e, q, old)
	k.count(-old.size() - before.size())
	k.addUncounted(-before.Body.Uncounted())
	q.Drop(e, before.ID)
	k.r.Config = detached(n.config(e, nil))
	k.r.Reserved = k.r.reserve()
	k.pin(n.Deployment)
	k.count(k.r.size())
	first := k.first(n)
	first.ID, first.Created = before.ID, before.Created
	k.dispatch(place{old.No, 0}, first)
	k.count(first.size())
	k.addUncounted(first.Body.Uncounted())
	k.store()
	return Receipt{ID: first.ID, RunID: ownedText(old.ID), Created: old.Created, Debounced: true}
}

// debounced is the time until the first call of a debounced run, in milliseconds.
func (wo *work) debounced(g *queue.Gather) int64 {
	if g.MaxWait == 0 {
		return g.Wait
	}
	return max(0, min(g.Wait, wo.r.Created+g.MaxWait-wo.e.Now))
}

// ReplacedWork is the work of cancelling the runs in whose place a trigger with some options comes.
func (s *Store) ReplacedWork(url string, o *queue.Options) (work int64) {
	if o.Gather == nil || o.Gather.Mode != queue.SingletonCancel {
		return 0
	}
	s.live(keyOf(url, o), func(no uint64) bool {
		r, _ := s.runs.Get(no)
		work += entryWork * int64(1+s.held(r))
		return true
	})
	return work
}
