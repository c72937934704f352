package deliveries

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Arrival is one request at the sink.
type Arrival struct {
	// Label and Number are those of the URL: http://sink/label/number.
	Label  string
	Number int
	// Message and Retried are the values of the delivery's headers.
	Message string
	Retried int
	// Begin and End are by the monotonic clock of the sink.
	Begin, End time.Time
	Status     int
	// Body is what came, up to keptBody bytes.
	Body []byte
	// Broken: the connection ended before the answer was written.
	Broken bool
}

// keptBody is the most that an Arrival keeps of a body.
const keptBody = 1 << 10

// Answer is the sink's reaction to a request: it waits, and answers with a status, and with commands.
type Answer struct {
	Wait   time.Duration
	Status int
	// Commit are the commands that it brings, as JSON.
	Commit string
}

// Sink is a destination on this machine that remembers every request.
type Sink struct {
	addr   string
	server *http.Server
	answer func(label string, number, nth int) Answer
	over   chan struct{}

	mu    sync.Mutex
	all   []Arrival
	times map[address]int // requests seen
}

// address is the destination of a message.
type address struct {
	label  string
	number int
}

// NewSink starts a sink. answer is asked for each request; nth counts the requests to the
// same address from 0. Close it.
func NewSink(answer func(label string, number, nth int) Answer) (*Sink, error) {
	return NewSinkAt("127.0.0.1", answer)
}

// NewSinkAt starts a sink at another address of this machine, for nodes that are hosts of
// their own.
func NewSinkAt(host string, answer func(label string, number, nth int) Answer) (*Sink, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("open a sink: %w", err)
	}
	s := &Sink{addr: listener.Addr().String(), answer: answer, over: make(chan struct{}), times: map[address]int{}}
	s.server = &http.Server{Handler: s}
	go func() {
		defer close(s.over)
		s.server.Serve(listener)
	}()
	return s, nil
}

// Close ends the sink and what it has under way.
func (s *Sink) Close() {
	s.server.Close()
	<-s.over
}

// URL is the address of a message.
func (s *Sink) URL(label string, number int) string {
	return fmt.Sprintf("http://%s/%s/%d", s.addr, label, number)
}

// ServeHTTP takes a delivery.
func (s *Sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	body, _ := io.ReadAll(io.LimitReader(r.Body, keptBody)) // a body cut short shows in the context
	io.Copy(io.Discard, r.Body)
	label, digits, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	number, err := strconv.Atoi(digits)
	if err != nil {
		number = -1
	}
	retried, _ := strconv.Atoi(r.Header.Get("Upstash-Retried"))
	a := Arrival{Label: label, Number: number, Message: r.Header.Get("Upstash-Message-Id"), Retried: retried, Begin: begin, Body: body}
	to := address{label, number}
	s.mu.Lock()
	nth := s.times[to]
	s.times[to]++
	s.mu.Unlock()
	n := s.answer(label, number, nth)
	if n.Wait > 0 {
		timer := time.NewTimer(n.Wait)
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
		timer.Stop()
	}
	a.Status, a.End, a.Broken = n.Status, time.Now(), r.Context().Err() != nil
	s.mu.Lock()
	s.all = append(s.all, a)
	s.mu.Unlock()
	if n.Commit != "" {
		w.Header().Set("Svc-Commit", n.Commit)
	}
	w.WriteHeader(n.Status)
}

// Arrivals are the finished requests of a label, in the order in which they ended.
func (s *Sink) Arrivals(label string) (all []Arrival) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.all {
		if a.Label == label {
			all = append(all, a)
		}
	}
	return all
}

// Count returns the number of all requests.
func (s *Sink) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}
