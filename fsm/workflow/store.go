package workflow

import (
	"cmp"
	"encoding/binary"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Store holds everything about workflows. Make one with New. Its operations are the methods that take an Env; those that
// make or drop deliveries take the store of messages too.
type Store struct {
	settings Settings
	serial   uint64 // the number given last: to runs, waiters and stored notifications

	runs        *cow.BTree[uint64, *Run]
	names       *cow.BTree[name, struct{}] // runs by id
	entries     *cow.BTree[place, *Entry]
	ids         *cow.BTree[uint64, place]   // entries by the Seq of their message
	marks       *cow.BTree[mark, uint64]    // what happens once
	open        *cow.BTree[place, struct{}] // entries that are still to be delivered
	waiters     *cow.BTree[uint64, *Waiter] // by number
	events      eventIndex
	waiting     *cow.BTree[runKey, struct{}]    // waiters by run
	ends        *cow.BTree[queue.Stamp, uint64] // waiters by deadline
	saved       *cow.BTree[runKey, *Saved]      // by run, in the order in which they came
	dead        *cow.BTree[queue.Stamp, uint64] // dead letters: runs by when they failed
	ended       *cow.BTree[queue.Stamp, uint64] // runs that are over by when they ended, but for those with a dead letter
	deletedRuns *cow.BTree[uint64, struct{}]    // runs that are forgotten and whose logs are being removed
	past        past
	holdIndex
	deployments deployments

	bulk queue.BulkTable

	sizes
	keeper payload.Keeper
	bounds
	no uint64 // of this store and its forks in the process, no part of the state
}

// sizes are the logical memory of runs, in bytes.
type sizes struct {
	liveBytes, doneBytes int64 // of active runs, and of those that are over
	uncounted            int64 // of both, what does not count
}

// bounds are what an apply may still do.
type bounds struct {
	trimmable int   // how many records the next trim may remove
	wakes     int   // waiters and keepers that this apply may bring an event to, see NotifyPrice
	most      int64 // bytes that may count, see SetRoom
}

// place is an entry of a run's log.
type place struct {
	run uint64
	pos uint32
}

// runKey is a waiter, or a stored notification, of a run.
type runKey struct{ run, no uint64 }

// name is a run by its id or by an event that it keeps, or a waiter by its event.
type name struct {
	text string
	no   uint64
}

// mark names what happens once in a run.
type mark struct {
	run   uint64
	class class
	step  uint32
}

// class says what a mark is about, and what its value is. Numbers are in snapshots.
type class uint8

const (
	// markResult: the place of the entry with the step's result.
	markResult class = iota
	// markPlan: the place of the entry that plans the step.
	markPlan
	// markCall: the place of the entry with the step's call.
	markCall
	// markWait: the number of the step's waiter, also when it is gone.
	markWait
	// markInvoke: the number of the run that the step has invoked.
	markInvoke
	// markAnswer: the place of the entry with the answer to the step's call.
	markAnswer
	classes
)

// New is an empty store with the default settings.
func New() *Store {
	return &Store{
		settings: formerSettings(),
		runs:     byNumber[*Run](), names: byName(), entries: byPlace[*Entry](), ids: byNumber[place](),
		marks: cow.NewBTree[mark, uint64](func(m mark) uint64 { return m.run }, compareMarks),
		open:  byPlace[struct{}](), waiters: byNumber[*Waiter](), events: eventIndex{byName(), byName(), byName()}, waiting: byRunKey[struct{}](),
		ends: byStamp(), saved: byRunKey[*Saved](), dead: byStamp(), ended: byStamp(), deletedRuns: byNumber[struct{}](),
		holdIndex: newHoldIndex(), deployments: newDeployments(), bulk: queue.NewBulkTable(), bounds: bounds{most: queue.Unlimited},
		no: storeNumbers.Add(1),
	}
}

// SetRoom says how many bytes the store may add in this apply; see queue.Store.SetRoom.
func (s *Store) SetRoom(bytes int64) {
	if s.most = queue.Unlimited; bytes != queue.Unlimited {
		s.most = s.Used() - s.uncounted + bytes
	}
}

// fits reports whether so many bytes may be added.
func (s *Store) fits(bytes int64) bool { return s.Used()-s.uncounted+bytes <= s.most }

// UseKeeper has k hold the large payloads that the store takes in from now on. It is no part of the state.
func (s *Store) UseKeeper(k payload.Keeper) { s.keeper = k }

// Fork is the store as it is now, in constant time; both sides may go on.
func (s *Store) Fork() *Store {
	f := *s
	f.runs, f.names, f.entries, f.ids = s.runs.Snapshot(), s.names.Snapshot(), s.entries.Snapshot(), s.ids.Snapshot()
	f.marks, f.open = s.marks.Snapshot(), s.open.Snapshot()
	f.waiters, f.events, f.waiting, f.ends = s.waiters.Snapshot(), s.events.fork(), s.waiting.Snapshot(), s.ends.Snapshot()
	f.saved, f.dead, f.ended, f.deletedRuns = s.saved.Snapshot(), s.dead.Snapshot(), s.ended.Snapshot(), s.deletedRuns.Snapshot()
	f.bulk, f.past = s.bulk.Fork(), s.past.fork()
	f.holdIndex, f.deployments = s.holdIndex.fork(), s.deployments.fork()
	return &f
}

// next returns a number that was never returned before.
func (s *Store) next() uint64 {
	s.serial++
	return s.serial
}

func byNumber[V any]() *cow.BTree[uint64, V] {
	return cow.NewBTree[uint64, V](func(k uint64) uint64 { return k }, cmp.Compare[uint64])
}

func byPlace[V any]() *cow.BTree[place, V] {
	return cow.NewBTree[place, V](func(p place) uint64 { return p.run }, func(a, b place) int { return cmp.Compare(a.pos, b.pos) })
}

func byRunKey[V any]() *cow.BTree[runKey, V] {
	return cow.NewBTree[runKey, V](func(p runKey) uint64 { return p.run }, func(a, b runKey) int { return cmp.Compare(a.no, b.no) })
}

// byStamp orders by time. Times are never negative.
func byStamp() *cow.BTree[queue.Stamp, uint64] {
	return cow.NewBTree[queue.Stamp, uint64](func(t queue.Stamp) uint64 { return uint64(t.At) }, func(a, b queue.Stamp) int { return cmp.Compare(a.Seq, b.Seq) })
}

func byName() *cow.BTree[name, struct{}] {
	return cow.NewBTree[name, struct{}](func(n name) uint64 { return headOfName(n.text) }, func(a, b name) int {
		return cmp.Or(strings.Compare(a.text, b.text), cmp.Compare(a.no, b.no))
	})
}

func compareMarks(a, b mark) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.step, b.step))
}

// headOfName is the first eight bytes of a name, so that names keep their order.
func headOfName(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}
