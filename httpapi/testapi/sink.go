package testapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of sinks.
const (
	maxSinks        = 1000
	maxReceived     = 10_000 // requests that one sink keeps
	maxSinkName     = 128
	maxSinkReplies  = 10_000
	maxSinkBody     = 1 << 20
	maxReplyDelayMs = 10 * 60 * 1000
)

// Reply is one answer of a sink.
type Reply struct {
	// Status is 200 if it is not given.
	Status int               `json:"status,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
	// DelayMs is the delay of the answer in milliseconds, by the machine's clock.
	DelayMs int64 `json:"delayMs,omitempty"`
	// HangUp closes the connection without an answer.
	HangUp bool `json:"hangUp,omitempty"`
}

func (r *Reply) check() error {
	switch {
	case r.Status != 0 && (r.Status < 200 || r.Status > 599):
		return fmt.Errorf("expected a status from 200 to 599, got %d", r.Status)
	case r.DelayMs < 0 || r.DelayMs > maxReplyDelayMs:
		return fmt.Errorf("expected delayMs from 0 to %d, got %d", maxReplyDelayMs, r.DelayMs)
	}
	return nil
}

// Received is one request that came to a sink.
type Received struct {
	At     int64       `json:"at"` // cluster time, unix milliseconds
	Method string      `json:"method"`
	Path   string      `json:"path"` // with its query
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
}

// sink answers by its script: one reply after the other, and the last of them again and again.
type sink struct {
	replies  []Reply
	received []Received
}

// next takes the reply to the next request.
func (s *sink) next() Reply {
	if len(s.replies) == 0 {
		return Reply{}
	}
	p := s.replies[0]
	if len(s.replies) > 1 {
		s.replies = s.replies[1:]
	}
	return p
}

// Sinks are endpoints on the server itself that deliveries can go to.
type Sinks struct {
	now func() int64

	// Watch, if set, is called with each request that has come to a sink, from any goroutine.
	Watch func(name string, r Received)

	mu  sync.Mutex
	all map[string]*sink
}

// NewSinks returns an empty set of sinks; a sink begins with its first request or script. now returns cluster time in
// unix milliseconds.
func NewSinks(now func() int64) *Sinks { return &Sinks{now: now, all: map[string]*sink{}} }

var errSinks = errors.New("too many sinks: reset the server, or use fewer names")

// named returns the sink of that name; the lock is held.
func (si *Sinks) named(name string) (*sink, error) {
	s := si.all[name]
	if s == nil {
		if len(si.all) >= maxSinks || len(name) > maxSinkName {
			return nil, errSinks
		}
		s = &sink{}
		si.all[name] = s
	}
	return s, nil
}

// Script replaces the replies of a sink.
func (si *Sinks) Script(name string, replies []Reply) error {
	if len(replies) > maxSinkReplies {
		return fmt.Errorf("expected at most %d replies, got %d", maxSinkReplies, len(replies))
	}
	for i := range replies {
		if err := replies[i].check(); err != nil {
			return fmt.Errorf("reply %d: %w", i, err)
		}
	}
	si.mu.Lock()
	defer si.mu.Unlock()
	s, err := si.named(name)
	if err == nil {
		s.replies = append([]Reply(nil), replies...)
	}
	return err
}

// Received returns the requests that came to a sink, the oldest first.
func (si *Sinks) Received(name string) []Received {
	si.mu.Lock()
	defer si.mu.Unlock()
	if s := si.all[name]; s != nil {
		return append([]Received{}, s.received...)
	}
	return []Received{}
}

// sinkPath begins the paths of sinks.
const sinkPath = "/test/sink/"

// Handler serves the sinks alone, for a server whose clock no test moves. permitted is as in New.
func (si *Sinks) Handler(permitted func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, of := strings.CutPrefix(r.URL.Path, sinkPath); of && name != "" {
			si.answer(w, r, name, permitted(r))
			return
		}
		fail(w, http.StatusNotFound, errors.New("this server has "+sinkPath+"NAME only under /test: start it with --clock for the rest"))
	})
}

// answer answers for a sink. Requests come without a token; with one, GET shows what the sink has received and PUT sets
// its script.
func (si *Sinks) answer(w http.ResponseWriter, r *http.Request, name string, permitted bool) {
	switch {
	case permitted && r.Method == http.MethodGet:
		answer(w, http.StatusOK, map[string]any{"requests": si.Received(name)})
	case permitted && r.Method == http.MethodPut:
		si.script(w, r, name)
	default:
		si.serve(w, r, name)
	}
}

// Reset forgets all sinks.
func (si *Sinks) Reset() {
	si.mu.Lock()
	defer si.mu.Unlock()
	si.all = map[string]*sink{}
}

// take notes a request and returns the reply to it.
func (si *Sinks) take(name string, r *http.Request) (Reply, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxSinkBody))
	if err != nil {
		return Reply{}, err
	}
	got := Received{At: si.now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body)}
	if si.Watch != nil {
		defer si.Watch(name, got)
	}
	si.mu.Lock()
	defer si.mu.Unlock()
	s, err := si.named(name)
	if err != nil {
		return Reply{}, err
	}
	s.received = append(s.received, got)
	if len(s.received) > maxReceived {
		s.received = s.received[1:]
	}
	return s.next(), nil
}

// serve answers a delivery.
func (si *Sinks) serve(w http.ResponseWriter, r *http.Request, name string) {
	p, err := si.take(name, r)
	if err != nil {
		fail(w, http.StatusInsufficientStorage, err)
		return
	}
	if p.DelayMs > 0 {
		timer := time.NewTimer(time.Duration(p.DelayMs) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	if p.HangUp {
		panic(http.ErrAbortHandler)
	}
	for name, value := range p.Header {
		w.Header().Set(name, value)
	}
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	w.WriteHeader(p.Status)
	_, _ = io.WriteString(w, p.Body) // a client that hung up needs no answer
}

func fail(w http.ResponseWriter, status int, err error) {
	answer(w, status, map[string]string{"error": err.Error()})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that hung up needs no answer
}
