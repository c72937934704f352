package httpclient

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Client sends HTTP requests. Its fields are not changed once it is in use.
type Client struct {
	// Check, if set, judges a URL before anything is done for its request, which fails with Check's error.
	Check func(*url.URL) error
	// Dial opens a TCP connection; required.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS is the configuration for https; nil is Go's. Server names and protocols are the client's to say.
	TLS *tls.Config
	// HandshakeTime bounds a TLS handshake, and the answer of a proxy to CONNECT. 0: the context alone does.
	HandshakeTime time.Duration
	// Proxy is the HTTP proxy of all requests, at an http or https URL, or nil.
	Proxy *url.URL
	// MaxIdle and MaxIdlePerHost bound the unused connections that are kept. IdleTime is for how long one is kept whose server
	// says nothing of that, see KeepFor.
	MaxIdle, MaxIdlePerHost int
	IdleTime                time.Duration
	// MaxHead is the most bytes of an answer's head, interim answers included.
	MaxHead int

	mu       sync.Mutex
	idle     map[route][]*conn // the one that was used last at the end
	count    int               // of all of them
	shared   map[route][]*shared
	sweeping bool
}

var _ http.RoundTripper = (*Client)(nil)

// outs are buffers of requests.
var outs = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer bounds the buffers that are kept, in bytes.
const keptBuffer = 64 << 10

// RoundTrip sends a request and returns its answer, also a redirect, as it came. The caller closes the body. A request of
// which a connection took a single byte is not sent again, whatever its method and headers.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	if c.Check != nil && r.URL != nil {
		err = c.Check(r.URL)
	}
	if err == nil {
		err = check(r)
	}
	if err != nil {
		closeBody(r)
		return nil, err
	}
	out := outs.Get().(*[]byte)
	*out = (*out)[:0]
	answer, complete, err := c.send(r, out)
	if complete && cap(*out) <= keptBuffer { // otherwise it may still be written from
		outs.Put(out)
	}
	return answer, err
}

// send sends a request over a kept connection or a new one. out is room for the request; complete reports whether it is
// needed no more.
func (c *Client) send(r *http.Request, out *[]byte) (answer *http.Response, complete bool, err error) {
	ctx, to := r.Context(), c.routeOf(r.URL)
	for {
		if ctx.Err() != nil {
			closeBody(r)
			return nil, true, context.Cause(ctx)
		}
		k, kept, h, err := c.connection(ctx, to)
		if err != nil {
			closeBody(r)
			return nil, true, err
		}
		if h != nil {
			answer, err = h.conn.RoundTrip(unread(r, *out))
			return answer, len(*out) == 0, err
		}
		if len(*out) == 0 {
			if *out, err = c.appendRequest(*out, r); err != nil {
				k.nc.Close()
				closeBody(r)
				return nil, true, err
			}
		}
		answer, sent, err := k.exchange(r, *out)
		if err != nil && sent == unsent && kept {
			continue // it had ended: another one, which ends with the last that is kept
		}
		if err != nil && k.rest == nil {
			closeBody(r)
		}
		return answer, sent != begun, err
	}
}

// connection returns a connection for one request: h if it speaks HTTP/2, otherwise k, which was kept or is new.
func (c *Client) connection(ctx context.Context, to route) (k *conn, kept bool, h *shared, err error) {
	if to.https {
		if h = c.takeShared(to); h != nil {
			return nil, false, h, nil
		}
	}
	if k = c.take(to); k != nil {
		return k, true, nil, nil
	}
	k, h, err = c.open(ctx, to)
	return k, false, h, err
}

// take returns a kept connection that is still good, nil if there is none.
func (c *Client) take(to route) *conn {
	for {
		c.mu.Lock()
		list := c.idle[to]
		if len(list) == 0 {
			c.mu.Unlock()
			return nil
		}
		k := list[len(list)-1]
		c.drop(to, len(list)-1)
		c.mu.Unlock()
		if k.usable(time.Now()) && k.quiet() {
			return k
		}
		k.nc.Close()
	}
}

// drop takes the connection at i out of the list of a route. The caller holds the lock.
func (c *Client) drop(to route, i int) {
	list := c.idle[to]
	c.count--
	if len(list) == 1 {
		delete(c.idle, to)
		return
	}
	copy(list[i:], list[i+1:])
	list[len(list)-1] = nil
	c.idle[to] = list[:len(list)-1]
}

// put keeps a connection.
func (c *Client) put(k *conn) {
	k.since = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle[k.to]) >= c.MaxIdlePerHost || !k.usable(k.since) {
		k.nc.Close()
		return
	}
	if c.count >= c.MaxIdle {
		for to, list := range c.idle { // unordered: any of them makes room
			list[0].nc.Close()
			c.drop(to, 0)
			break
		}
	}
	if c.idle == nil {
		c.idle = map[route][]*conn{}
	}
	c.idle[k.to] = append(c.idle[k.to], k)
	c.count++
	c.startSweeping()
}

// sweepPause is the time between two looks at the unused connections.
const sweepPause = KeepUnannounced / 4

// startSweeping has sweep called. The caller holds the lock.
func (c *Client) startSweeping() {
	if !c.sweeping {
		c.sweeping = true
		time.AfterFunc(sweepPause, c.sweep)
	}
}

// sweep closes what has been unused for too long, again and again until nothing is left.
func (c *Client) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for to, list := range c.idle { // unordered: all are looked at
		for i := len(list) - 1; i >= 0; i-- {
			if k := list[i]; !k.usable(now) {
				k.nc.Close()
				c.drop(to, i)
			}
		}
	}
	for to := range c.shared { // unordered: all are looked at
		c.sweepShared(to, now)
	}
	if c.sweeping = c.count > 0 || len(c.shared) > 0; c.sweeping {
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
	for _, list := range c.shared { // unordered: all are closed
		for _, h := range list {
			h.retire()
		}
	}
	clear(c.shared)
}
