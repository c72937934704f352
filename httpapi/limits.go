package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/internal/connlimit"
)

// Limits bound what clients may take of one node: connections, memory and time. Fields
// that are 0 have the defaults below; of the three counts 0 = unlimited.
type Limits struct {
	// Connections is the most open connections, ConnectionsPerIP those from one address; -1 is
	// a quarter of Connections, for every address but loopback.
	Connections, ConnectionsPerIP int
	// Reserve is the number of further connections that loopback may open, and that clients with the admin token may
	// open.
	Reserve int
	// InFlight is the most requests of one token that are answered at a time.
	InFlight int
	// HeaderBytes is the most bytes of a request's line and header.
	HeaderBytes int
	// StrangerBytes bounds the memory for requests of all connections that have shown no valid token, beyond 4 KiB for
	// each.
	StrangerBytes int64
	// ReplyBytes is the most bytes of the replies to one request that only reads,
	// BufferedBytes the most of all bodies and replies under way; negative is unlimited.
	ReplyBytes, BufferedBytes int64
	// HeaderTime and BodyTime bound the time in which a header and a whole request must arrive; ReplyTime bounds the
	// time of the answer and of its reading by the client.
	HeaderTime, BodyTime, ReplyTime time.Duration
}

// Defaults of Limits.
const (
	// DefaultConnections is for --max-connections; a Limits without it has no limit.
	DefaultConnections = 10_000
	DefaultHeaderBytes = 64 << 10
	// DefaultStrangerBytes is the default of Limits.StrangerBytes.
	DefaultStrangerBytes = 64 << 20
	DefaultHeaderTime    = 10 * time.Second
	DefaultBodyTime      = time.Minute
	DefaultReplyTime     = 2 * time.Minute
)

func (l *Limits) complete() {
	l.HeaderBytes = cmp.Or(l.HeaderBytes, DefaultHeaderBytes)
	l.StrangerBytes = cmp.Or(l.StrangerBytes, DefaultStrangerBytes)
	l.ReplyBytes = cmp.Or(l.ReplyBytes, DefaultReplyBytes)
	l.BufferedBytes = cmp.Or(l.BufferedBytes, DefaultBufferedBytes)
	l.HeaderTime = cmp.Or(l.HeaderTime, DefaultHeaderTime)
	l.BodyTime = cmp.Or(l.BodyTime, DefaultBodyTime)
	l.ReplyTime = cmp.Or(l.ReplyTime, DefaultReplyTime)
}

// minHeader is the least that a header limit may be: a token and what clients send.
const minHeader = 4 << 10

// Check reports whether the limits can be kept.
func (l Limits) Check() error {
	switch {
	case min(l.Connections, l.ConnectionsPerIP-connlimit.QuarterOfTotal, l.InFlight) < 0:
		return errors.New("max-connections and max-in-flight must be 0 or greater (0 = unlimited), max-connections-per-ip also -1 (a quarter of max-connections)")
	case l.HeaderBytes < minHeader:
		return errors.New("max-header-size must be at least " + strconv.Itoa(minHeader) + " bytes")
	case min(l.HeaderTime, l.BodyTime, l.ReplyTime) <= 0:
		return errors.New("header-timeout, body-timeout and reply-timeout must be positive")
	}
	return nil
}

// exceeded returns the refusal of a request for which there is no room now.
func exceeded(what, setting string, limit, actual int) *failure {
	return &failure{http.StatusServiceUnavailable, notApplied, "ERR " + what + " exceeded. Limit: " + strconv.Itoa(limit) +
		", Actual: " + strconv.Itoa(actual) + ". Setting: " + setting}
}

// headTooLarge returns the refusal of a request line and header above the limit, of which no
// more was read.
func headTooLarge(limit int) *failure {
	return &failure{http.StatusRequestHeaderFieldsTooLarge, notApplied, "ERR max header size exceeded. Limit: " + strconv.Itoa(limit) +
		" bytes, Actual: more than that. Setting: max-header-size"}
}

// inflight counts the requests of every token that are under way.
type inflight struct {
	limit int
	mu    sync.Mutex
	by    map[acl.Identity]int
}

// newInflight returns nil without a limit.
func newInflight(limit int) *inflight {
	if limit <= 0 {
		return nil
	}
	return &inflight{limit: limit, by: map[acl.Identity]int{}}
}

// acquire counts the call among those of its token, or refuses it.
func (c *call) acquire() *failure {
	f := c.s.inflight
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.by[c.as]; n >= f.limit {
		return exceeded("max requests in flight", "max-in-flight", f.limit, n+1)
	}
	f.by[c.as]++
	c.counted, c.countedAs = true, c.as
	return nil
}

// release ends what acquire began.
func (c *call) release() {
	if !c.counted {
		return
	}
	f := c.s.inflight
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by[c.countedAs]--; f.by[c.countedAs] == 0 {
		delete(f.by, c.countedAs)
	}
}
