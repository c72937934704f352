package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"trireme/fsm/acl"
)

// Limits bound what clients may take of one node: connections, memory and time. Fields
// that are 0 have the defaults below, except the three counts, of which 0 is none.
type Limits struct {
	// Connections is the most open connections, ConnectionsPerIP those from one address.
	Connections, ConnectionsPerIP int
	// InFlight is the most requests of one token that are answered at a time.
	InFlight int
	// HeaderBytes is the most bytes of a request's line and header.
	HeaderBytes int
	// HeaderTime and BodyTime are how long a header and a whole request may take to
	// arrive; ReplyTime is how long the answer and its reading may take.
	HeaderTime, BodyTime, ReplyTime time.Duration
}

// Defaults of Limits.
const (
	// DefaultConnections is for --max-connections; a Limits without it has no limit.
	DefaultConnections = 10_000
	DefaultHeaderBytes = 64 << 10
	DefaultHeaderTime  = 10 * time.Second
	DefaultBodyTime    = time.Minute
	DefaultReplyTime   = 2 * time.Minute
)

func (l *Limits) complete() {
	if l.HeaderBytes == 0 {
		l.HeaderBytes = DefaultHeaderBytes
	}
	if l.HeaderTime == 0 {
		l.HeaderTime = DefaultHeaderTime
	}
	if l.BodyTime == 0 {
		l.BodyTime = DefaultBodyTime
	}
	if l.ReplyTime == 0 {
		l.ReplyTime = DefaultReplyTime
	}
}

// minHeader is the least that a header limit may be: a token and what clients send.
const minHeader = 4 << 10

// Check tells whether the limits can be kept.
func (l Limits) Check() error {
	switch {
	case min(l.Connections, l.ConnectionsPerIP, l.InFlight) < 0:
		return errors.New("max-connections, max-connections-per-ip and max-in-flight can't be negative, 0 is none")
	case l.HeaderBytes < minHeader:
		return errors.New("max-header-size is at least " + strconv.Itoa(minHeader) + " bytes")
	case min(l.HeaderTime, l.BodyTime, l.ReplyTime) <= 0:
		return errors.New("header-timeout, body-timeout and reply-timeout are longer than nothing")
	}
	return nil
}

// exceeded is the refusal of a request for which there is no room now.
func exceeded(what, setting string, limit, actual int) *failure {
	return &failure{http.StatusServiceUnavailable, notApplied, "ERR " + what + " exceeded. Limit: " + strconv.Itoa(limit) +
		", Actual: " + strconv.Itoa(actual) + ". Setting: " + setting}
}

// headTooLarge is the refusal of a request line and header above the limit, of which no
// more was read.
func headTooLarge(limit int) *failure {
	return &failure{http.StatusRequestHeaderFieldsTooLarge, notApplied, "ERR max header size exceeded. Limit: " + strconv.Itoa(limit) +
		" bytes, Actual: more than that. Setting: max-header-size"}
}

// flight counts the requests of every token that are under way.
type flight struct {
	limit int
	mu    sync.Mutex
	by    map[acl.Identity]int
}

// newFlight is nil without a limit.
func newFlight(limit int) *flight {
	if limit <= 0 {
		return nil
	}
	return &flight{limit: limit, by: map[acl.Identity]int{}}
}

// takeOff counts the call among those of its token, or refuses it.
func (c *call) takeOff() *failure {
	f := c.s.flight
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.by[c.as]; n >= f.limit {
		return exceeded("max requests in flight", "max-in-flight", f.limit, n+1)
	}
	f.by[c.as]++
	c.flying, c.flier = true, c.as
	return nil
}

// land ends what takeOff began.
func (c *call) land() {
	if !c.flying {
		return
	}
	f := c.s.flight
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by[c.flier]--; f.by[c.flier] == 0 {
		delete(f.by, c.flier)
	}
}
