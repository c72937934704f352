package httpapi

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/internal/yield"
)

// Defaults of what requests may hold in memory.
const (
	// DefaultReplyBytes is the most bytes of the replies to one request.
	DefaultReplyBytes = 256 << 20
	// DefaultBufferedBytes is the most bytes of all bodies and replies under way.
	DefaultBufferedBytes = 1 << 30
)

// A database other than default may hold a part of the limit, counted from largeBytes for a request on.
const (
	tenantPart = 2
	largeBytes = 64 << 10
)

// memory counts the bytes of bodies and replies under way.
type memory struct {
	limit int64 // 0 = unlimited
	used  atomic.Int64

	mu      sync.Mutex
	tenants map[string]*tenantMemory // of databases that have large requests under way
}

// tenantMemory is what one database has under way.
type tenantMemory struct {
	used  int64
	calls int // that refer to it
}

// tenant refers to what a database has under way, until leave is called.
func (m *memory) tenant(db string) *tenantMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenants[db]
	if t == nil {
		if m.tenants == nil {
			m.tenants = map[string]*tenantMemory{}
		}
		t = &tenantMemory{}
		m.tenants[db] = t
	}
	t.calls++
	return t
}

// takeFor counts n bytes for a database, unless it has its part already.
func (m *memory) takeFor(t *tenantMemory, n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit > 0 && t.used+n > m.limit/tenantPart {
		return false
	}
	t.used += n
	return true
}

// leave ends a reference, and takes n bytes off the count.
func (m *memory) leave(db string, t *tenantMemory, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.used -= n
	if t.calls--; t.calls == 0 {
		delete(m.tenants, db)
	}
}

// take counts n bytes more, unless there is no room for them.
func (m *memory) take(n int64) bool {
	if used := m.used.Add(n); m.limit > 0 && used > m.limit {
		m.used.Add(-n)
		return false
	}
	return true
}

// give takes bytes off the count.
func (m *memory) give(n int64) { m.used.Add(-n) }

// outOfMemory refuses a request for which there is no room now: a moment later there may be.
func (m *memory) outOfMemory(n int64) *failure {
	return &failure{http.StatusServiceUnavailable, notApplied, "ERR max bytes of requests and replies under way exceeded. Limit: " +
		strconv.FormatInt(m.limit, 10) + ", Actual: " + strconv.FormatInt(m.used.Load()+n, 10) + ". Setting: max-buffered-bytes"}
}

// outOfShare refuses a request whose database has its part of the memory under way.
func (m *memory) outOfShare(t *tenantMemory, n int64) *failure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &failure{http.StatusServiceUnavailable, notApplied, "ERR max bytes of requests and replies under way of a database exceeded. Limit: " +
		strconv.FormatInt(m.limit/tenantPart, 10) + ", Actual: " + strconv.FormatInt(t.used+n, 10) + ". Setting: max-buffered-bytes"}
}

// hold counts bytes that the call holds until it is over.
func (c *call) hold(n int64) *failure {
	if c.db != "" && n >= largeBytes {
		if c.tenant == nil {
			c.tenant, c.tenantDB = c.s.memory.tenant(c.db), c.db
		}
		if !c.s.memory.takeFor(c.tenant, n) {
			return c.s.memory.outOfShare(c.tenant, n)
		}
		c.heldForTenant += n
	}
	if !c.s.memory.take(n) {
		return c.s.memory.outOfMemory(n)
	}
	c.held += n
	return nil
}

// leaveTenant is for the end of a call.
func (c *call) leaveTenant() {
	if c.tenant == nil {
		return
	}
	c.s.memory.leave(c.tenantDB, c.tenant, c.heldForTenant)
}

// keep counts bytes that are there already, whatever the limit: of a write that was applied the
// reply is sent.
func (c *call) keep(n int64) {
	c.s.memory.used.Add(n)
	c.held += n
}

// replySize is about how many bytes a reply has in memory.
func replySize(v reply.Value) (n int64) {
	n = int64(len(v.Text())) + 16
	for _, e := range v.Elems() {
		n += replySize(e)
	}
	if v.Kind() == reply.KindKeyed {
		n += replySize(v.RESP2())
	}
	return n
}

// errReplySize is what a row replies whose reply would exceed the limit of a request.
func (c *call) errReplySize(actual int64) reply.Value {
	return reply.Error("ERR max reply size of a request exceeded. Limit: " + strconv.FormatInt(c.s.bounds.ReplyBytes, 10) +
		" bytes, Actual: " + strconv.FormatInt(actual, 10) + " bytes. Setting: max-reply-size")
}

// runRows runs the rows on a view, as far as their replies stay within the limit: what is
// beyond it replies an error, and rows after that are not run.
func (c *call) runRows(v *fsm.View) {
	m := replyMeter{limit: c.s.bounds.ReplyBytes, form: c.form}
	for _, argv := range c.rows {
		if m.over() {
			c.values = append(c.values, c.errReplySize(m.written))
			continue
		}
		one := v.Exec(c.as, command.OriginHTTP, argv)
		if m.add(v, c.values, one); m.over() {
			one = c.errReplySize(m.written)
		}
		c.values = append(c.values, one)
	}
	if c.replyBytes = m.held; len(c.rows) == 1 { // which is encoded whole
		c.replyBytes = max(m.held, m.written)
	}
}

// replyMeter counts what replies take when they are written, where a byte may become several. As long as they can't
// exceed the limit however they are written, nobody looks at their bytes.
type replyMeter struct {
	limit int64 // 0 = unlimited
	form  redis.Form
	// held is the size in memory, written that in the reply; 0 while it isn't counted.
	held, written int64
}

// add counts a reply that follows others. Looking at bytes takes longer than running the commands: a view that keeps
// writes waiting is over its cost then, and the rows are run once more on one that doesn't.
func (m *replyMeter) add(v *fsm.View, before []reply.Value, one reply.Value) {
	size := replySize(one)
	m.held += size
	if m.limit <= 0 || m.written == 0 && m.held <= m.limit/redis.MostWritten {
		return
	}
	if m.written == 0 {
		size = m.held
	}
	if v.LookAt(size) {
		return
	}
	if !v.Bounded() {
		yield.Processor()
	}
	if m.written == 0 {
		for i := range before {
			m.written += redis.Size(before[i], m.form) + 1
		}
	}
	m.written += redis.Size(one, m.form) + 1
}

func (m *replyMeter) over() bool { return m.limit > 0 && m.written > m.limit }

// streamAbove is the size from which replies are written in pieces as they are encoded.
const streamAbove = 1 << 20

// streamPart is about how many bytes such a piece has.
const streamPart = 64 << 10
