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
	sender   Sender // of the last Advance, without its session

	messages *cow.BTree[uint64, *Message]
	places   placeIndex
	shared   *cow.BTree[uint64, sharedBody] // bodies that several messages have
	hosts    *cow.BTree[string, *host]

	queues    queueTable
	flows     flowTable
	groups    groupTable
	schedules scheduleTable
	triggers  triggerTable

	events eventLog
	dead   *cow.BTree[Stamp, *Dead]
	// stopped names the messages that have paused their queues and flow-control keys at the end of their retries, by the numbers of these.
	stopped *cow.BTree[uint64, ID]
	dedups  dedupTable
	// gathered are messages that take in other publications.
	gathered gatherTable
	bulk     BulkTable

	memory    memory
	trimmable int // how many records the next trim may remove
	// sealing: old events go into volumes; see Raise.
	sealing bool
	keeper  payload.Keeper

	reports []DeliveryReport // what happened to messages of runs in this apply; see run_message.go
}

// New is an empty store with the default settings of env.Base and no signing keys; see Raise.
func New() *Store {
	return &Store{
		settings: formerSettings(),
		messages: byNumber[*Message](), places: newPlaceIndex(), shared: byNumber[sharedBody](), hosts: byName[*host](),
		queues: newQueueTable(), flows: newFlowTable(), groups: newGroupTable(), schedules: newScheduleTable(), triggers: newTriggerTable(),
		events: eventLog{byNo: byNumber[*Event]()}, dead: byStamp[*Dead](), dedups: newDedupTable(), gathered: newGatherTable(), stopped: byNumber[ID](), bulk: NewBulkTable(),
		memory: memory{most: math.MaxInt64},
	}
}

// UseKeeper has k hold the large payloads that the store takes in from now on. It is no part of the state.
func (s *Store) UseKeeper(k payload.Keeper) { s.keeper = k }

// Fork is the store as it is now, in constant time; both sides may go on.
func (s *Store) Fork() *Store {
	f := *s
	f.messages, f.places, f.shared, f.hosts = s.messages.Snapshot(), s.places.fork(), s.shared.Snapshot(), s.hosts.Snapshot()
	f.queues, f.flows, f.groups, f.schedules = s.queues.fork(), s.flows.fork(), s.groups.fork(), s.schedules.fork()
	f.triggers = s.triggers.fork()
	f.events, f.dead, f.dedups, f.bulk = s.events.fork(), s.dead.Snapshot(), s.dedups.fork(), s.bulk.Fork()
	f.gathered, f.stopped = s.gathered.fork(), s.stopped.Snapshot()
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

// byStamp orders by time. Times are never negative.
func byStamp[V any]() *cow.BTree[Stamp, V] {
	return cow.NewBTree[Stamp, V](func(t Stamp) uint64 { return uint64(t.At) }, func(a, b Stamp) int { return cmp.Compare(a.Seq, b.Seq) })
}

// headOfName is the first eight bytes of a name, so that names keep their order.
func headOfName(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}
