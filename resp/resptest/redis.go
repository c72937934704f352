package resptest

import (
	"net"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// RedisServer runs redis-server until the test ends and returns its address. The test is
// skipped where it is not installed.
func RedisServer(t testing.TB, settings ...string) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, settings...)
	server := exec.Command(path, args...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended by itself
		_ = server.Wait()         // killed, which is an error
	})
	for end := time.Now().Add(replyTimeout); ; time.Sleep(time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return addr
		}
		if time.Now().After(end) {
			t.Fatalf("redis-server does not answer: %v", err)
		}
	}
}
