package socket_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// pair returns the two ends of a connection.
func pair(t testing.TB) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// read makes an io.Reader of a function.
type read func([]byte) (int, error)

func (r read) Read(b []byte) (int, error) { return r(b) }

// TestReadWriteRoundTrip sends far more than a socket buffer, and then end of file.
func TestReadWriteRoundTrip(t *testing.T) {
	a, b := pair(t)
	sent := make([]byte, 32<<20)
	for i := range sent {
		sent[i] = byte(rand.Uint32())
	}
	done := make(chan error, 1)
	go func() {
		write := socket.Write(a)
		for left := sent; len(left) > 0; {
			n, err := write(left[:min(len(left), 3<<20)])
			if err != nil {
				done <- err
				return
			}
			left = left[n:]
		}
		done <- a.Close()
	}()
	got, err := io.ReadAll(read(socket.Read(b)))
	if err := errors.Join(err, <-done); err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes, %v", len(got), len(sent), err)
	}
}

// TestTryWriteDoesNotBlock fills the socket, and goes on when there is room.
func TestTryWriteDoesNotBlock(t *testing.T) {
	a, b := pair(t)
	try, chunk, total := socket.TryWrite(a), make([]byte, 1<<20), 0
	for {
		n, err := try(chunk)
		if err != nil {
			t.Fatal(err)
		}
		if total += n; n < len(chunk) {
			break
		}
	}
	if n, err := try(chunk); n != 0 || err != nil {
		t.Fatalf("a full socket took %d, %v", n, err)
	}
	if _, err := io.ReadFull(b, make([]byte, total)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if n, err := try(chunk[:1]); err != nil || n == 1 {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("no room after everything was read")
		}
	}
}

// TestDeadlines: a deadline set while a goroutine waits interrupts it; without one it goes on.
func TestDeadlines(t *testing.T) {
	a, b := pair(t)
	from, failed := socket.Read(b), make(chan error)
	go func() {
		_, err := from(make([]byte, 1))
		failed <- err
	}()
	b.SetReadDeadline(time.Unix(1, 0))
	if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	b.SetReadDeadline(time.Time{})
	if _, err := a.Write([]byte{7}); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 4)
	if n, err := from(one); n != 1 || err != nil || one[0] != 7 {
		t.Fatal(n, err, one)
	}
	to := socket.Write(a)
	a.SetWriteDeadline(time.Now().Add(time.Millisecond))
	for total := 0; ; {
		n, err := to(make([]byte, 1<<20))
		if total += n; err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) || n == 1<<20 {
				t.Fatal(n, err)
			}
			return
		}
		if total > 1<<30 {
			t.Fatal("nobody reads, and everything is written")
		}
	}
}

// TestClose: closing ends reads under way, and later reads and writes fail.
func TestClose(t *testing.T) {
	a, b := pair(t)
	from, failed := socket.Read(b), make(chan error)
	go func() {
		_, err := from(make([]byte, 1))
		failed <- err
	}()
	b.Close()
	if err := <-failed; !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	for name, f := range map[string]func([]byte) (int, error){"read": from, "write": socket.Write(b), "try": socket.TryWrite(b)} {
		if _, err := f([]byte{1}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	to := socket.Write(a)
	for end := time.Now().Add(time.Minute); ; {
		if _, err := to([]byte("anybody?")); err != nil {
			return // reset by the other side
		}
		if time.Now().After(end) {
			t.Fatal("writes to a closed connection succeed")
		}
	}
}

// TestPipe: a connection that is no TCP socket works by its own methods.
func TestPipe(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		socket.Write(a)([]byte("word"))
		a.Close()
	}()
	if n, err := socket.TryWrite(b)([]byte("x")); n != 0 || err != nil {
		t.Error(n, err)
	}
	if got, err := io.ReadAll(read(socket.Read(b))); string(got) != "word" || err != nil {
		t.Error(string(got), err)
	}
}

// TestPending: what has arrived shows without being read, and so does the end.
func TestPending(t *testing.T) {
	a, b := pair(t)
	pending := socket.Pending(a)
	if pending() {
		t.Error("a new connection has something to read")
	}
	arrived := func(what string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !pending(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not show", what)
			}
		}
	}
	if _, err := b.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	arrived("what was written")
	if got := make([]byte, 2); pending() {
		if n, err := io.ReadFull(a, got); err != nil || string(got) != "ab" {
			t.Errorf("%q was read, %v after %d bytes", got, err, n)
		}
	}
	if pending() {
		t.Error("something is left to read")
	}
	b.Close()
	arrived("the end")
	near, far := net.Pipe()
	defer near.Close()
	far.Close()
	if socket.Pending(near)() {
		t.Error("more than a socket is not asked")
	}
}
