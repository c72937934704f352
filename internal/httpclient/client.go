package httpclient

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// Client sends requests that fit. Its fields are not changed once it is in use.
type Client struct {
	// Dial opens a TCP connection; required.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// MaxIdle and MaxIdlePerHost bound the unused connections that are kept. IdleTime is for how long one is kept whose server
	// says nothing of that, see KeepFor.
	MaxIdle, MaxIdlePerHost int
	IdleTime                time.Duration
	// MaxHead is the most bytes of an answer's head, interim answers included.
	MaxHead int

	mu       sync.Mutex
	idle     map[string][]*conn // by address, the one that was used last at the end
	count    int                // of all of them
	sweeping bool
}

var _ http.RoundTripper = (*Client)(nil)

// outs are buffers of requests.
var outs = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer bounds the buffers that are kept, in bytes.
const keptBuffer = 64 << 10

// RoundTrip sends a request that fits and returns its answer, also a redirect, as it came. The caller closes the body.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	out := outs.Get().(*[]byte)
	var err error
	if *out, err = appendRequest((*out)[:0], r); r.Body != nil {
		r.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	answer, complete, err := c.send(r, *out)
	if complete && cap(*out) <= keptBuffer { // otherwise it may still be written from
		outs.Put(out)
	}
	return answer, err
}

// send writes a request to a connection and reads the head of the answer. whole reports whether out is needed no more.
func (c *Client) send(r *http.Request, out []byte) (answer *http.Response, whole bool, err error) {
	addr := addrOf(r.URL)
	ctx := r.Context()
	for {
		if ctx.Err() != nil {
			return nil, true, context.Cause(ctx)
		}
		k, kept := c.take(addr), true
		if k == nil {
			if k, err = c.open(ctx, addr); err != nil {
				return nil, true, err
			}
			kept = false
		}
		answer, sent, err := k.exchange(r, out)
		if err != nil && sent == unsent && kept {
			continue // it had ended: another one, which ends with the last that is kept
		}
		return answer, sent != begun, err
	}
}

// open opens a connection.
func (c *Client) open(ctx context.Context, addr string) (*conn, error) {
	begin := time.Now()
	nc, err := c.Dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, addr: addr, nc: nc, roundTrip: time.Since(begin), read: socket.Read(nc), tryRead: socket.TryRead(nc), tryWrite: socket.TryWrite(nc)}, nil
}

// take returns a kept connection to an address that is still good, nil if there is none.
func (c *Client) take(addr string) *conn {
	for {
		c.mu.Lock()
		list := c.idle[addr]
		if len(list) == 0 {
			c.mu.Unlock()
			return nil
		}
		k := list[len(list)-1]
		c.drop(addr, len(list)-1)
		c.mu.Unlock()
		if k.usable(time.Now()) && k.quiet() {
			return k
		}
		k.nc.Close()
	}
}

// drop takes the connection at i out of the list of an address. The caller holds the lock.
func (c *Client) drop(addr string, i int) {
	list := c.idle[addr]
	c.count--
	if len(list) == 1 {
		delete(c.idle, addr)
		return
	}
	copy(list[i:], list[i+1:])
	list[len(list)-1] = nil
	c.idle[addr] = list[:len(list)-1]
}

// put keeps a connection.
func (c *Client) put(k *conn) {
	k.since = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle[k.addr]) >= c.MaxIdlePerHost || !k.usable(k.since) {
		k.nc.Close()
		return
	}
	if c.count >= c.MaxIdle {
		for addr, list := range c.idle { // unordered: any of them makes room
			list[0].nc.Close()
			c.drop(addr, 0)
			break
		}
	}
	if c.idle == nil {
		c.idle = map[string][]*conn{}
	}
	c.idle[k.addr] = append(c.idle[k.addr], k)
	c.count++
	if !c.sweeping {
		c.sweeping = true
		time.AfterFunc(sweepPause, c.sweep)
	}
}

// sweepPause is the time between two looks at the unused connections.
const sweepPause = KeepUnannounced / 4

// sweep closes what has been unused for too long, again and again until nothing is left.
func (c *Client) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for addr, list := range c.idle { // unordered: all are looked at
		for i := len(list) - 1; i >= 0; i-- {
			if k := list[i]; !k.usable(now) {
				k.nc.Close()
				c.drop(addr, i)
			}
		}
	}
	if c.sweeping = c.count > 0; c.sweeping {
		time.AfterFunc(sweepPause, c.sweep)
	}
}

// CloseIdle closes the connections that are kept.
func (c *Client) CloseIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range c.idle { // unordered: all are closed
		for _, k := range list {
			k.nc.Close()
		}
	}
	clear(c.idle)
	c.count = 0
}
