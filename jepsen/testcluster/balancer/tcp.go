package balancer

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/trireme-dev/trireme/internal/socket"
)

// accept carries the connections of one port until it is closed.
func (b *Balancer) accept(l net.Listener, address func(Backend) string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return // closed
		}
		b.all.Go(func() { b.carry(in.(*net.TCPConn), address) })
	}
}

// carry joins a client's connection with one to a node. The end of one direction is passed on as such, so
// that replies which are on their way still arrive.
func (b *Balancer) carry(in *net.TCPConn, address func(Backend) string) {
	if !b.hold(in) {
		return
	}
	defer b.drop(in)
	n, err := b.begin(b.life)
	if err != nil {
		return
	}
	defer b.end(n)
	dialer := net.Dialer{Timeout: dialTime}
	nc, err := dialer.DialContext(b.life, "tcp", address(n.Backend))
	if err != nil {
		if b.life.Err() == nil {
			b.fail(n, err)
		}
		return
	}
	out := nc.(*net.TCPConn)
	if !b.hold(out) {
		return
	}
	defer b.drop(out)
	var both sync.WaitGroup
	both.Go(func() { pass(in, out) })
	both.Go(func() { pass(out, in) })
	both.Wait()
}

// pass copies what comes from one connection to the other, and its end.
func pass(from, to *net.TCPConn) {
	if err := copyTo(to, from); err != nil {
		// The other side learns of a connection that broke by its end, both ways.
		from.Close()
		to.Close()
		return
	}
	_ = to.CloseWrite() // an error means that it is closed already
}

// copyTo copies until the end. What arrived together with the end is passed on together with it, as good proxies do: a
// client that examines its connection after a reply must not find it open in between.
func copyTo(to, from *net.TCPConn) error {
	raw, err := from.SyscallConn()
	if err != nil {
		return err
	}
	for buffer := make([]byte, 64<<10); ; {
		n, err := from.Read(buffer)
		if n > 0 {
			if atEnd(raw) {
				socket.Cork(to, true)
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// atEnd reports whether nothing but the end is left to read.
func atEnd(raw syscall.RawConn) (end bool) {
	err := raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		end = n == 0 && err == nil
	})
	return end && err == nil
}

// hold has Close end a connection. It is false, and the connection closed, after Close.
func (b *Balancer) hold(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.life.Err() != nil {
		c.Close()
		return false
	}
	b.open[c] = struct{}{}
	return true
}

func (b *Balancer) drop(c net.Conn) {
	c.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, c)
}
