package pubsub

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A monitor shows what the servers of all nodes execute in one database. The node that serves it polls every other node for the
// lines of its servers (long polling: a poll that finds none waits for some). Lines are kept until the next poll acknowledges
// them, so none is lost on the way or shown twice; those of a node that dies, or can't be reached for tapTimeout, are lost.

// Peers are the other nodes of the cluster, as monitors need them.
type Peers interface {
	// Others are the ids of the other nodes.
	Others() []string
	// Ask sends a poll to the hub of a node, which answers by Hub.ServePoll.
	Ask(ctx context.Context, node string, question []byte) ([]byte, error)
}

const (
	// holdPoll is the time for which a node holds a poll until it has lines.
	holdPoll = 2 * time.Second
	// pollTimeout bounds a poll, and pollRetryDelay is the pause after a failed one.
	pollTimeout    = holdPoll + 2*time.Second
	pollRetryDelay = 250 * time.Millisecond
	// firstPollTimeout bounds a new monitor's wait for the first answers of other nodes.
	firstPollTimeout = 500 * time.Millisecond
	// tapTimeout is the time for which a node gathers lines for a monitor that does not poll.
	tapTimeout = 10 * time.Second
)

// monitors are the taps of one node, by database.
type monitors struct {
	hub     *Hub
	peers   Peers
	count   atomic.Int32 // of taps: servers check it before making a line
	mu      sync.Mutex
	taps    map[string][]tap
	remote  map[uint64]*remoteTap
	serving map[*Monitor]struct{}
	closed  bool
	wg      sync.WaitGroup
}

// tap is a destination of lines.
type tap interface{ line(string) }

func (m *monitors) start(h *Hub, peers Peers) {
	m.hub, m.peers = h, peers
	m.taps, m.remote, m.serving = map[string][]tap{}, map[uint64]*remoteTap{}, map[*Monitor]struct{}{}
}

// addTap adds a tap; the lock is held.
func (m *monitors) addTap(db string, t tap) {
	m.taps[db] = append(slices.Clip(m.taps[db]), t) // a new array: lines reads the old one
	m.count.Add(1)
}

// removeTap removes a tap; the lock is held.
func (m *monitors) removeTap(db string, t tap) {
	left := slices.DeleteFunc(slices.Clone(m.taps[db]), func(o tap) bool { return o == t })
	m.count.Add(int32(len(left) - len(m.taps[db])))
	if m.taps[db] = left; len(left) == 0 {
		delete(m.taps, db)
	}
}

// Monitored reports whether there is any monitor. It costs one atomic load.
func (h *Hub) Monitored() bool { return h.monitors.count.Load() > 0 }

// ByScript is the address of a command that a script has called.
const ByScript = "lua"

// Executed sends a command to the monitors of db. addr is the client's address, ByScript, or
// empty for HTTP. Secrets are left out of the line.
func (h *Hub) Executed(db, addr string, argv [][]byte) {
	m := &h.monitors
	m.mu.Lock()
	taps := m.taps[db]
	m.mu.Unlock()
	if len(taps) == 0 {
		return
	}
	line := string(AppendLine(nil, time.Now(), addr, argv))
	for _, t := range taps {
		t.line(line)
	}
}

// Monitor is one client's view of what all nodes execute in a database.
type Monitor struct {
	inbox[string]
	of   *monitors
	db   string
	stop context.CancelFunc
}

func (m *Monitor) line(s string) {
	if !m.put(s, len(s)+eventCost) {
		m.finish(ErrSlow)
	}
}

// Monitor starts a monitor of db, which runs until Close. When it returns, all nodes that
// answer within firstPollTimeout take part.
func (h *Hub) Monitor(ctx context.Context, db string) *Monitor {
	all := &h.monitors
	life, stop := context.WithCancel(context.Background())
	m := &Monitor{of: all, db: db, stop: stop}
	m.inbox.open(h.max)
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		m.finish(ErrClosed)
		return m
	}
	all.addTap(db, m)
	all.serving[m] = struct{}{}
	if all.peers == nil {
		return m
	}
	polled := make(chan struct{})
	all.wg.Go(func() { m.follow(life, polled) })
	all.mu.Unlock()
	select {
	case <-polled:
	case <-ctx.Done():
	}
	all.mu.Lock()
	return m
}

// Close ends the monitor.
func (m *Monitor) Close() {
	m.finish(ErrClosed)
	m.stop()
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	if _, open := m.of.serving[m]; open {
		delete(m.of.serving, m)
		m.of.removeTap(m.db, m)
	}
}

// close ends all monitors.
func (m *monitors) close() {
	m.mu.Lock()
	m.closed = true
	serving := slices.Collect(maps.Keys(m.serving)) // unordered: each is closed alike
	m.mu.Unlock()
	for _, s := range serving {
		s.Close()
	}
	m.wg.Wait()
}

// follow polls all other nodes, also those that join later, until ctx ends. polled is closed
// when the present ones have answered, or firstPollTimeout is over.
func (m *Monitor) follow(ctx context.Context, polled chan<- struct{}) {
	polling := map[string]bool{}
	var all sync.WaitGroup
	defer all.Wait()
	begin := func() (first *sync.WaitGroup) { // to poll those that joined; first ends when they have answered once
		first = &sync.WaitGroup{}
		for _, node := range m.of.peers.Others() {
			if !polling[node] {
				polling[node] = true
				first.Add(1)
				all.Go(func() { m.pollNode(ctx, node, sync.OnceFunc(first.Done)) })
			}
		}
		return first
	}
	first, known := begin(), make(chan struct{})
	all.Go(func() { first.Wait(); close(known) })
	select {
	case <-known:
	case <-time.After(firstPollTimeout):
	case <-ctx.Done():
	}
	close(polled)
	for tick := time.Tick(time.Second); ; begin() {
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// pollNode polls one node until ctx ends. first is called when it has answered once, or when ctx ends.
func (m *Monitor) pollNode(ctx context.Context, node string, first func()) {
	defer first()
	q := pollRequest{watcher: rand.Uint64(), db: m.db}
	for ctx.Err() == nil {
		a, err := m.poll(ctx, node, q)
		if err != nil {
			pause(ctx, pollRetryDelay)
			continue
		}
		first()
		for _, line := range a.lines {
			m.line(line)
		}
		if a.lost {
			m.finish(ErrSlow)
			return
		}
		q.after = a.first + uint64(len(a.lines))
		q.hold = true
	}
}

func (m *Monitor) poll(ctx context.Context, node string, q pollRequest) (pollReply, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	b, err := m.of.peers.Ask(ctx, node, q.encode())
	if err != nil {
		return pollReply{}, err
	}
	return decodePollReply(b)
}

// errPollRequest is the error for a poll that can't be decoded.
var errPollRequest = errors.New("pubsub: malformed poll request")
