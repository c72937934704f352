// Package hub brings messages to the subscribers that are connected to this node, and
// what nodes execute to those who monitor. It is the same for every door.
//
// A subscription begins and ends at a place in the log: the node says by a log entry
// how many subscribers it has, and only what stands behind that entry is delivered.
// Messages leave the applies in log order, so all subscribers on all nodes see one
// order, and each message once. Nothing is kept for those who come later, and nothing
// is left out in between: whoever can't be served without a gap is disconnected.
package hub

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"trireme/fsm"
	"trireme/fsm/channel"
	"trireme/fsm/env"
)

// Why a subscription ended.
var (
	// ErrSlow: its connection took too little, and more than the limits has gathered.
	ErrSlow = errors.New("hub: subscriber is too slow")
	// ErrGap: this node has missed a part of the log, or the cluster has given this node
	// up for a while: messages may be missing from here on.
	ErrGap = errors.New("hub: messages may have been missed")
	// ErrDeleted: the database is gone.
	ErrDeleted = errors.New("hub: database was deleted")
	// ErrClosed: the subscription or the hub was closed.
	ErrClosed = errors.New("hub: closed")
)

// The limits that apply where Options names none.
const (
	DefaultMaxMessages = 1 << 17
	DefaultMaxBytes    = 32 << 20
)

// Options are the parts and limits of a Hub.
type Options struct {
	// Log takes the node's counts of subscribers. Required.
	Log fsm.Proposer
	// MaxMessages and MaxBytes bound what waits for one subscriber or monitor; 0 is the
	// default. Who lags by more is disconnected.
	MaxMessages, MaxBytes int
	// Peers are the other nodes, for monitors; nil is none.
	Peers Peers
	// Logger takes failures. The default discards.
	Logger *slog.Logger
}

// Hub is one node's fan-out. Its methods may be called by any goroutine, Notes by one.
type Hub struct {
	id   uint64 // tells this process's requests from those of any other
	log  fsm.Proposer
	slog *slog.Logger
	max  bounds

	mu       sync.Mutex
	topics   map[channel.Ref]*topic
	patterns map[string][]*topic // by database, in the order of their names
	queue    []*topic            // whose count has to be told
	serial   uint64
	counted  map[uint64][]*member // who waits for a request to be applied
	order    uint64               // of members
	closed   bool
	done     chan struct{} // closes with the hub
	wake     chan struct{}
	idle     chan struct{}   // closes when the queue is empty; nil if nobody waits
	telling  bool            // a request is under way
	settling []chan struct{} // close when what is queued has been told
	riding   []chan struct{} // close when the request under way has been applied

	monitors monitors
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// topic is a channel or pattern that someone here subscribes to, or did until lately.
type topic struct {
	ref     channel.Ref
	members []*member
	fresh   []*member // not in any request yet
	sent    int       // the count that the last request told
	sure    bool      // that request is not known to have failed
	queued  bool
}

// member is one subscription's part in a topic.
type member struct {
	sub    *Subscription
	topic  *topic
	at     int // its place in topic.members, -1 if it has left
	order  uint64
	active bool // its request has been applied
}

// New is a hub, which runs until Close.
func New(o Options) *Hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hub{
		id: rand.Uint64(), log: o.Log, slog: o.Logger, max: newBounds(o.MaxMessages, o.MaxBytes),
		topics: map[channel.Ref]*topic{}, patterns: map[string][]*topic{}, counted: map[uint64][]*member{},
		wake: make(chan struct{}, 1), done: make(chan struct{}), stop: cancel,
	}
	if h.slog == nil {
		h.slog = slog.New(slog.DiscardHandler)
	}
	h.monitors.start(h, o.Peers)
	h.wg.Go(func() { h.tellCounts(ctx) })
	h.wg.Go(func() { h.monitors.expire(ctx) })
	return h
}

// Close ends all subscriptions and monitors, waits until the log knows that nobody
// subscribes here any more or ctx ends, and stops the hub. Only the first call does
// anything.
func (h *Hub) Close(ctx context.Context) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.closed = true
	close(h.done)
	h.endAll(ErrClosed, nil)
	idle := make(chan struct{})
	if h.idle = idle; len(h.queue) == 0 {
		h.isIdle()
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

// isIdle lets Close go on; the lock is held.
func (h *Hub) isIdle() {
	if h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

// topic is that of ref, made if there is none; the lock is held.
func (h *Hub) topic(ref channel.Ref) *topic {
	if t := h.topics[ref]; t != nil {
		return t
	}
	t := &topic{ref: ref, sure: true}
	h.topics[ref] = t
	if ref.Kind == channel.Pattern {
		i, _ := h.place(ref)
		h.patterns[ref.DB] = slices.Insert(h.patterns[ref.DB], i, t)
	}
	return t
}

// forget drops a topic that nobody subscribes to once the log knows; the lock is held.
func (h *Hub) forget(t *topic) {
	if len(t.members) > 0 || t.queued || !t.sure || t.sent != 0 || h.topics[t.ref] != t {
		return
	}
	delete(h.topics, t.ref)
	if t.ref.Kind != channel.Pattern {
		return
	}
	i, _ := h.place(t.ref)
	if h.patterns[t.ref.DB] = slices.Delete(h.patterns[t.ref.DB], i, i+1); len(h.patterns[t.ref.DB]) == 0 {
		delete(h.patterns, t.ref.DB)
	}
}

// place is where a pattern stands among those of its database; the lock is held.
func (h *Hub) place(ref channel.Ref) (int, bool) {
	return slices.BinarySearchFunc(h.patterns[ref.DB], ref.Name, func(t *topic, name string) int { return strings.Compare(t.ref.Name, name) })
}

// Notes takes what applies have to tell, in log order.
func (h *Hub) Notes(notes []env.Note) {
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
		case env.Deleted:
			h.endAll(ErrDeleted, func(db string) bool { return db == n.DB })
		}
	}
}

// Restored is told when a snapshot has replaced the node's state: the messages in
// between are lost to this node, and so its subscriptions end.
func (h *Hub) Restored() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endAll(ErrGap, nil)
}

// endAll ends the subscriptions of the databases that match; nil matches all. The lock
// is held. What the log says of them afterwards isn't known, so it is told anew.
func (h *Hub) endAll(why error, match func(db string) bool) {
	for _, t := range h.topics { // unordered: each is treated alike
		if match != nil && !match(t.ref.DB) {
			continue
		}
		for len(t.members) > 0 {
			h.end(t.members[0].sub, why)
		}
		t.sure = false
		h.enqueue(t)
	}
}
