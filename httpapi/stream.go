package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/node/pubsub"
)

const (
	// DefaultHeartbeat is the interval at which an idle stream shows that it lives.
	DefaultHeartbeat = 15 * time.Second
	// streamWrite bounds the time that a client may take for one piece of a stream.
	streamWrite = 10 * time.Second
	// streamPiece is about the size of a piece in bytes.
	streamPiece = 64 << 10
)

// Values of a stream's headers.
var (
	streamType  = []string{"text/event-stream"}
	noCache     = []string{"no-cache"}
	noBuffering = []string{"no"}
)

// errRevoked ends a stream whose token, or its user's right to the stream, was revoked.
var errRevoked = &failure{http.StatusUnauthorized, notApplied, "WRONGPASS the token, or its right to this stream, was revoked"}

// errNoStreams is the answer of a server without a hub.
var errNoStreams = &failure{http.StatusNotFound, notApplied, "ERR this server has no streams"}

// stream answers with events until the client goes, its token is revoked, it is too
// slow, or the server stops. A failure before the first event is an error reply.
func (c *call) stream() {
	argv := c.words.Argv()
	c.body = trim(c.body)
	if string(argv[0]) == redis.Follow {
		c.follow(argv)
		return
	}
	if c.s.hub == nil {
		c.fail(errNoStreams)
		return
	}
	if refusal, f := c.authorizeNewStream(argv); f != nil {
		c.fail(f)
		return
	} else if refusal != nil {
		c.fail(badRequest(refusal.Text()))
		return
	}
	if c.r.Method == http.MethodHead {
		c.beginStream(http.NewResponseController(c.w)) // which is all of the answer
		return
	}
	c.publishExecuted(argv)
	switch string(argv[0]) {
	case redis.Monitor:
		c.monitor()
	case redis.Subscribe:
		c.subscribe(channel.Plain, argv[1:])
	default:
		c.subscribe(channel.Pattern, argv[1:])
	}
}

// authorizeNewStream says why the token's user may not have the stream, as of everything
// acknowledged so far: a stream lives long, and begins before anything else could show
// that its token is revoked.
func (c *call) authorizeNewStream(argv [][]byte) (refusal *reply.Value, f *failure) {
	judge := func(v *fsm.View) { refusal = c.authorizeStream(v, argv) }
	if _, err := c.s.engine.Read(c.r.Context(), fsm.Reading{}, judge); err != nil {
		return nil, failureOf(err, false)
	}
	if c.as.By == acl.Nobody {
		return nil, errToken
	}
	return refusal, nil
}

// recheckStream says why a stream may not be sent what it has, nil if nothing is against it. Messages come through the
// log, so the state here holds every revocation before them. Commands that a monitor sees may be newer than this node's
// state.
func (c *call) recheckStream(f feed) error {
	var refusal *reply.Value
	judge := func(v *fsm.View) { refusal = c.authorizeStream(v, c.words.Argv()) }
	if _, monitors := f.(*monitored); monitors {
		if _, err := c.s.engine.Read(c.r.Context(), fsm.Reading{Mode: fsm.SessionRead}, judge); err != nil {
			return err
		}
	} else {
		c.s.engine.Local(judge)
	}
	if c.as.By == acl.Nobody || refusal != nil {
		return errRevoked
	}
	return nil
}

func (c *call) authorizeStream(v *fsm.View, argv [][]byte) *reply.Value {
	if c.identify(v); c.as.By == acl.Nobody {
		return nil
	}
	origin := command.Stream
	if string(argv[0]) == redis.Follow {
		origin, argv = command.OriginHTTP, readEntries(argv[1], "0", 1)
	}
	_, refusal := v.Check(c.as, origin, argv)
	return refusal
}

// database names the keyspace of the request.
func (c *call) database() string { return cmp.Or(c.db, fsm.DefaultDB) }

// feed is the source of a stream's events.
type feed interface {
	Wake() <-chan struct{}
	// append appends the events that have come; an error says that no event follows.
	append(dst []byte) ([]byte, error)
}

// subscription is a feed of messages.
type subscription struct {
	*pubsub.Subscription
	events []pubsub.Event
	count  int
}

func (s *subscription) append(dst []byte) ([]byte, error) {
	var err error
	s.events, err = s.Take(s.events)
	for i := range s.events {
		if s.events[i].Confirmed {
			s.count++
		}
		dst = redis.AppendEvent(dst, &s.events[i], s.count)
	}
	return dst, err
}

