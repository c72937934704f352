package hub

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A monitor shows what the doors of all nodes execute in one database. The node that
// serves it asks every other node for the lines of its doors, again and again: a
// question that finds none waits for some. Lines are kept until the next question says
// that they have come, so none is lost on the way or shown twice; those of a node that
// dies, or can't be reached for forgetAfter, are.

// Peers are the other nodes of the cluster, as monitors need them.
type Peers interface {
	// Others are the ids of the other nodes.
	Others() []string
	// Ask puts a question to the hub of a node, which answers by Hub.Answer.
	Ask(ctx context.Context, node string, question []byte) ([]byte, error)
}

const (
	// holdQuestion is how long a question waits for lines.
	holdQuestion = 2 * time.Second
	// askTime is how long a node may take to answer, and askAgain the pause after one
	// that did not.
	askTime  = holdQuestion + 2*time.Second
	askAgain = 250 * time.Millisecond
	// greetTime is how long a new monitor waits until the other nodes know of it.
	greetTime = 500 * time.Millisecond
	// forgetAfter is how long a node gathers lines for a monitor that does not ask.
	forgetAfter = 10 * time.Second
)

// monitors are the taps of one node, by database.
type monitors struct {
	hub     *Hub
	peers   Peers
	count   atomic.Int32 // of taps: the doors look here first
	mu      sync.Mutex
	taps    map[string][]tap
	remote  map[uint64]*remote
	serving map[*Monitor]struct{}
	closed  bool
	wg      sync.WaitGroup
}

// tap is where lines go.
type tap interface{ line(string) }

func (m *monitors) start(h *Hub, peers Peers) {
	m.hub, m.peers = h, peers
	m.taps, m.remote, m.serving = map[string][]tap{}, map[uint64]*remote{}, map[*Monitor]struct{}{}
}

// open adds a tap; the lock is held.
func (m *monitors) open(db string, t tap) {
	m.taps[db] = append(slices.Clip(m.taps[db]), t) // a new array: lines reads the old one
	m.count.Add(1)
}

// shut removes a tap; the lock is held.
func (m *monitors) shut(db string, t tap) {
	left := slices.DeleteFunc(slices.Clone(m.taps[db]), func(o tap) bool { return o == t })
	m.count.Add(int32(len(left) - len(m.taps[db])))
	if m.taps[db] = left; len(left) == 0 {
		delete(m.taps, db)
	}
}

// Monitored tells whether somebody monitors anything. It costs next to nothing.
func (h *Hub) Monitored() bool { return h.monitors.count.Load() > 0 }

// Executed shows a command to those who monitor db. addr is the client's address, or
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

// Monitor begins to show what is executed in db, until Close. When it returns, all
// nodes that answer in greetTime take part.
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
	all.open(db, m)
	all.serving[m] = struct{}{}
	if all.peers == nil {
		return m
	}
	greeted := make(chan struct{})
	all.wg.Go(func() { m.follow(life, greeted) })
	all.mu.Unlock()
	select {
	case <-greeted:
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
		m.of.shut(m.db, m)
	}
}

// close ends all monitors.
func (m *monitors) close() {
	m.mu.Lock()
	m.closed = true
	var serving []*Monitor
	for s := range m.serving { // unordered: each is closed alike
		serving = append(serving, s)
	}
	m.mu.Unlock()
	for _, s := range serving {
		s.Close()
	}
	m.wg.Wait()
}

// follow asks all other nodes, also those that come later, until ctx ends. greeted
// closes when those of now have answered, or greetTime is over.
func (m *Monitor) follow(ctx context.Context, greeted chan<- struct{}) {
	asked := map[string]bool{}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var first, all sync.WaitGroup
	defer all.Wait()
	for begun := false; ; {
		for _, node := range m.of.peers.Others() {
			if asked[node] {
				continue
			}
			asked[node] = true
			if begun {
				all.Go(func() { m.poll(ctx, node, func() {}) })
				continue
			}
			first.Add(1)
			all.Go(func() { m.poll(ctx, node, sync.OnceFunc(first.Done)) })
		}
		if !begun {
			begun = true
			known := make(chan struct{})
			all.Go(func() { first.Wait(); close(known) })
			select {
			case <-known:
			case <-time.After(greetTime):
			case <-ctx.Done():
			}
			close(greeted)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// poll asks one node until ctx ends. known is called when it has answered once, or
// never will.
func (m *Monitor) poll(ctx context.Context, node string, known func()) {
	defer known()
	q := question{watcher: rand.Uint64(), db: m.db}
	for ctx.Err() == nil {
		a, err := m.ask(ctx, node, q)
		if err != nil {
			pause(ctx, askAgain)
			continue
		}
		known()
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

func (m *Monitor) ask(ctx context.Context, node string, q question) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	b, err := m.of.peers.Ask(ctx, node, q.encode())
	if err != nil {
		return answer{}, err
	}
	return decodeAnswer(b)
}

// errQuestion says that a question can't be read.
var errQuestion = errors.New("hub: malformed question")
