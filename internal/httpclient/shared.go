package httpclient

import (
	"net"
	"time"

	"golang.org/x/net/http2"
)

// shared is a connection that speaks HTTP/2: many requests use it at once.
type shared struct{ conn *http2.ClientConn }

// streams returns how many requests use the connection or are about to.
func streams(s http2.ClientConnState) int {
	return s.StreamsActive + s.StreamsReserved + s.StreamsPending
}

// isOver reports whether no request may use the connection any more: it has ended, or was unused for too long.
func (s *shared) isOver(now time.Time, idle time.Duration) bool {
	state := s.conn.State()
	return state.Closed || state.Closing || streams(state) == 0 && !state.LastIdle.IsZero() && now.Sub(state.LastIdle) >= idle
}

// retire closes the connection at the end of its last request.
func (s *shared) retire() {
	if streams(s.conn.State()) > 0 {
		s.conn.SetDoNotReuse()
		return
	}
	s.conn.Close()
}

// takeShared returns a connection with room for a request, which it has reserved, nil if there is none.
func (c *Client) takeShared(to route) *shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweepShared(to, time.Now())
	for _, h := range c.shared[to] {
		if h.conn.ReserveNewRequest() {
			return h
		}
	}
	return nil
}

// sweepShared closes those connections of a route that are over. The caller holds the lock.
func (c *Client) sweepShared(to route, now time.Time) {
	left := c.shared[to][:0]
	for _, h := range c.shared[to] {
		if h.isOver(now, c.IdleTime) {
			h.retire()
			continue
		}
		left = append(left, h)
	}
	if len(left) == 0 {
		delete(c.shared, to)
		return
	}
	clear(c.shared[to][len(left):])
	c.shared[to] = left
}

// openShared makes an HTTP/2 connection of nc, and reserves room for a request on it. Where others have made one to the
// same place in the meantime, that is taken.
func (c *Client) openShared(to route, nc net.Conn) (*shared, error) {
	if h := c.takeShared(to); h != nil {
		nc.Close()
		return h, nil
	}
	// Without IdleConnTimeout a connection does not know since when it is unused. isOver ends it earlier.
	t := &http2.Transport{DisableCompression: true, IdleConnTimeout: KeepMost, MaxHeaderListSize: uint32(c.MaxHead)}
	conn, err := t.NewClientConn(nc)
	if err != nil {
		nc.Close()
		return nil, err
	}
	if !conn.ReserveNewRequest() {
		conn.Close()
		return nil, errNoRequests
	}
	h := &shared{conn}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared == nil {
		c.shared = map[route][]*shared{}
	}
	c.shared[to] = append(c.shared[to], h)
	c.startSweeping()
	return h, nil
}
