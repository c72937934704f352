package pubsub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// pollRequest asks another node for the lines of a monitor.
type pollRequest struct {
	watcher uint64 // identifies the monitor
	db      string
	after   uint64 // how many lines have arrived
	hold    bool   // wait for lines if there are none
}

func (r *pollRequest) encode() []byte {
	var w wire.Writer
	w.Uvarint(r.watcher)
	w.String(r.db)
	w.Uvarint(r.after)
	w.Bool(r.hold)
	return w.B
}

func decodePollRequest(b []byte) (pollRequest, error) {
	r := wire.NewReader(b)
	q := pollRequest{watcher: r.Uvarint(), db: r.String(), after: r.Uvarint(), hold: r.Bool()}
	if err := r.Done(); err != nil {
		return q, errors.Join(errPollRequest, err)
	}
	return q, nil
}

// pollReply has the lines from number first on; lost reports that later ones are missing.
type pollReply struct {
	first uint64
	lines []string
	lost  bool
}

func (r *pollReply) encode() []byte {
	var w wire.Writer
	w.Uvarint(r.first)
	w.Bool(r.lost)
	w.Uvarint(uint64(len(r.lines)))
	for _, l := range r.lines {
		w.String(l)
	}
	return w.B
}

func decodePollReply(b []byte) (pollReply, error) {
	r := wire.NewReader(b)
	a := pollReply{first: r.Uvarint(), lost: r.Bool()}
	a.lines = make([]string, r.Count(1))
	for i := range a.lines {
		a.lines[i] = r.String()
	}
	return a, r.Done()
}

// remoteTap gathers lines for a monitor on another node, within bounds.
type remoteTap struct {
	max  bounds
	db   string
	wake chan struct{}

	mu    sync.Mutex
	first uint64 // number of lines[0]
	lines []string
	bytes int
	lost  bool
	seen  time.Time
}

func (t *remoteTap) line(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost || len(t.lines) >= t.max.count || t.bytes+len(s) > t.max.bytes {
		t.lost = true
	} else {
		t.lines = append(t.lines, s)
		t.bytes += len(s)
	}
	signal(t.wake)
}

// maxPollReply is about how much one reply holds, in bytes.
const maxPollReply = 256 << 10

// take drops the acknowledged lines and returns those that wait.
func (t *remoteTap) take(after uint64) pollReply {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = time.Now()
	for t.first < after && len(t.lines) > 0 {
		t.bytes -= len(t.lines[0])
		t.lines = t.lines[1:]
		t.first++
	}
	a := pollReply{first: t.first}
	size := 0
	for _, l := range t.lines {
		if size += len(l); size > maxPollReply && len(a.lines) > 0 {
			return a
		}
		a.lines = append(a.lines, l)
	}
	a.lost = t.lost
	return a
}

// ServePoll answers another node's hub with the lines of this node's servers.
func (h *Hub) ServePoll(ctx context.Context, b []byte) ([]byte, error) {
	q, err := decodePollRequest(b)
	if err != nil {
		return nil, err
	}
	t := h.monitors.remoteTap(q)
	if t == nil {
		return nil, ErrClosed
	}
	a := t.take(q.after)
	if q.hold && len(a.lines) == 0 && !a.lost {
		held := time.NewTimer(holdPoll)
		defer held.Stop()
		for len(a.lines) == 0 && !a.lost {
			select {
			case <-t.wake: // perhaps for lines that were taken already
				a = t.take(q.after)
				continue
			case <-held.C:
			case <-h.done:
			case <-ctx.Done():
			}
			break
		}
	}
	return a.encode(), nil
}

// remoteTap returns the tap of a monitor on another node, made by its first poll; nil if the hub is closed.
func (m *monitors) remoteTap(q pollRequest) *remoteTap {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	t := m.remote[q.watcher]
	if t == nil {
		t = &remoteTap{max: m.hub.max, db: q.db, wake: make(chan struct{}, 1), first: q.after, seen: time.Now()}
		m.remote[q.watcher] = t
		m.addTap(q.db, t)
	}
	return t
}

// expire removes the taps of monitors that have stopped polling, until ctx ends.
func (m *monitors) expire(ctx context.Context) {
	tick := time.NewTicker(tapTimeout / 2)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		m.mu.Lock()
		for id, t := range m.remote { // unordered: each is judged alone
			t.mu.Lock()
			old := time.Since(t.seen) > tapTimeout
			t.mu.Unlock()
			if old {
				delete(m.remote, id)
				m.removeTap(t.db, t)
			}
		}
		m.mu.Unlock()
	}
}
