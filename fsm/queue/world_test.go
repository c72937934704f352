package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// tb is a test, or one run of a property.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// world is a store in a log of its own making: every operation is an entry.
type world struct {
	t     tb
	s     *Store
	now   int64
	index uint64
	term  uint64
	level env.Level // env.Latest unless a test says otherwise
}

const start = 1_790_000_000_000

// newWorld is a world whose store is checked as a whole at the end of a test.
func newWorld(t tb) *world {
	w := &world{t: t, s: New(), now: start, term: 1, level: env.Latest}
	if t, ok := t.(*testing.T); ok {
		t.Cleanup(func() {
			if !t.Failed() {
				checkStore(t, w.s)
			}
		})
	}
	return w
}

// env is the environment of the next entry.
func (w *world) env() *env.Env {
	w.index++
	e := env.New(w.index, w.now, w.level, seed(w.index), 0)
	e.Session = 7
	return e
}

func seed(index uint64) (s [16]byte) {
	binary.BigEndian.PutUint64(s[:], index)
	return s
}

// publish makes one message, or those of a group, and fails if it is refused.
func (w *world) publish(p Publication) []Published {
	w.t.Helper()
	out, err := w.s.Publish(w.env(), Publications{[]Publication{p}})
	if err != nil || out.Items[0].Refused != nil {
		w.t.Fatalf("publish: %v %v", err, out.Items[0].Refused)
	}
	return out.Items[0].Messages
}

// refused publishes and returns the refusal, which there has to be.
func (w *world) refused(p Publication) *Error {
	w.t.Helper()
	out, _ := w.s.Publish(w.env(), Publications{[]Publication{p}})
	if out.Items[0].Refused == nil {
		w.t.Fatalf("publish was not refused: %+v", out.Items[0])
	}
	return out.Items[0].Refused
}

// advance claims at most n attempts.
func (w *world) advance(n int, ticks ...Tick) []Attempt {
	return w.s.Advance(w.env(), Demand{Term: w.term, Claims: n, Ticks: ticks})
}

// one claims exactly one attempt.
func (w *world) one() Attempt {
	w.t.Helper()
	list := w.advance(10)
	if len(list) != 1 {
		w.t.Fatalf("%d attempts claimed, want 1", len(list))
	}
	return list[0]
}

// none fails if anything is claimed.
func (w *world) none() {
	w.t.Helper()
	if list := w.advance(10); len(list) != 0 {
		w.t.Fatalf("claimed %s %s", list[0].ID, list[0].Content.URL)
	}
}

// finish answers an attempt with a status; the retry delay is a second.
func (w *world) finish(a Attempt, status int) Disposition {
	w.t.Helper()
	return w.result(Result{AttemptRef: a.Ref(), Response: Response{Status: status, Body: []byte("answer")}, RetryDelay: 1000})
}

func (w *world) result(n Result) Disposition {
	w.t.Helper()
	out, err := w.s.Finish(w.env(), Results{[]Result{n}})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Items[0]
}

// states are those of a message's events, oldest first.
func (w *world) states(id ID) (list []string) {
	events, _, _ := w.s.Events(&Filter{IDs: []ID{id}}, Page{Limit: 1000})
	for _, v := range events {
		list = append(list, v.State.String())
	}
	return list
}

// records returns the records that the store saves.
func records(t tb, s *Store) (list [][]byte) {
	t.Helper()
	if err := s.Save(func(r []byte) error { list = append(list, slices.Clone(r)); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func digest(t tb, s *Store) [32]byte {
	t.Helper()
	return sha256.Sum256(bytes.Join(records(t, s), []byte{0}))
}

// restored is a store made of what s saves.
func restored(t tb, s *Store) *Store {
	t.Helper()
	to := New()
	for _, r := range records(t, s) {
		if err := to.Load(r); err != nil {
			t.Fatalf("record of kind %d: %v", r[0], err)
		}
	}
	if digest(t, to) != digest(t, s) {
		t.Fatal("saved again it differs")
	}
	if err := to.Consistent(); err != nil {
		t.Fatal(err)
	}
	if to.Used() != s.Used() {
		t.Fatalf("restored uses %d bytes, want %d", to.Used(), s.Used())
	}
	return to
}

func url(path string) Publication { return Publication{URL: "http://example.com/" + path} }
