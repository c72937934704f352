package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trireme-dev/trireme/internal/testgate"
)

// manager is a service manager that remembers what it hears.
type manager struct {
	path  string
	heard chan string
}

func newManager(t interface {
	Fatalf(string, ...any)
}, dir string) (m *manager, stop func()) {
	m = &manager{path: filepath.Join(dir, "notify"), heard: make(chan string, 10_000)}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 4096)
		for {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			m.heard <- string(b[:n])
		}
	}()
	return m, func() {
		conn.Close()
		select {
		case <-done:
		case <-time.After(waitTimeout):
			t.Fatalf("the service manager listens although its socket is closed")
		}
	}
}

// await waits until something is heard.
func (m *manager) await(want string) error {
	limit := time.NewTimer(waitTimeout)
	defer limit.Stop()
	for {
		select {
		case text := <-m.heard:
			if strings.Contains(text, want) {
				return nil
			}
		case <-limit.C:
			return fmt.Errorf("the service manager never heard %s", want)
		}
	}
}

type managerKey struct{}

// manages listens as a service manager does whose watchdog wants to hear something every
// two seconds, in the variables of the script.
func manages(ts *testscript.TestScript, _ bool, _ []string) {
	dir, err := os.MkdirTemp("", "notify") // a socket's path is short
	ts.Check(err)
	m, stop := newManager(ts, dir)
	ts.Defer(func() { stop(); os.RemoveAll(dir) })
	ts.Setenv("NOTIFY_SOCKET", m.path)
	ts.Setenv("WATCHDOG_USEC", "2000000")
	*ts.Value(managerKey{}).(**manager) = m
}

// heard waits until the service manager has heard something. If it never does, the nodes' logs say why.
func heard(ts *testscript.TestScript, _ bool, args []string) {
	err := (*ts.Value(managerKey{}).(**manager)).await(args[0])
	if err == nil {
		return
	}
	logs, _ := filepath.Glob(ts.MkAbs("err*")) // the pattern is a good one
	for _, path := range logs {
		text, _ := os.ReadFile(path) // one that can't be read is empty
		ts.Logf("%s:\n%s", filepath.Base(path), text)
	}
	ts.Fatalf("%v", err)
}

// TestWatchdogIsNotFedByAHungNode: the watchdog is fed while the process answers, and no more when
// it hangs.
func TestWatchdogIsNotFedByAHungNode(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m, stop := newManager(t, dir)
	defer stop()
	t.Setenv("NOTIFY_SOCKET", m.path)
	t.Setenv("WATCHDOG_USEC", "2000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	s := newSupervisor(slog.New(slog.DiscardHandler))
	defer s.close()
	ctx, cancel := context.WithCancel(t.Context())
	hang, done := testgate.New(t), make(chan struct{})
	rounds := 0
	go func() {
		defer close(done)
		s.feedWatchdog(ctx, func() {
			if rounds++; rounds > 3 {
				hang.Wait()
				cancel()
			}
		})
	}()
	hang.Reached(1)
	for range 3 {
		if err := m.await("WATCHDOG=1"); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.heard) > 0 {
		t.Errorf("a process that hangs said %q", <-m.heard)
	}
	hang.Open()
	testgate.Receive(t, "the end of the watchdog", done)
}

func TestWatchdogTimes(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		micros, pid string
		want        time.Duration
		fails       bool
	}{
		{"", "", 0, false}, {"2000000", "", time.Second, false}, {"2000000", own, time.Second, false}, {"2000000", "1", 0, false},
		{"soon", "", 0, true}, {"-5", "", 0, true}, {"99999999999999999999", "", 0, true},
	} {
		if got, err := watchdogEvery(c.micros, c.pid); got != c.want || (err != nil) != c.fails {
			t.Errorf("%q for %q: %s, %v", c.micros, c.pid, got, err)
		}
	}
	t.Setenv("NOTIFY_SOCKET", "")
	none := newSupervisor(slog.New(slog.DiscardHandler))
	none.notify("READY=1")
	none.feedWatchdog(t.Context(), func() { t.Error("a watchdog that isn't there is fed") })
	none.close()
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	if newSupervisor(slog.New(slog.DiscardHandler)) != nil {
		t.Error("a socket that isn't there was opened")
	}
}
