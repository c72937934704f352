package testcluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster/fakenode"
)

func TestMain(m *testing.M) { fakenode.Main(m) }

// start brings up a cluster of fake nodes.
func start(t *testing.T, l fakenode.Fault) *testcluster.Cluster {
	t.Helper()
	c, err := testcluster.NewCluster(testcluster.Options{Binary: os.Args[0], Dir: t.TempDir(), Env: fakenode.Env(l)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(limit(t)); err != nil {
		t.Fatal(err)
	}
	return c
}

func limit(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestClusterThroughFaults(t *testing.T) {
	c := start(t, fakenode.None)
	ctx := limit(t)
	if r := c.Do(ctx, 0, "SET", "k", "v"); r.Outcome != history.OK || string(r.Result) != `"OK"` {
		t.Fatalf("write: %+v", r)
	}
	if err := c.Nodes[0].Kill(); err != nil {
		t.Fatal(err)
	}
	c.Nodes[0].Client().Close() // a dead connection from the pool would be an unknown
	if r := c.Do(ctx, 0, "GET", "k"); r.Outcome != history.NotApplied {
		t.Fatalf("a refused connection is %+v, want not-applied", r)
	}
	if err := c.Nodes[0].Kill(); !errors.Is(err, testcluster.ErrDown) {
		t.Fatalf("second kill: %v", err)
	}
	if err := c.Nodes[0].Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	if r := c.Do(ctx, 0, "GET", "k"); string(r.Result) != `"v"` {
		t.Fatalf("after the restart: %+v", r)
	}
	if err := c.Nodes[1].Stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if l, err := c.WaitLeader(ctx); err != nil || l.Node != 0 {
		t.Fatalf("leader %+v, %v", l, err)
	}
	for range 5 { // most of the time before the new process hears the signal
		if err := errors.Join(c.Nodes[1].Start(), c.Nodes[1].Stop(5*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if crashes := c.Crashes(); len(crashes) > 0 {
		t.Fatalf("ordered ends count as crashes: %v", crashes)
	}
}

// TestPauseHoldsRequests shows that a paused process answers nothing, and that
// what was sent meanwhile is answered after it goes on.
func TestPauseHoldsRequests(t *testing.T) {
	c := start(t, fakenode.None)
	if err := c.Nodes[2].Pause(); err != nil {
		t.Fatal(err)
	}
	if c.Nodes[2].Up() {
		t.Fatal("a paused node counts as up")
	}
	replies := make(chan testcluster.Reply, 1)
	go func() { replies <- c.Do(context.Background(), 2, "GET", "k") }()
	select {
	case r := <-replies:
		t.Fatalf("a paused node answered %+v", r)
	case <-time.After(100 * time.Millisecond):
	}
	if err := c.Nodes[2].Resume(); err != nil {
		t.Fatal(err)
	}
	if r := <-replies; r.Outcome != history.OK {
		t.Fatalf("after going on: %+v", r)
	}
}

func TestCrashIsReported(t *testing.T) {
	c := start(t, fakenode.Quits)
	ctx := limit(t)
	for range 102 {
		c.Do(ctx, 1, "GET", "k")
	}
	var crashes []testcluster.Crash
	err := testcluster.Poll(ctx, time.Millisecond, func() error {
		if crashes = c.Crashes(); len(crashes) == 0 {
			return errors.New("no crash reported")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := crashes[0]; got.Node != "n2" || got.ExitCode != 7 || !strings.Contains(got.Log, "quitting, as told") {
		t.Fatalf("reported as %+v", got)
	}
}

// TestArmedEndIsNoCrash shows that the end at an armed failpoint counts as ordered.
func TestArmedEndIsNoCrash(t *testing.T) {
	c := start(t, fakenode.None)
	ctx := limit(t)
	n := c.Nodes[1]
	if err := n.Arm("point=1*exit"); err != nil {
		t.Fatal(err)
	}
	if r := c.Do(ctx, 1, "GET", "k"); r.Outcome != history.Unknown {
		t.Fatalf("a node that ended in the middle answered %+v", r)
	}
	err := testcluster.Poll(ctx, time.Millisecond, func() error {
		if n.Pid() != 0 {
			return errors.New("still running")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.Arm(""), n.Start(), c.WaitReady(ctx)); err != nil {
		t.Fatal(err)
	}
	if r := c.Do(ctx, 1, "GET", "k"); r.Outcome != history.OK || len(c.Crashes()) > 0 {
		t.Fatalf("after it: %+v, crashes %v", r, c.Crashes())
	}
}

// TestStopAtFailpoint stops a node that passes an armed failpoint on its way: that is no failure to stop. Without one it has to end with 0.
func TestStopAtFailpoint(t *testing.T) {
	c := start(t, fakenode.None)
	n := c.Nodes[1]
	if err := errors.Join(n.Arm("point=1*exit"), n.Stop(time.Minute)); err != nil || len(c.Crashes()) > 0 {
		t.Errorf("%v, crashes %v", err, c.Crashes())
	}
}

// TestOverlappingExcuses shows that a node two faults excuse stays excused when the first of them is over: what still
// goes on may end a process too.
func TestOverlappingExcuses(t *testing.T) {
	c := start(t, fakenode.Quits)
	ctx := limit(t)
	n := c.Nodes[1]
	quit := func() {
		t.Helper()
		for range 102 {
			c.Do(ctx, 1, "GET", "k")
		}
		if n.AwaitExit(20 * time.Second); n.Pid() != 0 {
			t.Fatal("it runs on")
		}
	}
	n.Excuse()
	n.Excuse()
	n.Blame()
	quit()
	if err := errors.Join(n.Start(), c.WaitReady(ctx)); err != nil || len(c.Crashes()) > 0 {
		t.Fatalf("while one fault goes on: %v, crashes %v", err, c.Crashes())
	}
	n.Blame()
	quit()
	err := testcluster.Poll(ctx, time.Millisecond, func() error {
		if len(c.Crashes()) == 0 {
			return errors.New("no crash reported")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOutcomes pins how replies and silences are classified.
func TestOutcomes(t *testing.T) {
	answers := map[string]func(http.ResponseWriter){
		"ok":             func(w http.ResponseWriter) { fmt.Fprint(w, `{"result":null}`) },
		"no result":      func(w http.ResponseWriter) { fmt.Fprint(w, `{}`) },
		"not-applied":    refuse("not-applied", 400),
		"unknown":        refuse("unknown", 503),
		"no header":      refuse("", 503),
		"not json":       func(w http.ResponseWriter) { fmt.Fprint(w, `oops`) },
		"reset":          hangUp(""),
		"cut short":      hangUp("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"result\":1}"),
		"error with 200": func(w http.ResponseWriter) { fmt.Fprint(w, `{"error":"x"}`) },
	}
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		answers[r.Header.Get("Authorization")[len("Bearer "):]](w)
	}))
	defer server.Close()
	for name := range answers {
		want := history.Unknown
		switch name {
		case "ok":
			want = history.OK
		case "not-applied":
			want = history.NotApplied
		}
		client := testcluster.NewClient(server.Listener.Addr().String(), name)
		requests.Store(0)
		if r := client.Do(context.Background(), "SET", "k", "v"); r.Outcome != want || (want != history.OK) == (r.Error == "") {
			t.Errorf("%s: %+v, want %s", name, r, want)
		}
		if n := requests.Load(); n != 1 {
			t.Errorf("%s: sent %d times", name, n)
		}
		client.Close()
	}
}

func refuse(outcome string, status int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if outcome != "" {
			w.Header().Set("Svc-Outcome", outcome)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":"ERR refused"}`)
	}
}

func hangUp(after string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		conn.Write([]byte(after))
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
}

func TestBlocksDoNotOverlap(t *testing.T) {
	held := map[string]bool{}
	for range 20 {
		b, err := testcluster.ReserveBlock()
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		if held[b.Addr(0)] {
			t.Fatalf("%s was given out twice", b.Addr(0))
		}
		held[b.Addr(0)] = true
	}
}

func TestStopReportsAnUnwillingNode(t *testing.T) {
	said, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	p, err := testcluster.StartProcess(out, nil, "/bin/sh", "-c", "trap '' TERM; echo; while :; do sleep 0.05; done")
	out.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, 1)); err != nil { // until the trap is set SIGTERM would just work
		t.Fatal(err)
	}
	if code, inTime := p.Stop(300 * time.Millisecond); inTime || code != -1 {
		t.Fatalf("exit code %d, in time %v", code, inTime)
	}
}
