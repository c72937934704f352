package command_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// realRedis is a redis-server whose clock the test sets, and a connection to it.
type realRedis struct {
	t       *testing.T
	version string
	socket  string
	clock   *os.File
	conn    net.Conn
	in      *bufio.Reader
}

// startRedis runs a redis-server with a clock of ours, or skips the test where
// there is no redis-server or no C compiler; with TRIREME_FIDELITY=required that
// fails it.
func startRedis(t *testing.T) *realRedis {
	t.Helper()
	r := &realRedis{t: t}
	version, err := exec.Command("redis-server", "--version").Output()
	if err != nil {
		missing(t, "redis-server", err)
	}
	r.version = string(regexp.MustCompile(`v=([0-9]+\.[0-9]+)`).FindSubmatch(version)[1])
	dir := t.TempDir()
	lib := filepath.Join(dir, "clock.so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", lib, filepath.Join("testdata", "clock.c"), "-ldl").CombinedOutput(); err != nil {
		missing(t, "cc", fmt.Errorf("%w: %s", err, out))
	}
	clock := filepath.Join(dir, "clock")
	if r.clock, err = os.OpenFile(clock, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.clock.Close() })
	r.setClock(0)
	socket := filepath.Join(dir, "redis.sock")
	server := exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--databases", "1", "--dir", dir)
	server.Env = append(os.Environ(), "LD_PRELOAD="+lib, "TEST_CLOCK="+clock)
	if err := server.Start(); err != nil {
		missing(t, "redis-server", err)
	}
	t.Cleanup(func() {
		if err := server.Process.Kill(); err != nil {
			t.Errorf("stopping redis-server: %v", err)
		}
		_ = server.Wait() // it was killed
	})
	r.socket = socket
	r.dial(socket)
	return r
}

// another is one more connection to the same server.
func (r *realRedis) another() *realRedis {
	r.t.Helper()
	c := *r
	c.dial(r.socket)
	return &c
}

func missing(t *testing.T, what string, err error) {
	t.Helper()
	if os.Getenv("TRIREME_FIDELITY") == "required" {
		t.Fatalf("%s: %v", what, err)
	}
	t.Skipf("no %s here: %v", what, err)
}

func (r *realRedis) dial(socket string) {
	r.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			r.conn, r.in = conn, bufio.NewReader(conn)
			r.t.Cleanup(func() { conn.Close() })
			break
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("redis-server doesn't answer: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if v := r.do([]byte("HELLO"), []byte("3")); v.IsError() {
		r.t.Fatalf("HELLO: %s", v.Text())
	}
}

func (r *realRedis) setClock(ms int64) {
	r.t.Helper()
	if _, err := r.clock.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ms*1000)), 0); err != nil {
		r.t.Fatal(err)
	}
}

// empty removes keys, scripts and libraries, and tells no events any more.
func (r *realRedis) empty() {
	r.t.Helper()
	r.do([]byte("CONFIG"), []byte("SET"), []byte("notify-keyspace-events"), nil)
	for _, line := range []string{"FLUSHALL", "SCRIPT FLUSH", "FUNCTION FLUSH"} {
		if v := r.do(bytes.Fields([]byte(line))...); v.IsError() {
			r.t.Fatalf("%s: %s", line, v.Text())
		}
	}
}

// replyLimit is the time that a reply may take on a busy machine.
const replyLimit = 2 * time.Minute

func (r *realRedis) do(argv ...[]byte) reply.Value {
	r.t.Helper()
	out := fmt.Appendf(nil, "*%d\r\n", len(argv))
	for _, a := range argv {
		out = append(append(fmt.Appendf(out, "$%d\r\n", len(a)), a...), '\r', '\n')
	}
	if err := r.conn.SetDeadline(time.Now().Add(replyLimit)); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.conn.Write(out); err != nil {
		r.t.Fatalf("%q: %v", argv, err)
	}
	v, err := protocol.ReadReply(r.in)
	if err != nil {
		r.t.Fatalf("%q: %v", argv, err)
	}
	return v
}
