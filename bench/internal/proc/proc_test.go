package proc

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStopEndsAChildAndKeepsItsOutput(t *testing.T) {
	c, err := Start(t.TempDir(), "talker", []string{"WORD=hello"}, "/bin/sh", "-c", "echo $WORD; exec sleep 60")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Await(ctx, func() error {
		if b, _ := os.ReadFile(c.Log); !strings.Contains(string(b), "hello") {
			return errors.New("nothing said yet")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.Pid(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Fatalf("process still there: %v", err)
	}
}

func TestAwaitTellsWhyAChildEnded(t *testing.T) {
	c, err := Start(t.TempDir(), "failing", nil, "/bin/sh", "-c", "echo no such disk >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Await(t.Context(), func() error { return errors.New("not yet") })
	if err == nil || !strings.Contains(err.Error(), "no such disk") || !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("error without its reason: %v", err)
	}
}

// A child must not survive its parent, however the parent dies. The parent is
// this test binary run again.
func TestChildrenDieWithTheirParent(t *testing.T) {
	if logs := os.Getenv("PROC_TEST_PARENT"); logs != "" {
		if _, err := Start(logs, "child", nil, "/bin/sh", "-c", "echo $$; exec sleep 60"); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	logs := t.TempDir()
	parent := exec.Command(os.Args[0], "-test.run", "TestChildrenDieWithTheirParent")
	parent.Env = append(os.Environ(), "PROC_TEST_PARENT="+logs)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitFor(t, func() string {
		b, _ := os.ReadFile(logs + "/child.log")
		return strings.TrimSpace(string(b))
	})
	parent.Process.Kill()
	parent.Wait()
	waitFor(t, func() string {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return "gone"
		}
		return ""
	})
}

// waitFor polls f until it returns something.
func waitFor(t *testing.T, f func() string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s := f(); s != "" {
			return s
		}
	}
	t.Fatal("waited in vain")
	return ""
}

// TestPortsOfSeveralProcesses draws more ports than a block has, twice side by side: none is drawn twice.
func TestPortsOfSeveralProcesses(t *testing.T) {
	seen := map[int]bool{}
	for range 2 {
		p, err := NewPorts()
		if err != nil {
			t.Fatal(err)
		}
		for range 25 {
			port, err := p.Take()
			if err != nil || seen[port] {
				t.Fatalf("port %d is drawn again, %v", port, err)
			}
			seen[port] = true
		}
	}
}

func TestTakeSkipsTakenPorts(t *testing.T) {
	p, err := NewPorts()
	if err != nil {
		t.Fatal(err)
	}
	addr, err := p.Addr()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.next--
	if again, err := p.Addr(); err != nil || again == addr {
		t.Fatalf("got %s again, %v", again, err)
	}
}

func TestProcessorTimeGrowsWithWork(t *testing.T) {
	c, err := Start(t.TempDir(), "busy", nil, "sh", "-c", "while :; do :; done")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Kill()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		used, err := c.ProcessorTime()
		if err != nil {
			t.Fatal(err)
		}
		if used >= 2*tick {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a busy loop has used %v in 30 s", used)
		}
	}
}
