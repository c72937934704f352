package resp

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/reply"
	"trireme/resp/protocol"
	"trireme/socket"
)

// conn is one connection. Its goroutine reads, runs and answers; what others may touch is
// in info, and is sent through output.
type conn struct {
	s    *Server
	nc   net.Conn
	in   input
	out  *output
	info info
	ip   string // of the other end, as the gate counts it

	parser protocol.Parser
	limits protocol.Limits

	as      acl.Identity
	key     credential
	free    bool // the user may do everything
	quota   fsm.Quota
	looking func(*fsm.View)

	proto3  bool
	silent  bool // CLIENT REPLY OFF
	skip    bool // CLIENT REPLY SKIP: the next command is not answered
	mute    bool // the command that is running is not answered
	ending  bool // the connection closes once what is written is sent
	replies []byte

	segment segment
	tx      transaction
	feed    *feed    // of messages; nil without
	tracked *tracked // by CLIENT TRACKING; nil without
	caching caching  // of the next command
	spy     *spy     // of executed commands; nil without

	calm       int // rounds of ordinary commands, one after the other
	membership membership

	closing sync.Once
}

func newConn(s *Server, nc net.Conn, ip string) *conn {
	if plain, ok := nc.(*net.TCPConn); ok {
		// Replies are small and written whole. Without an effect nothing is lost.
		_ = plain.SetNoDelay(true)
	}
	if s.tls != nil {
		nc = tls.Server(nc, s.tls)
	}
	c := &conn{s: s, nc: nc, ip: ip, in: input{read: socket.Reader(nc), take: socket.Taker(nc)}, out: newOutput(nc, s.limits.ReplyTime), limits: protocol.Unauthenticated}
	c.looking = c.look
	c.info.begin(s.lastID.Add(1), nc)
	s.clients.add(c)
	s.metrics.connections.Inc()
	return c
}

// live serves the connection until it joins the crowd, or to its end.
func (c *conn) live() {
	if !c.serve() {
		c.close()
		c.s.gate.leave(c.ip)
		c.s.conns.Done()
	}
}

// serve answers until the client leaves, breaks the protocol, or is told to leave. It is
// true if the connection has joined the crowd instead, and is not to be touched any more.
func (c *conn) serve() (joined bool) {
	for !c.ending {
		err := c.round()
		if e := c.flush(); e != nil {
			return false
		}
		c.parser.Release()
		switch {
		case err != nil:
			c.mute = false
			c.emit(reply.Error(err.Error()))
			_ = c.flush() // it ends either way
			return false
		case c.ending || c.s.isStopping():
			return false
		case c.s.crowd.join(c):
			return true
		}
		if c.read() != nil {
			return false
		}
	}
	return false
}

// round runs all commands that have arrived whole. The error is a breach of the protocol.
func (c *conn) round() error {
	c.begin()
	defer c.finish()
	c.calm++
	for began := c.in.at; !c.ending; {
		if c.in.at-began > calmBytes {
			c.calm = 0
		}
		argv, size, err := c.parser.Next(c.in.rest(), &c.limits)
		if errors.Is(err, protocol.ErrIncomplete) {
			return nil
		}
		c.s.traffic.in.Add(int64(size))
		if c.in.at += size; err != nil {
			return err
		}
		if len(argv) > 0 {
			c.step(argv)
		}
	}
	return nil
}

// read waits for more. A command that has begun has to arrive in time, and so has a
// first AUTH.
func (c *conn) read() error {
	switch {
	case len(c.in.rest()) > 0:
		return c.readWithin(c.s.limits.CommandTime)
	case !c.as.Known():
		return c.readWithin(c.s.limits.LoginTime)
	}
	return c.in.fill(c.parser.Need())
}

func (c *conn) readWithin(d time.Duration) error {
	if err := c.info.deadline(c.nc, time.Now().Add(d)); err != nil {
		return err
	}
	err := c.in.fill(c.parser.Need())
	if err != nil {
		return err
	}
	return c.info.deadline(c.nc, time.Time{})
}

