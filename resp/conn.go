package resp

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/buffered"
	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/internal/eventloop"
	"github.com/trireme-dev/trireme/internal/socket"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// A conn is one client connection. Its goroutine, or the batch that owns it, reads, runs and answers.
// Other goroutines use only info and out.
type conn struct {
	s    *Server
	nc   net.Conn
	in   input
	out  *output
	info info
	accounted

	parser protocol.Parser
	limits protocol.Limits

	connUser
	commandBegan time.Time // arrival of an incomplete command; zero without one

	replying

	pipeline pipeline
	tx       transaction
	wait     wait
	following

	intake      intake
	quietRounds int // rounds of simple commands since the last other one
	loopState   eventloop.State

	closing sync.Once
}

// accounted holds what a connection has taken of the limits of the node and the database, to be given back at its end.
type accounted struct {
	slot                 *connlimit.Slot
	population           *population      // that counts this connection
	unauthenticatedBytes int64            // bytes charged to Limits.UnauthenticatedBytes
	holding              buffered.Holding // bytes charged to the node and the database, with a user
}

// connUser is the user of a connection, and what it may do.
type connUser struct {
	as                   acl.Identity
	credential           credential
	unauthenticatedSince time.Time // the begin of the time without a user
	unrestricted         bool      // the user may do everything
	quota                fsm.Quota
	refreshFn            func(*fsm.View)
}

// replying says how commands are answered, and holds the replies that were not sent yet.
type replying struct {
	proto3       bool
	silent       bool // CLIENT REPLY OFF
	skipNext     bool // CLIENT REPLY SKIP: the next command is not answered
	mute         bool // the command that is running is not answered
	answering    bool // the replies of a transaction are being written
	ending       bool // the connection closes once its replies are sent
	corked       bool // see holdReplies
	replies      []byte
	sendPartFn   func([]byte) []byte
	answered     int         // replies of this round
	roundAt      int         // position in the read buffer at which this round began
	firstReplyAt time.Time   // when the first of replies was encoded; zero without one
	lastError    reply.Value // the last error that was answered
}

// following holds the sources of messages that a connection gets beside its replies.
type following struct {
	subscriber   *subscriber        // of messages; nil without
	subscribing  bool               // subscriptions may not be confirmed yet: awaitSubscribed waits for them
	tracked      *tracked           // by CLIENT TRACKING; nil without
	paused       *tracked           // since CLIENT TRACKING OFF; nil if it never tracked
	caching      caching            // of the next command
	scriptCalled []pubsub.Call      // calls of the scripts that ran, for monitors
	monitoring   *monitorSubscriber // of executed commands; nil without
}

func newConn(s *Server, nc net.Conn, slot *connlimit.Slot) *conn {
	if plain, ok := nc.(*net.TCPConn); ok {
		// Replies are small and written whole. Without an effect nothing is lost.
		_ = plain.SetNoDelay(true)
	}
	c := &conn{s: s, accounted: accounted{slot: slot}, limits: protocol.Unauthenticated}
	c.intake.c = c
	if s.tls != nil {
		nc = tls.Server(socket.NewMarked(nc, &c.intake), s.tls)
		c.in = input{read: nc.Read, tryRead: socket.TryRead(nc)}
	} else {
		c.in = input{read: socket.ReadMarked(nc, &c.intake), tryRead: socket.TryRead(nc)}
	}
	c.nc, c.out = nc, newOutput(nc, s.limits.ReplyTime)
	c.refreshFn, c.sendPartFn = c.refreshUser, c.sendPart
	c.in.sizes = &c.info.sizes
	c.info.begin(s.lastID.Add(1), nc)
	c.unauthenticatedSince = c.info.opened
	s.clients.add(c)
	s.metrics.connections.Inc()
	return c
}

// serveToEnd serves the connection until it attaches to the event loop or ends.
func (c *conn) serveToEnd() {
	if !c.serve() {
		c.close()
		c.slot.Leave()
		c.s.conns.Done()
	}
}

// serve answers until the client disconnects, breaks the protocol, or is closed. It returns true
// if an event loop has taken the connection over: the caller must not touch it any more.
func (c *conn) serve() (attached bool) {
	for !c.ending {
		if c.leaves() {
			c.holdReplies()
		}
		if c.answered = 0; c.wait.w != nil && c.awaitAnswer() {
			return true
		}
		err := c.round()
		c.parser.Release()
		if err == nil {
			err = c.chargeInput()
		}
		if e := c.flush(); e != nil {
			return false
		}
		switch {
		case err != nil:
			c.mute = false
			c.emit(reply.Error(err.Error()))
			_ = c.flush() // the connection ends either way
			return false
		case c.wait.w != nil:
			continue
		case c.ending || c.s.isStopping() || c.corked && c.mayLeave():
			return false
		case c.s.loop.attach(c):
			return true
		}
		c.releaseReplies()
		if c.read() != nil {
			return false
		}
	}
	return false
}