func (c *call) subscribe(kind channel.Kind, words [][]byte) {
	s := &subscription{Subscription: c.s.hub.Subscribe(c.database())}
	defer s.Close()
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	if s.Add(kind, names...) != nil {
		c.fail(&failure{http.StatusServiceUnavailable, notApplied, c.s.hub.TooMany()})
		return
	}
	c.pump(s)
}

// monitored is a feed of executed commands.
type monitored struct {
	*pubsub.Monitor
	lines []string
}

func (m *monitored) append(dst []byte) ([]byte, error) {
	var err error
	m.lines, err = m.Take(m.lines)
	for _, line := range m.lines {
		dst = redis.AppendData(dst, line)
	}
	return dst, err
}

func (c *call) monitor() {
	m := &monitored{Monitor: c.s.hub.Monitor(c.r.Context(), c.database())}
	defer m.Close()
	c.out = redis.AppendData(c.out[:0], redis.MonitorOK)
	if c.sendPiece() != nil {
		return
	}
	c.pump(m)
}

// pump sends what the feed has, and heartbeats when it has nothing for long.
func (c *call) pump(f feed) {
	beat := time.NewTicker(c.s.heartbeat)
	defer beat.Stop()
	for {
		c.out = c.out[:0]
		var ended error
		select {
		case <-f.Wake():
			c.out, ended = f.append(c.out)
		case <-beat.C:
			if c.answered {
				c.out = append(c.out, redis.Heartbeat...)
			}
		case <-c.r.Context().Done():
			return
		case <-c.s.stopping:
			c.endStream(pubsub.ErrClosed)
			return
		}
		if why := c.recheckStream(f); why != nil {
			c.out, ended = c.out[:0], why
		}
		if c.sendPiece() != nil {
			return
		}
		if ended != nil {
			c.endStream(ended)
			return
		}
	}
}

// sendPiece sends out, unless it is empty, as a part of the stream.
func (c *call) sendPiece() error {
	if len(c.out) == 0 {
		return nil
	}
	control := http.NewResponseController(c.w)
	if !c.answered {
		c.beginStream(control)
	}
	for b := c.out; len(b) > 0; {
		n := min(len(b), streamPiece)
		if err := control.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
			return err
		}
		if _, err := c.w.Write(b[:n]); err != nil {
			return err
		}
		if err := control.Flush(); err != nil {
			return err
		}
		c.sent += n
		b = b[n:]
	}
	c.out = trim(c.out)
	return nil
}

// beginStream sends the head of a stream.
func (c *call) beginStream(control *http.ResponseController) {
	c.answered, c.status = true, http.StatusOK
	h := c.w.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = noBuffering
	// The time for reading the request is over long before the stream is. An error
	// here shows again when writing.
	_ = control.SetReadDeadline(time.Time{})
	c.w.WriteHeader(http.StatusOK)
	c.release() // the limit is for requests that come to an end by themselves
	c.counted = false
}

// endStream says why a stream ends: by an error if it has not begun, otherwise in a
// comment, which clients drop and people read.
func (c *call) endStream(why error) {
	if !c.answered {
		c.fail(streamFailure(why))
		return
	}
	c.out = append(append(append(c.out[:0], ": closed, "...), why.Error()...), "\n\n"...)
	_ = c.sendPiece() // the stream is over either way
}

// streamFailure explains why a stream did not begin.
func streamFailure(why error) *failure {
	switch {
	case errors.Is(why, pubsub.ErrClosed):
		return failureOf(fsm.ErrStopping, false)
	case errors.Is(why, pubsub.ErrGap), errors.Is(why, pubsub.ErrSlow):
		return &failure{http.StatusServiceUnavailable, notApplied, "ERR this node was cut off from the cluster"}
	case errors.Is(why, pubsub.ErrDeleted):
		return errToken
	}
	return failureOf(why, false)
}

// publishExecuted tells monitors which rows were executed.
func (c *call) publishExecuted(rows ...[][]byte) {
	if c.s.hub == nil || !c.s.hub.Monitored() {
		return
	}
	for i, argv := range rows {
		if row := c.s.table.Find(argv); row == nil || !row.Takes(len(argv)) || (i < len(c.values) && refused(c.values[i])) {
			continue
		}
		c.s.hub.Executed(c.database(), "", argv)
	}
}

// refused reports whether a reply says that the command was not run because a right is missing.
func refused(v reply.Value) bool { return v.IsError() && strings.HasPrefix(v.Text(), "NOPERM ") }
