package consensus

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// calls are the kinds of the tests.
var calls = Calls{
	Append: transport.Failed + 1, Confirm: transport.Failed + 2, Campaign: transport.Failed + 3, CommitIndex: transport.Failed + 4,
	Unknown: "unknown call",
}

// trusting has the callbacks of a port that trusts everybody.
type trusting struct{}

func (trusting) Expected(string) string                         { return "any" }
func (trusting) Admit(transport.Hello, transport.Purpose) error { return nil }
func (trusting) Verify(string, time.Duration) error             { return nil }
func (trusting) Excluded(error)                                 {}
func (trusting) Rejected(net.Addr, error)                       {}

// member is a node with a port and a disk of its own. It is its port's callbacks and its log's state machine. Its timeouts
// are so long that no test lives to see them.
type member struct {
	*Replica
	trusting
	id    string
	mux   *transport.Mux
	store *logstore.Store

	mu      sync.Mutex
	ready   bool // its Replica may be called
	applied []string
	index   uint64 // of the last entry that was applied
	changes int    // of the servers, that were applied
}

func (m *member) Hello() transport.Hello { return transport.Hello{Node: m.id} }

func (m *member) Handle(_ transport.Hello, kind transport.Kind, payload []byte, answer func([]byte, error)) {
	m.mu.Lock()
	ready := m.ready
	m.mu.Unlock()
	switch {
	case !ready:
		answer(nil, errors.New("starting"))
	case kind == calls.Append && len(payload) == 0:
		answer(nil, nil)
	case !m.Replica.Handle(kind, payload, answer):
		answer(nil, errors.New(calls.Unknown))
	}
}

func (m *member) Apply(entries []Entry) []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	answers := make([]any, len(entries))
	for i, e := range entries {
		if m.index = e.Index; !e.Command {
			m.changes++
			continue
		}
		m.applied = append(m.applied, string(e.Data))
		answers[i] = "applied " + string(e.Data)
	}
	return answers
}

func (m *member) Reached(index uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.index >= index
}

func (m *member) Snapshot() (func(io.Writer) error, func(), error) {
	m.mu.Lock()
	state := strings.Join(m.applied, "\n")
	m.mu.Unlock()
	return func(w io.Writer) error { _, err := io.WriteString(w, state); return err }, func() {}, nil
}

func (m *member) Receive(_ []Server, snapshot io.Reader) io.Reader { return snapshot }

func (m *member) Restore(r io.Reader) error {
	b, err := io.ReadAll(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applied = strings.Split(string(b), "\n")
	return err
}

// has reports whether a command was applied.
func (m *member) has(data string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.applied, data)
}

// open opens a member's port and disk.
func open(t *testing.T, id string) *member {
	t.Helper()
	m, dir := &member{id: id}, t.TempDir()
	var err error
	if m.mux, err = transport.Listen(transport.Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, m); err != nil {
		t.Fatal(err)
	}
	m.store, err = logstore.Open(logstore.Options{
		Dir: dir, Fatal: func(err error) { t.Error(err) }, Heartbeat: time.Minute, ProbeEvery: -1, ScrubEvery: -1,
		Space: logstore.Space{Reserve: -1, Floor: logstore.Floor{Bytes: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	snapshots, err := logstore.OpenSnapshots(dir, 2, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	m.Replica = New(Config{
		ID: id, Heartbeat: time.Minute, TrailingLogs: 1000, Store: m.store, Snapshots: snapshots, Machine: m,
		Mux: m.mux, Pool: transport.NewPool(m.mux), Calls: calls, Log: slog.New(slog.DiscardHandler), RaftLog: hclog.NewNullLogger(),
	})
	t.Cleanup(func() { m.stop(t) })
	m.mux.Start()
	return m
}

// stop ends a member's raft, port and disk.
func (m *member) stop(t *testing.T) {
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	m.c.Pool.Close()
	m.mux.Close()
	m.mux.Wait()
	if err := m.store.Close(); err != nil {
		t.Error(err)
	}
}

// found starts a member of a new log.
func (m *member) found(t *testing.T, voters ...Server) {
	t.Helper()
	if err := m.Bootstrap(voters); err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.ready = true
	m.mu.Unlock()
}

// start starts members of one log. None leads.
func start(t *testing.T, count int) (all []*member) {
	t.Helper()
	var voters []Server
	for i := range count {
		m := open(t, fmt.Sprint("n", i+1))
		all = append(all, m)
		voters = append(voters, Server{ID: m.id, Addr: m.mux.Advertise(), Voter: true})
	}
	for _, m := range all {
		m.found(t, voters...)
	}
	return all
}

// lead makes a member campaign until it leads.
func (m *member) lead(t *testing.T) {
	t.Helper()
	if err := m.Campaign(); err != nil {
		t.Fatal(err)
	}
	await(t, m.id+" leads", func() bool { return m.Role() == Leader })
}

// write makes the leader apply a command.
func (m *member) write(t *testing.T, data string) {
	t.Helper()
	got, err := m.Propose([]byte(data)).Wait()
	if err != nil || got != "applied "+data {
		t.Fatalf("write %q: answered %v, %v, want %q", data, got, err, "applied "+data)
	}
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not in a minute: " + what)
		}
	}
}
