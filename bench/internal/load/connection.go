package load

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/hist"
)

// redial is the pause after a failed connection, so that a dead server does
// not turn the generator into a busy loop.
const redial = 10 * time.Millisecond

// client is one connection of a run.
type client struct {
	run     *run
	host    string
	head    []byte // everything between the path and the length, header lines
	path    Template
	body    Template
	fill    filler
	hist    hist.H
	sent    uint64
	request []byte
	payload []byte
}

// connection keeps one client at work until the run is over, dialing again
// after failures, and merges what it counted.
func (r *run) connection(ctx context.Context, u *url.URL, id uint64) {
	c := newClient(r, u, id)
	for !r.done(ctx) {
		if err := c.session(ctx); err != nil && !r.done(ctx) {
			r.errs.Add(1)
			r.failed(err)
			sleep(ctx, redial, nil)
		}
	}
	r.mu.Lock()
	r.total.Merge(&c.hist)
	r.sent.Add(c.sent)
	r.mu.Unlock()
}

// done reports whether no further request should be sent.
func (r *run) done(ctx context.Context) bool {
	if ctx.Err() != nil || r.phase.Load() == over {
		return true
	}
	return r.spec.Requests > 0 && r.issued.Load() >= r.spec.Requests
}

// newClient prepares the fixed parts of the requests.
func newClient(r *run, u *url.URL, id uint64) *client {
	s := &r.spec
	path := u.Path
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	head := " HTTP/1.1\r\nHost: " + u.Host + "\r\n"
	if s.Bearer != "" {
		head += "Authorization: Bearer " + s.Bearer + "\r\n"
	}
	if s.Body != "" {
		head += "Content-Type: " + s.Type + "\r\nContent-Length: "
	}
	return &client{
		run: r, host: u.Host, head: []byte(head), path: Parse(path), body: Parse(s.Body),
		fill: filler{rng: rand.New(rand.NewPCG(id, uint64(time.Now().UnixNano()))), keys: s.Keys, value: s.Value, fill: s.Requests > 0},
	}
}

// session sends requests over one connection until the run is over.
func (c *client) session(ctx context.Context) error {
	conn, err := net.DialTimeout("tcp", c.host, 2*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	replies := replyReader{r: bufio.NewReaderSize(conn, 64<<10)}
	var deadline time.Time
	for c.take(ctx) {
		c.build()
		begin := time.Now()
		// Moving the deadline costs as much as a small system call: once a second is enough.
		if limit := begin.Add(c.run.spec.Timeout); limit.Sub(deadline) > time.Second {
			deadline = limit
			if err := conn.SetDeadline(deadline); err != nil {
				return err
			}
		}
		if err := c.exchange(conn, &replies, begin); err != nil {
			return err
		}
	}
	return nil
}

// take claims the next request; with a fixed number of requests it also sets
// which keys the request writes.
func (c *client) take(ctx context.Context) bool {
	if c.run.done(ctx) {
		return false
	}
	if c.run.spec.Requests == 0 {
		return true
	}
	n := c.run.issued.Add(1) - 1
	c.fill.seq = n * uint64(c.run.spec.Rows)
	return n < c.run.spec.Requests
}

// exchange sends the built request and counts its reply.
func (c *client) exchange(conn net.Conn, replies *replyReader, begin time.Time) error {
	c.sent++
	if _, err := conn.Write(c.request); err != nil {
		return err
	}
	status, body, err := replies.next()
	if err != nil && !errors.Is(err, errCloses) {
		return err
	}
	if c.run.phase.Load() == counting {
		c.hist.Add(time.Since(begin))
		c.run.answered()
	}
	if bad := c.run.spec.Check.verify(status, body, c.run.spec.Rows); bad != nil {
		c.run.bad.Add(1)
		c.run.failed(bad)
	}
	return err
}

// build writes the next request into c.request.
func (c *client) build() {
	s := &c.run.spec
	b := append(append(c.request[:0], s.Method...), ' ')
	if s.Body == "" {
		b = c.fill.append(b, &c.path)
		b = append(b, c.head...)
		c.request = append(b, "\r\n"...)
		return
	}
	seq := c.fill.seq
	b = c.fill.append(b, &c.path)
	c.fill.seq = seq // the path and the first row count as one
	c.buildPayload(s.Rows)
	b = append(b, c.head...)
	b = strconv.AppendInt(b, int64(len(c.payload)), 10)
	b = append(b, "\r\n\r\n"...)
	c.request = append(b, c.payload...)
}

// buildPayload writes the body: one row as it is, more between Open and Close.
func (c *client) buildPayload(rows int) {
	if rows == 1 {
		c.payload = c.fill.append(c.payload[:0], &c.body)
		return
	}
	p := append(c.payload[:0], c.run.spec.Open...)
	for i := range rows {
		if i > 0 {
			p = append(p, ',')
		}
		p = c.fill.append(p, &c.body)
	}
	c.payload = append(p, c.run.spec.Close...)
}
