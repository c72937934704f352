package command_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"trireme/fsm/reply"
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
	deadline := time.Now().Add(20 * time.Second)
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

// empty removes keys, scripts and libraries.
func (r *realRedis) empty() {
	r.t.Helper()
	for _, line := range []string{"FLUSHALL", "SCRIPT FLUSH", "FUNCTION FLUSH"} {
		if v := r.do(bytes.Fields([]byte(line))...); v.IsError() {
			r.t.Fatalf("%s: %s", line, v.Text())
		}
	}
}

func (r *realRedis) do(argv ...[]byte) reply.Value {
	r.t.Helper()
	out := fmt.Appendf(nil, "*%d\r\n", len(argv))
	for _, a := range argv {
		out = append(append(fmt.Appendf(out, "$%d\r\n", len(a)), a...), '\r', '\n')
	}
	if err := r.conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.conn.Write(out); err != nil {
		r.t.Fatalf("%q: %v", argv, err)
	}
	v, err := readRESP3(r.in)
	if err != nil {
		r.t.Fatalf("%q: %v", argv, err)
	}
	return v
}

// readRESP3 reads one reply.
func readRESP3(in *bufio.Reader) (reply.Value, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return reply.Value{}, err
	}
	body := strings.TrimSuffix(line[1:], "\r\n")
	switch line[0] {
	case '+':
		return reply.Status(body), nil
	case '-':
		return reply.Error(body), nil
	case '_':
		return reply.Nil(), nil
	case '(':
		return reply.BigNumber(body), nil
	case '#':
		return reply.Bool(body == "t"), nil
	case ',':
		// Doubles are compared by value: before 7.2 Redis printed 17 digits of each.
		f, err := strconv.ParseFloat(body, 64)
		return reply.Number(f), err
	}
	n, err := strconv.ParseInt(body, 10, 64)
	if err != nil {
		return reply.Value{}, err
	}
	switch line[0] {
	case ':':
		return reply.Int(n), nil
	case '$', '=':
		return readText(in, line[0], n)
	case '*', '~', '>':
		if n < 0 {
			return reply.Nil(), nil
		}
		elems, err := readElems(in, n)
		return map[byte]func(...reply.Value) reply.Value{'*': reply.Array, '~': reply.Set, '>': reply.Push}[line[0]](elems...), err
	case '%':
		elems, err := readElems(in, 2*n)
		return reply.Map(elems...), err
	}
	return reply.Value{}, fmt.Errorf("unknown reply %q", line)
}

func readText(in *bufio.Reader, kind byte, n int64) (reply.Value, error) {
	if n < 0 {
		return reply.Nil(), nil
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(in, b); err != nil {
		return reply.Value{}, err
	}
	if kind == '=' {
		return reply.Verbatim(string(b[4:n])), nil
	}
	return reply.Bulk(string(b[:n])), nil
}

func readElems(in *bufio.Reader, n int64) (elems []reply.Value, err error) {
	for range n {
		e, err := readRESP3(in)
		if err != nil {
			return nil, err
		}
		elems = append(elems, e)
	}
	return elems, nil
}