// round runs all complete commands of the input. The error is a protocol error.
func (c *conn) round() error {
	c.refreshIdentity()
	if c.tracked != nil { // what others changed before comes before the replies of this round
		c.s.tracker.deferDelivery(c.tracked)
	}
	defer c.awaitSubscribed()
	defer c.runPipeline()
	c.quietRounds++
	for c.roundAt = c.in.at; !c.ending && c.wait.w == nil; {
		if c.in.at-c.roundAt > maxQuietBytes {
			c.quietRounds = 0
		}
		argv, size, err := c.parser.Next(c.in.rest(), &c.limits)
		if errors.Is(err, protocol.ErrIncomplete) {
			return nil
		}
		c.population.in.Add(int64(size))
		if c.in.at += size; err != nil {
			return err
		}
		c.commandBegan = time.Time{}
		if len(argv) > 0 {
			c.dispatch(argv)
		}
	}
	return nil
}

// read waits for more input. Limits.CommandTime bounds the arrival of a command that has begun, and
// Limits.LoginTime that of the first AUTH, including the handshake of TLS. Bytes that trickle in
// extend neither.
func (c *conn) read() error {
	var until time.Time
	if len(c.in.rest()) > 0 {
		if c.commandBegan.IsZero() {
			c.commandBegan = time.Now()
		}
		until = c.commandBegan.Add(c.s.limits.CommandTime)
	}
	if !c.as.Known() {
		if login := c.unauthenticatedSince.Add(c.s.limits.LoginTime); until.IsZero() || login.Before(until) {
			until = login
		}
	}
	if until.IsZero() {
		return c.in.fill(c.parser.Need())
	}
	return c.readUntil(until)
}

func (c *conn) readUntil(t time.Time) error {
	if err := c.info.deadline(c.nc, t); err != nil {
		return err
	}
	err := c.in.fill(c.parser.Need())
	if err != nil {
		return err
	}
	return c.info.deadline(c.nc, time.Time{})
}

// wakeToStop interrupts a read so that the connection notices the shutdown.
func (c *conn) wakeToStop() {
	c.info.interrupt(c.nc)
}

// kill makes the connection end as soon as possible.
func (c *conn) kill() {
	c.info.killed.Store(true)
	c.s.intakes.markKilled(c)
	c.closeSocket()
	c.s.loop.socketClosed(c)
}

// closeSocket closes the socket; reads and writes under way fail, and a blocked call ends.
func (c *conn) closeSocket() {
	c.closing.Do(func() { c.nc.Close() })
	if w := c.info.blocked.Load(); w != nil {
		c.s.blocked.release(w, reply.NilArray())
	}
}

// close ends the connection after sending what is written, if the client takes it.
func (c *conn) close() {
	c.abandonWait()
	c.closeSubscriber()
	c.untrack()
	c.s.clients.remove(c)
	c.s.metrics.connections.Dec()
	c.releaseInput()
	c.holding.End()
	if !c.info.killed.Load() {
		c.out.waitDone()
		c.endWriting()
	}
	c.closeSocket()
	c.out.waitDone()
}

// refreshUser looks the connection's user up in this node's state.
func (c *conn) refreshUser(v *fsm.View) {
	user := v.User(c.as)
	if user == nil {
		c.as, c.unrestricted = acl.Identity{}, false
		return
	}
	c.unrestricted = user.Free()
	c.quota, _ = v.Quota(c.as.DB)
}

// refreshIdentity looks the user up before a round. This node may lag, so a missing user is confirmed
// on the newest state.
func (c *conn) refreshIdentity() {
	if !c.as.Known() {
		return
	}
	before := c.as
	if c.s.engine.Local(c.refreshFn); c.as.Known() {
		return
	}
	c.as = before
	c.reauthenticate()
}

// reauthenticate looks the connection's credential up in the newest state. Without a leader
// the identity stays, and the next command fails with the reason.
func (c *conn) reauthenticate() {
	// An error shows in the next command.
	_, _ = c.s.engine.Read(c.s.life, fsm.Reading{}, func(v *fsm.View) { c.login(v, &c.credential) })
}

// check finds the row of argv and returns the reason for which the user may not call it, or nil. A
// refusal by this node's state, which may lag, is checked again on the newest state.
func (c *conn) check(argv [][]byte) (row *command.Command, refusal *reply.Value) {
	checkView := func(v *fsm.View) { row, refusal = v.Check(c.as, command.RESP, argv) }
	if c.s.engine.Local(checkView); refusal == nil || !c.as.Known() {
		return row, refusal
	}
	if known := c.s.table.Find(argv); known == nil || !known.Takes(len(argv)) {
		return nil, refusal
	}
	_, err := c.s.engine.Read(c.s.life, fsm.Reading{}, func(v *fsm.View) {
		if !v.Authorized(c.as) {
			c.login(v, &c.credential)
		}
		checkView(v)
	})
	if err != nil {
		failed := failureOf(err, false)
		return nil, &failed
	}
	return row, refusal
}
