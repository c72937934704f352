package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"trireme/fsm/wire"
)

// question is what a node with a monitor asks another node.
type question struct {
	watcher uint64 // tells monitors apart
	db      string
	after   uint64 // how many lines have come
	hold    bool   // wait for lines if there are none
}

func (q *question) encode() []byte {
	var w wire.Writer
	w.Uvarint(q.watcher)
	w.String(q.db)
	w.Uvarint(q.after)
	w.Bool(q.hold)
	return w.B
}

func decodeQuestion(b []byte) (question, error) {
	r := wire.NewReader(b)
	q := question{watcher: r.Uvarint(), db: r.String(), after: r.Uvarint(), hold: r.Bool()}
	if err := r.Done(); err != nil {
		return q, errors.Join(errQuestion, err)
	}
	return q, nil
}

// answer are lines from number first on; lost says that later ones are missing.
type answer struct {
	first uint64
	lines []string
	lost  bool
}

func (a *answer) encode() []byte {
	var w wire.Writer
	w.Uvarint(a.first)
	w.Bool(a.lost)
	w.Uvarint(uint64(len(a.lines)))
	for _, l := range a.lines {
		w.String(l)
	}
	return w.B
}

func decodeAnswer(b []byte) (answer, error) {
	r := wire.NewReader(b)
	a := answer{first: r.Uvarint(), lost: r.Bool()}
	a.lines = make([]string, r.Count(1))
	for i := range a.lines {
		a.lines[i] = r.String()
	}
	return a, r.Done()
}

// remote gathers lines for a monitor on another node, within bounds.
type remote struct {
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

func (t *remote) line(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost || len(t.lines) >= t.max.count || t.bytes+len(s) > t.max.bytes {
		t.lost = true
	} else {
		t.lines = append(t.lines, s)
		t.bytes += len(s)
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// answerBytes is about how much one answer holds.
const answerBytes = 256 << 10

// take drops the lines that have come and gives those that wait.
func (t *remote) take(after uint64) answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = time.Now()
	for t.first < after && len(t.lines) > 0 {
		t.bytes -= len(t.lines[0])
		t.lines = t.lines[1:]
		t.first++
	}
	a := answer{first: t.first}
	size := 0
	for _, l := range t.lines {
		if size += len(l); size > answerBytes && len(a.lines) > 0 {
			return a
		}
		a.lines = append(a.lines, l)
	}
	a.lost = t.lost
	return a
}

// Answer answers another node's hub: the lines of this node's doors.
func (h *Hub) Answer(ctx context.Context, b []byte) ([]byte, error) {
	q, err := decodeQuestion(b)
	if err != nil {
		return nil, err
	}
	t := h.monitors.remoteOf(q)
	if t == nil {
		return nil, ErrClosed
	}
	a := t.take(q.after)
	if q.hold && len(a.lines) == 0 && !a.lost {
		held := time.NewTimer(holdQuestion)
		defer held.Stop()
		for len(a.lines) == 0 && !a.lost {
			select {
			case <-t.wake: // perhaps of lines that were taken already
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

// remoteOf is the tap of a monitor elsewhere, opened by its first question; nil if the
// hub is closed.
func (m *monitors) remoteOf(q question) *remote {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	t := m.remote[q.watcher]
	if t == nil {
		t = &remote{max: m.hub.max, db: q.db, wake: make(chan struct{}, 1), first: q.after, seen: time.Now()}
		m.remote[q.watcher] = t
		m.open(q.db, t)
	}
	return t
}

// expire closes the taps of monitors that have not asked for long, until ctx ends.
func (m *monitors) expire(ctx context.Context) {
	tick := time.NewTicker(forgetAfter / 2)
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
			old := time.Since(t.seen) > forgetAfter
			t.mu.Unlock()
			if old {
				delete(m.remote, id)
				m.shut(t.db, t)
			}
		}
		m.mu.Unlock()
	}
}
