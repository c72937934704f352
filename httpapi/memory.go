package httpapi

import (
	"cmp"
	"net/http"
	"strconv"

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

// hold counts bytes that the call holds until it is over.
func (c *call) hold(n int64) *failure {
	return c.overMemory(c.holding.Take(c.s.buffers, c.owning(), n))
}

// holdPiece has the call hold so many bytes in place of what it held: of a stream, one piece at a time.
func (c *call) holdPiece(n int64) *failure {
	return c.overMemory(c.holding.Set(c.s.buffers, c.owning(), n))
}

// owning names the database whose memory the call takes, empty for default.
func (c *call) owning() string {
	db := cmp.Or(c.db, c.owner)
	if db == fsm.DefaultDB {
		return ""
	}
	return db
}

func (c *call) overMemory(err error) *failure {
	if err != nil {
		return &failure{http.StatusServiceUnavailable, notApplied, "ERR " + err.Error()}
	}
	return nil
}

// keep counts bytes that exist already, whatever the limit: the reply to a write that was applied is always sent.
func (c *call) keep(n int64) { c.holding.Keep(c.s.buffers, n) }

// replySize estimates how many bytes a reply has in memory.
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

// errReplySize returns the reply of a row that would exceed the reply limit of its request; actual is the size in bytes that was reached.
func (c *call) errReplySize(actual int64) reply.Value {
	return reply.Error("ERR max reply size of a request exceeded. Limit: " + strconv.FormatInt(c.s.limits.ReplyBytes, 10) +
		" bytes, Actual: " + strconv.FormatInt(actual, 10) + " bytes. Setting: max-reply-size")
}

// runRows runs the rows on a view as long as their replies stay within the limit. The row that exceeds it replies an
// error, and rows after it are not run.
func (c *call) runRows(v *fsm.View) {
	m := replyMeter{limit: c.s.limits.ReplyBytes, form: c.form}
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

// replyMeter counts the bytes of replies when they are written, where a byte may become several. As long as they can't
// exceed the limit in any form, it does not look at their bytes.
type replyMeter struct {
	limit int64 // 0 = unlimited
	form  redis.Form
	// held is the size in memory, written the size in the reply; 0 while it isn't counted.
	held, written int64
}

// add counts a reply that follows others. Looking at bytes takes longer than running the commands: then a view that
// keeps writes waiting exceeds its cost, and the rows are run once more on a view that doesn't.
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

// streamPart is about the size of such a piece in bytes.
const streamPart = 64 << 10
