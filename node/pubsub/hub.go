package pubsub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/env"
)

// Why a subscription ended.
var (
	// ErrSlow: the connection reads too slowly, and more than the limits is queued.
	ErrSlow = errors.New("pubsub: subscriber is too slow")
	// ErrGap: this node has missed a part of the log, or the leader has dropped its counts: messages may be missing from here on.
	ErrGap = errors.New("pubsub: messages may have been missed")
	// ErrDeleted: the database is gone.
	ErrDeleted = errors.New("pubsub: database was deleted")
	// ErrFull: the subscriptions of the database on this node take Options.MaxTopicBytes.
	ErrFull = errors.New("pubsub: too many subscriptions of the database")
	// ErrClosed: the subscription or the hub was closed.
	ErrClosed = errors.New("pubsub: closed")
)

// The limits that apply where Options names none.
const (
	DefaultMaxBytes      = 32 << 20
	DefaultMaxTopicBytes = 64 << 20
)

// maxMessages bounds the queue of one subscriber or monitor, as Options.MaxBytes does.
const maxMessages = 1 << 17

// Options are the parts and limits of a Hub.
type Options struct {
	// Log takes the node's counts of subscribers. Required.
	Log fsm.Proposer
	// MaxBytes bounds the queue of one subscriber or monitor; 0 selects the default. A subscriber that lags by more is disconnected.
	MaxBytes int
	// MaxTopicBytes bounds what the channels and patterns that a database subscribes to here may take in memory, since
	// every node keeps those of all nodes; 0 selects the default.
	MaxTopicBytes int
	// Peers are the other nodes, for monitors; nil means that there are none.
	Peers Peers
	// Logger takes failures. The default discards.
	Logger *slog.Logger
}

// Hub is one node's fan-out. Its methods may be called by any goroutine, Notify by one.
type Hub struct {
	id   uint64 // of this process's announcements
	log  fsm.Proposer
	slog *slog.Logger
	max  bounds

	mu     sync.Mutex // guards what follows, as far as it is not said to be atomic
	topics topicTable
	announcements
	order  uint64 // of members
	closed bool
	done   chan struct{} // closes with the hub

	settle   atomic.Pointer[func(ctx context.Context, db string)] // see BeforeCount
	monitors monitors
	calls    scriptCalls
	follows  follows
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// announcements tell the log how many subscribers topics have here: one at a time, with all that are queued.
type announcements struct {
	queue           []*topic // whose count has to be announced
	serial          uint64
	awaitingApply   map[uint64][]*member // by serial: the members that an announcement confirms
	wake            chan struct{}
	idle            chan struct{}   // closes when the queue is empty; nil without a waiter
	requesting      bool            // an announcement is under way
	waitingQueued   []chan struct{} // closed when the announcement of what is queued now was applied
	waitingInFlight []chan struct{} // closed when the announcement under way was applied

	leaving         atomic.Bool // leavingQueued or leavingInFlight
	leavingQueued   bool        // a member has left whose topic is queued
	leavingInFlight bool        // a member has left whose topic is in the announcement under way
}

// member is one subscription's part in a topic.
type member struct {
	sub    *Subscription
	topic  *topic
	index  int // in topic.members, -1 if it has left
	order  uint64
	active bool // its announcement was applied
}

// New returns a hub that runs until Close.
func New(o Options) *Hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hub{
		id: rand.Uint64(), log: o.Log, slog: o.Logger, max: bounds{maxMessages, cmp.Or(o.MaxBytes, DefaultMaxBytes)},
		topics: topicTable{
			byRef: map[channel.Ref]*topic{}, patterns: map[string][]*topic{}, sizes: map[string]int{},
			maxBytes: cmp.Or(o.MaxTopicBytes, DefaultMaxTopicBytes),
		},
		announcements: announcements{awaitingApply: map[uint64][]*member{}, wake: make(chan struct{}, 1)},
		done:          make(chan struct{}), stop: cancel,
	}
	if h.slog == nil {
		h.slog = slog.New(slog.DiscardHandler)
	}
	h.monitors.start(h, o.Peers)
	h.wg.Go(func() { h.announceCounts(ctx) })
	h.wg.Go(func() { h.monitors.expire(ctx) })
	return h
}

// Close ends all subscriptions and monitors, waits until the log has the counts of 0 or ctx
// ends, and stops the hub. Only the first call has an effect.
func (h *Hub) Close(ctx context.Context) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.closed = true
	close(h.done)
	h.endAll(ErrClosed, nil)
	h.follows.each(func(f *Follower) { f.end(ErrClosed) })
	idle := make(chan struct{})
	if h.idle = idle; len(h.queue) == 0 {
		h.signalIdle()
	}
	h.mu.Unlock()
	h.monitors.close()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	h.stop()
	h.wg.Wait()
}

// signalIdle lets Close continue; the lock is held.
func (h *Hub) signalIdle() {
	if h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

// TooMany returns the error reply to a subscription beyond the limit (ErrFull).
func (h *Hub) TooMany() string {
	return "ERR too many subscriptions of the database on this node: their channels and patterns take more than " + strconv.Itoa(h.topics.maxBytes) + " bytes"
}

// Notify takes the notifications of applies, in log order.
func (h *Hub) Notify(notes []env.Notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range notes {
		switch n := &notes[i]; n.Kind {
		case env.Message, env.ShardMessage:
			h.deliver(n)
		case env.Counted:
			if n.Hub == h.id {
				h.activate(n.Serial)
			}
		case env.Dropped:
			if n.Hub == h.id {
				h.endAll(ErrGap, nil)
			}
		case env.ScriptCalled, env.ScriptEnded:
			if h.Monitored() {
				h.calls.add(n)
			}
		case env.Deleted:
			h.endAll(ErrDeleted, func(db string) bool { return db == n.DB })
		}
		h.follows.tell(&notes[i])
	}
}

// Restored is called when a snapshot has replaced the node's state: this node has missed the
// messages in between, so its subscriptions end.
func (h *Hub) Restored() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endAll(ErrGap, nil)
	h.follows.each((*Follower).Again)
}

// endAll ends the subscriptions of the databases that match; nil matches all. The lock is
// held. Their counts in the log are unknown afterwards, so they are announced again.
func (h *Hub) endAll(why error, match func(db string) bool) {
	for _, t := range h.topics.byRef { // unordered: each is treated alike
		if match != nil && !match(t.ref.DB) {
			continue
		}
		for len(t.members) > 0 {
			h.end(t.members[0].sub, why)
		}
		t.acknowledged = false
		h.enqueue(t)
	}
}
