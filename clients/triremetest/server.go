package triremetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startLimit bounds the start of a server, stopLimit its stop.
const (
	startLimit = time.Minute
	stopLimit  = time.Minute
)

// Server is a running development server.
type Server struct {
	// URL is the URL of the HTTP API: the keyspace, /v2 and /test.
	URL string
	// Token is the standard token of the keyspace, MessagesToken that of /v2, AdminToken
	// opens everything.
	Token, ReadOnlyToken, MessagesToken, AdminToken string
	// CurrentSigningKey and NextSigningKey sign deliveries.
	CurrentSigningKey, NextSigningKey string

	env []string
}

// Start runs a server with a frozen clock until the test ends. It runs in the process of the test. With flags of "trireme dev" it is
// StartProcess.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	if len(flags) > 0 {
		return StartProcess(t, flags...)
	}
	return startHere(t)
}

// StartProcess runs the server in a process of its own, with flags of "trireme dev": for what only the whole program does, such as exports of
// spans. The binary is that of TRIREME_BIN, or one that is built from this module.
func StartProcess(t testing.TB, flags ...string) *Server {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatalf("triremetest: %v", err)
	}
	args := append([]string{"dev", "--clock", "frozen", "--http", "127.0.0.1:0", "--resp", "off"}, flags...)
	cmd := exec.Command(bin, args...)
	cmd.Dir = t.TempDir()
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("triremetest: start %s: %v", bin, err)
	}
	ended := make(chan struct{})
	s := &Server{}
	ready := make(chan struct{})
	go func() {
		defer close(ended)
		s.read(out, ready)
		_ = cmd.Wait() // it is killed at the end, one way or the other
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
		case <-time.After(stopLimit):
			_ = cmd.Process.Kill()
			<-ended
		}
		if t.Failed() && log.Len() > 0 {
			t.Logf("log of the server:\n%s", log.String())
		}
	})
	select {
	case <-ready:
		return s
	case <-ended:
		t.Fatalf("triremetest: the server ended before it was ready:\n%s", log.String())
	case <-time.After(startLimit):
		t.Fatalf("triremetest: the server is not ready after %v", startLimit)
	}
	return nil
}

// lastVariable is the variable that the server prints last.
const lastVariable = "TRIREME_ADMIN_TOKEN"

// read takes the variables that the server prints, and closes ready after the last.
func (s *Server) read(out io.Reader, ready chan<- struct{}) {
	into := map[string]*string{
		"UPSTASH_REDIS_REST_URL": &s.URL, "UPSTASH_REDIS_REST_TOKEN": &s.Token, "UPSTASH_REDIS_REST_READONLY_TOKEN": &s.ReadOnlyToken,
		"QSTASH_TOKEN": &s.MessagesToken, "QSTASH_CURRENT_SIGNING_KEY": &s.CurrentSigningKey, "QSTASH_NEXT_SIGNING_KEY": &s.NextSigningKey,
		lastVariable: &s.AdminToken,
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		name, value, is := strings.Cut(lines.Text(), "=")
		if !is || strings.ContainsAny(name, " /") {
			continue
		}
		s.env = append(s.env, lines.Text())
		if to := into[name]; to != nil {
			*to = value
		}
		if name == lastVariable {
			close(ready)
			break
		}
	}
	_, _ = io.Copy(io.Discard, out) // what else it prints is for people
}

// Environ are the variables that clients read, NAME=value, for a program that a test runs.
func (s *Server) Environ() []string { return append([]string(nil), s.env...) }

// built is the binary of this module, which is built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "triremetest-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "trireme")
	cmd := exec.Command("go", "build", "-tags", "nomsgpack", "-o", bin, "github.com/trireme-dev/trireme/cmd/trireme")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server (or name one in TRIREME_BIN): %w\n%s", err, out)
	}
	return bin, nil
})

func binary() (string, error) {
	if bin := os.Getenv("TRIREME_BIN"); bin != "" {
		return bin, nil
	}
	return built()
}

// call asks the server and decodes its answer into out, which may be nil.
func (s *Server) call(t testing.TB, method, path string, body, out any) {
	t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, s.URL+path, in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.AdminToken)
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer p.Body.Close()
	text, err := io.ReadAll(p.Body)
	if err != nil || p.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %v: %s", method, path, p.Status, err, text)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

