package queue

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// Store holds everything about messages. Make one with New. Its operations are the methods that take an Env.
type Store struct {
	settings Settings
	keys     Keys
	serial   uint64 // the number given last: to messages, queues, flow keys, hosts and turns
	events   uint64 // the number of the newest event
	sender   Sender // of the last Advance, without its session

	messages *cow.BTree[uint64, *Message]
	// The indices of messages by place. The first number of a member is that of a queue, flow key or host.
	backlog *cow.BTree[member, struct{}] // by queue: those without a slot
	slots   *cow.BTree[member, struct{}] // by queue: those that hold a slot
	holding *cow.BTree[member, struct{}] // by queue: done, but for their callbacks they hold their slot
	due     *cow.BTree[Stamp, struct{}]
	waiting *cow.BTree[member, struct{}] // by flow key
	running *cow.BTree[member, struct{}] // by flow key: attempts under way
	parked  *cow.BTree[member, struct{}] // by host
	leases  *cow.BTree[Stamp, struct{}]  // by the time at which the claim expires

	queues        *cow.BTree[uint64, *Queue]
	queueNames    *cow.BTree[string, uint64]
	deletedQueues *cow.BTree[uint64, struct{}] // queues that were deleted and are being emptied
	flows         *cow.BTree[uint64, *FlowKey]
	flowNames     *cow.BTree[string, uint64]
	openings      *cow.BTree[Stamp, uint64] // of flow keys that can be claimed from, or will at a time
	idle          *cow.BTree[Stamp, struct{}]
	hosts         *cow.BTree[string, *host]
	groups        *cow.BTree[string, *Group]
	groupIDs      *cow.BTree[string, string]
	schedules     *cow.BTree[string, *Schedule]
	ticks         *cow.BTree[tick, struct{}]
	log           *cow.BTree[uint64, *Event]
	dead          *cow.BTree[Stamp, *Dead]
	dedups        *cow.BTree[dedupKey, dedup]
	dedupEnds     *cow.BTree[dedupEnd, struct{}]
	shared        *cow.BTree[uint64, sharedBody] // bodies that several messages have
	bulk          BulkTable

	liveBytes, doneBytes, deadBytes, fixedBytes int64 // logical memory; see memory.go
	uncounted                                   int64 // of it, what does not count
	keeper                                      payload.Keeper
	ticksFrom                                   int64 // when ticks may be fired again, see pace.go
	trimmable                                   int   // how many records the next trim may remove
	most                                        int64 // that may count in this apply, see SetRoom

	reports []DeliveryReport // what happened to messages of runs in this apply; see run_message.go
}

// member is a message (or its place) under a queue, a flow key or a host.
type member struct{ of, seq uint64 }

// tick is a schedule's place in the order of next times.
type tick struct {
	at int64
	id string
}

// New is an empty store with the default settings and no signing keys.
func New() *Store {
	return &Store{
		settings: DefaultSettings(),
		messages: byNumber[*Message](),
		backlog:  byMember(), slots: byMember(), holding: byMember(), waiting: byMember(), running: byMember(), parked: byMember(),
		due: byStamp[struct{}](), leases: byStamp[struct{}](),
		queues: byNumber[*Queue](), queueNames: byName[uint64](), deletedQueues: byNumber[struct{}](),
		flows: byNumber[*FlowKey](), flowNames: byName[uint64](), openings: byStamp[uint64](), idle: byStamp[struct{}](),
		hosts: byName[*host](), groups: byName[*Group](), groupIDs: byName[string](), schedules: byName[*Schedule](),
		ticks: cow.NewBTree[tick, struct{}](func(t tick) uint64 { return uint64(t.at) }, compareTicks),
		log:   byNumber[*Event](), dead: byStamp[*Dead](),
		dedups:    cow.NewBTree[dedupKey, dedup](func(k dedupKey) uint64 { return binary.BigEndian.Uint64(k[:]) }, compareDedups),
		dedupEnds: cow.NewBTree[dedupEnd, struct{}](func(d dedupEnd) uint64 { return uint64(d.at) }, compareDedupEnds),
		shared:    byNumber[sharedBody](), bulk: NewBulkTable(), most: math.MaxInt64,
	}
}

// UseKeeper has k hold the large payloads that the store takes in from now on. It is no part of the state.
func (s *Store) UseKeeper(k payload.Keeper) { s.keeper = k }

// Fork is the store as it is now, in constant time; both sides may go on.
func (s *Store) Fork() *Store {
	f := *s
	f.messages = s.messages.Snapshot()
	f.backlog, f.slots, f.holding = s.backlog.Snapshot(), s.slots.Snapshot(), s.holding.Snapshot()
	f.due, f.waiting, f.running = s.due.Snapshot(), s.waiting.Snapshot(), s.running.Snapshot()
	f.parked, f.leases = s.parked.Snapshot(), s.leases.Snapshot()
	f.queues, f.queueNames = s.queues.Snapshot(), s.queueNames.Snapshot()
	f.deletedQueues = s.deletedQueues.Snapshot()
	f.flows, f.flowNames = s.flows.Snapshot(), s.flowNames.Snapshot()
	f.openings, f.idle, f.hosts = s.openings.Snapshot(), s.idle.Snapshot(), s.hosts.Snapshot()
	f.groups, f.groupIDs = s.groups.Snapshot(), s.groupIDs.Snapshot()
	f.schedules, f.ticks = s.schedules.Snapshot(), s.ticks.Snapshot()
	f.log, f.dead = s.log.Snapshot(), s.dead.Snapshot()
	f.dedups, f.dedupEnds = s.dedups.Snapshot(), s.dedupEnds.Snapshot()
	f.shared, f.bulk = s.shared.Snapshot(), s.bulk.Fork()
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

func byName[V any]() *cow.BTree[string, V] {
	return cow.NewBTree[string, V](headOfName, strings.Compare)
}

func byMember() *cow.BTree[member, struct{}] {
	return cow.NewBTree[member, struct{}](func(m member) uint64 { return m.of }, func(a, b member) int { return cmp.Compare(a.seq, b.seq) })
}

// byStamp orders by time. Times are never negative.
func byStamp[V any]() *cow.BTree[Stamp, V] {
	return cow.NewBTree[Stamp, V](func(t Stamp) uint64 { return uint64(t.At) }, func(a, b Stamp) int { return cmp.Compare(a.Seq, b.Seq) })
}

func compareTicks(a, b tick) int { return strings.Compare(a.id, b.id) }

// headOfName is the first eight bytes of a name, so that names keep their order.
func headOfName(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

// count returns the number of members of a queue, flow key or host.
func count(t *cow.BTree[member, struct{}], of uint64) int { return t.RankHead(of+1) - t.RankHead(of) }

// first is the oldest member of a queue, flow key or host.
func first(t *cow.BTree[member, struct{}], of uint64) (seq uint64, ok bool) {
	t.AscendHead(of, func(m member, _ struct{}) bool {
		seq, ok = m.seq, m.of == of
		return false
	})
	return seq, ok
}
