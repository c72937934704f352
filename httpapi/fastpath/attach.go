package fastpath

import (
	"net"
	"time"

	"github.com/trireme-dev/trireme/internal/eventloop"
	"github.com/trireme-dev/trireme/internal/socket"
)

const (
	// attachAfter is the number of requests that a connection's goroutine answers before the connection attaches. The
	// number doubles, up to mostRounds, each time that the loop was of little use to it.
	attachAfter = 4
	mostRounds  = 4096
	// quietTime is the time without a request after which an attached connection gets a goroutine, which keeps the time
	// limits.
	quietTime = 30 * time.Second
)

// attach gives the connection to the loop, and reports whether the loop has accepted it.
func (co *conn) attach() bool {
	b := co.s.loop
	if co.rounds++; b == nil || co.rounds < co.enough || co.start < len(co.in) || co.s.closing() || co.state != nil && !co.state.HasLoggedIn() {
		return false
	}
	if co.tryRead == nil {
		co.tryRead, co.tryWrite = socket.TryRead(co.socket), socket.TryWrite(co.socket)
	}
	co.c.SetDeadline(time.Time{}) // reading would fail when one has passed
	co.deadline, co.sendBy, co.active, co.together = time.Time{}, time.Time{}, time.Now(), 0
	if !b.loop.Attach(co) {
		co.rounds, co.enough = 0, mostRounds
		return false
	}
	return true
}

// detached gives a goroutine of its own to a connection that the loop has detached.
func (co *conn) detached() {
	if co.rounds = 0; co.together < 8*attachAfter {
		co.enough = min(2*co.enough, mostRounds)
	} else {
		co.enough = attachAfter
	}
	go co.serve() // ends with the connection, or when it attaches again
}

// resume sends what the loop could not, and returns why the connection ends, if it does.
func (co *conn) resume() error {
	rest, err := co.unsent, co.failed
	if co.unsent = nil; len(rest) > 0 {
		if err := co.send(rest); err != nil {
			return err
		}
		co.trim()
	}
	return err
}

// Number, Socket, LoopState, Leaves and HasInput are for the event loop.
func (co *conn) Number() uint64 { return co.number }

// Socket returns the plain socket, if there is no more to the connection.
func (co *conn) Socket() net.Conn { return co.socket }

// LoopState returns the event loop's record.
func (co *conn) LoopState() *eventloop.State { return &co.loopState }

// Leaves reports whether the connection ends or its client reads slowly.
func (co *conn) Leaves() bool { return co.failed != nil || len(co.unsent) > 0 }

// HasInput reports whether input was read that has not been answered.
func (co *conn) HasInput() bool { return co.start < len(co.in) }