// clock is the reply of /test/clock.
type clock struct {
	Now int64 `json:"now"`
}

// Now is the server's time.
func (s *Server) Now(t testing.TB) time.Time {
	t.Helper()
	var c clock
	s.call(t, http.MethodGet, "/test/clock", nil, &c)
	return time.UnixMilli(c.Now)
}

// Advance moves time forward by d, runs everything that becomes due on the way, in order,
// and returns when it has settled.
func (s *Server) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	s.call(t, http.MethodPost, "/test/clock", map[string]any{"advance": d.String()}, nil)
}

// AdvanceTo is Advance to a moment.
func (s *Server) AdvanceTo(t testing.TB, at time.Time) {
	t.Helper()
	s.call(t, http.MethodPost, "/test/clock", map[string]any{"to": at.UnixMilli()}, nil)
}

// Auto has time move to the next due time by itself whenever nothing is under way.
func (s *Server) Auto(t testing.TB) {
	t.Helper()
	s.call(t, http.MethodPost, "/test/clock", map[string]any{"mode": "auto"}, nil)
}

// Freeze ends Auto.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.call(t, http.MethodPost, "/test/clock", map[string]any{"mode": "frozen"}, nil)
}

// WaitIdle waits until no delivery, callback or step is under way or due.
func (s *Server) WaitIdle(t testing.TB) {
	t.Helper()
	s.call(t, http.MethodPost, "/test/idle", nil, nil)
}

// Reset empties the server; its tokens and its time stay.
func (s *Server) Reset(t testing.TB) {
	t.Helper()
	s.call(t, http.MethodPost, "/test/reset", nil, nil)
}

// Delivery is a request that the server has sent.
type Delivery struct {
	At            int64       `json:"at"` // unix milliseconds of the server's time
	MessageID     string      `json:"messageId"`
	ScheduleID    string      `json:"scheduleId"`
	WorkflowRunID string      `json:"workflowRunId"`
	Method        string      `json:"method"`
	URL           string      `json:"url"`
	Header        http.Header `json:"header"`
	Body          string      `json:"body"`
	Status        int         `json:"status"`
	ResponseBody  string      `json:"responseBody"`
	Error         string      `json:"error"`
}

// Deliveries returns the deliveries that match all filters, the oldest first. A filter is a name and a
// value: messageId, scheduleId, workflowRunId, url (a prefix), method, status.
func (s *Server) Deliveries(t testing.TB, filters ...string) []Delivery {
	t.Helper()
	query := url.Values{}
	for i := 0; i+1 < len(filters); i += 2 {
		query.Add(filters[i], filters[i+1])
	}
	var out struct {
		Deliveries []Delivery `json:"deliveries"`
	}
	s.call(t, http.MethodGet, "/test/deliveries?"+query.Encode(), nil, &out)
	return out.Deliveries
}

// Sink is an endpoint on the server itself that answers deliveries by a script.
type Sink struct {
	// URL is the destination to publish to.
	URL string

	s    *Server
	name string
}

// Sink is the sink of that name. Without a script it answers 200.
func (s *Server) Sink(name string) *Sink {
	return &Sink{URL: s.URL + "/test/sink/" + url.PathEscape(name), s: s, name: name}
}

// Reply is one answer of a sink.
type Reply struct {
	Status int               `json:"status,omitempty"` // 0 is 200
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
	// DelayMs delays the answer, in milliseconds of real time.
	DelayMs int64 `json:"delayMs,omitempty"`
	// HangUp closes the connection without an answer.
	HangUp bool `json:"hangUp,omitempty"`
}

// Script has the sink answer so, one reply after the other; the last one is repeated.
func (s *Sink) Script(t testing.TB, replies ...Reply) {
	t.Helper()
	s.s.call(t, http.MethodPut, "/test/sink/"+url.PathEscape(s.name), map[string]any{"replies": replies}, nil)
}

// Received is a request that came to a sink.
type Received struct {
	At     int64       `json:"at"` // unix milliseconds of the server's time
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
}

// Received are the requests that came to the sink, the oldest first.
func (s *Sink) Received(t testing.TB) []Received {
	t.Helper()
	var out struct {
		Requests []Received `json:"requests"`
	}
	s.s.call(t, http.MethodGet, "/test/sink/"+url.PathEscape(s.name), nil, &out)
	return out.Requests
}
