package transport

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// A connection of raft takes back what the other side has not read when it is closed.
func TestDiscardOnClose(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := func(prepare func(net.Conn)) (read int64, wrote int, failed error) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		prepare(c)
		for full := false; !full; { // the other side reads nothing
			c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			n, err := c.Write(make([]byte, 64<<20))
			if !errors.Is(err, syscall.ETIMEDOUT) && !isTimeout(err) {
				t.Fatalf("the socket took %d bytes: %v", wrote+n, err)
			}
			wrote, full = wrote+n, n == 0 && wrote > 0 // a busy machine may not come to write in time
		}
		c.Close()
		other.SetReadDeadline(time.Now().Add(time.Minute))
		read, failed = io.Copy(io.Discard, other)
		return read, wrote, failed
	}
	if read, wrote, err := sent(func(net.Conn) {}); err != nil || read != int64(wrote) {
		t.Fatalf("an ordinary connection: %d of %d bytes arrived, %v", read, wrote, err)
	}
	if read, wrote, err := sent(discardOnClose); !errors.Is(err, syscall.ECONNRESET) || read == int64(wrote) {
		t.Errorf("a connection of raft: %d of %d bytes arrived, %v", read, wrote, err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
