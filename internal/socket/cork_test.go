package socket_test

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// TestCork has what was written arrive together with the end: once it can be read, so can the end, without waiting.
func TestCork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a segment holds is tested on Linux")
	}
	for range 50 {
		a, b := pair(t)
		socket.Cork(a, true)
		if _, err := a.Write([]byte("last")); err != nil {
			t.Fatal(err)
		}
		if err := a.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 10)
		if n, err := b.Read(buffer); err != nil || string(buffer[:n]) != "last" {
			t.Fatalf("%q, %v", buffer[:n], err)
		}
		if n, err := socket.TryRead(b)(buffer); !errors.Is(err, io.EOF) {
			t.Fatalf("%d bytes and %v where the end was due", n, err)
		}
	}
}

// TestUncork sends at once what was kept back, and what is written from then on.
func TestUncork(t *testing.T) {
	a, b := pair(t)
	socket.Cork(a, true)
	if _, err := a.Write([]byte("one")); err != nil {
		t.Fatal(err)
	}
	socket.Cork(a, false)
	if _, err := a.Write([]byte("two")); err != nil {
		t.Fatal(err)
	}
	if err := b.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 6)
	if _, err := io.ReadFull(b, buffer); err != nil || string(buffer) != "onetwo" {
		t.Fatalf("%q, %v", buffer, err)
	}
	a.Close()
	socket.Cork(a, true) // of a closed connection: nothing
	if _, err := a.Write([]byte("x")); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("wrote to a closed connection: %v", err)
	}
}