// emit answers the command that is running.
func (c *conn) emit(v reply.Value) {
	switch {
	case c.mute:
	case c.proto3:
		c.replies = reply.AppendRESP3(c.replies, v)
	default:
		c.replies = reply.AppendRESP2(c.replies, v)
	}
}

// kept bounds the buffer of replies that an idle connection holds on to.
const kept = 64 << 10

// flush sends what was answered, and what has changed since of what was read, and waits
// while the client takes too little.
func (c *conn) flush() error {
	err := c.flushReplies()
	if c.tracked != nil && err == nil {
		c.s.tracker.settle(c.tracked)
	}
	return err
}

func (c *conn) flushReplies() error {
	if err := c.send(); err != nil {
		return err
	}
	return c.out.room(c.s.limits.OutputBytes)
}

// send is flushReplies without waiting.
func (c *conn) send() error {
	if len(c.replies) == 0 {
		return nil
	}
	err := c.out.send(c.replies)
	c.s.metrics.sent.Add(float64(len(c.replies)))
	c.s.traffic.out.Add(int64(len(c.replies)))
	if c.replies = c.replies[:0]; cap(c.replies) > kept {
		c.replies = nil
	}
	return err
}

// wakeToStop interrupts a read, so that the connection sees that the server stops.
func (c *conn) wakeToStop() {
	c.info.interrupt(c.nc)
}

// kill makes the connection end as soon as possible.
func (c *conn) kill() {
	c.info.killed.Store(true)
	c.cut()
	c.s.crowd.lost(c)
}

// cut closes the socket under whoever reads or writes.
func (c *conn) cut() {
	c.closing.Do(func() { c.nc.Close() })
}

// close ends the connection: what is written is sent, if the client takes it.
func (c *conn) close() {
	c.leaveFeed()
	c.untrack()
	c.s.clients.remove(c)
	c.s.metrics.connections.Dec()
	if !c.info.killed.Load() {
		c.out.flushed()
	}
	c.cut()
	c.out.flushed()
}

// look learns whom the connection stands for now, by this node's state.
func (c *conn) look(v *fsm.View) {
	user := v.User(c.as)
	if user == nil {
		c.as, c.free = acl.Identity{}, false
		return
	}
	c.free = user.Free()
	c.quota, _ = v.Quota(c.as.DB)
}

// begin looks the user up again before a round. This node may be behind, so it is the
// newest state that says that somebody is nobody any more.
func (c *conn) begin() {
	if !c.as.Known() {
		return
	}
	before := c.as
	if c.s.engine.Local(c.looking); c.as.Known() {
		return
	}
	c.as = before
	c.again()
}

// again asks the newest state whom the connection's credential stands for. If that can't
// be known now, the connection stays who it was, and its commands will hear why.
func (c *conn) again() {
	// The error is that of the next command.
	_, _ = c.s.engine.Read(c.s.life, fsm.Reading{}, func(v *fsm.View) { c.login(v, &c.key) })
}

// check finds the row that argv calls and tells why it may not be called. A refusal of
// this node's state that a newer one might not repeat is asked of the newest.
func (c *conn) check(argv [][]byte) (row *command.Command, refusal *reply.Value) {
	judge := func(v *fsm.View) { row, refusal = v.Check(c.as, command.RESP, argv) }
	if c.s.engine.Local(judge); refusal == nil || !c.as.Known() {
		return row, refusal
	}
	if known := c.s.table.Find(argv); known == nil || !known.Takes(len(argv)) {
		return nil, refusal
	}
	_, err := c.s.engine.Read(c.s.life, fsm.Reading{}, func(v *fsm.View) {
		if !v.Authorized(c.as) {
			c.login(v, &c.key)
		}
		judge(v)
	})
	if err != nil {
		failed := failureOf(err, false)
		return nil, &failed
	}
	return row, refusal
}
