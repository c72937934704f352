package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// echo answers every line on loopback until the test ends.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// carried is a relay of one node, and the address at which it is reached by who says.
func carried(t *testing.T, to string) (*Relay, string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	free.Close()
	r := NewRelay(1, func(net.Addr, net.Addr) int { return 1 })
	t.Cleanup(r.Close)
	if err := r.Carry(at, 0, to); err != nil {
		t.Fatal(err)
	}
	return r, at
}

// say sends a line and waits for it to come back.
func say(c net.Conn, in *bufio.Reader, patience time.Duration) (time.Duration, error) {
	began := time.Now()
	c.SetDeadline(began.Add(patience))
	if _, err := fmt.Fprintln(c, "hello"); err != nil {
		return 0, err
	}
	line, err := in.ReadString('\n')
	if err == nil && line != "hello\n" {
		err = fmt.Errorf("%q came back", line)
	}
	return time.Since(began), err
}

func TestRelay(t *testing.T) {
	r, at := carried(t, echo(t))
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	if _, err := say(c, in, time.Minute); err != nil {
		t.Fatal(err)
	}
	r.Set(0, 1, Rule{Drop: true}) // what the node answers
	if _, err := say(c, in, 200*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a cut link answered: %v", err)
	}
	r.Heal()
	c.SetDeadline(time.Now().Add(time.Minute))
	if line, err := in.ReadString('\n'); err != nil || line != "hello\n" {
		t.Fatalf("what was held up did not come: %q, %v", line, err)
	}
	Between(r, 0, 1, Rule{Delay: 60 * time.Millisecond})
	if took, err := say(c, in, time.Minute); err != nil || took < 120*time.Millisecond {
		t.Fatalf("took %v with 60 ms each way, %v", took, err)
	}
	Between(r, 0, 1, Rule{Rate: 60}) // six bytes
	if took, err := say(c, in, time.Minute); err != nil || took < 200*time.Millisecond {
		t.Fatalf("took %v for 6 bytes each way at 60 bytes/s, %v", took, err)
	}
}

// A node that is down is refused by way of the relay as well.
func TestRelayOfNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, at := carried(t, l.Addr().String())
	c, err := net.Dial("tcp", at)
	if errors.Is(err, syscall.ECONNRESET) {
		return // it was quicker than the dial
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Fatalf("read from nobody: %v", err)
	}
}

func TestOwner(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := Owner([]int{0, 1 << 30, os.Getpid()}, c.LocalAddr(), c.RemoteAddr()); got != 2 {
		t.Fatalf("owned by %d", got)
	}
	if got := Owner([]int{0}, c.LocalAddr(), c.RemoteAddr()); got != -1 {
		t.Fatalf("owned by %d of nobody", got)
	}
}
