package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/dedup"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/redis"
)

// serve dispatches by the first segment of the raw path. The router gets everything that is no command. Commands are split
// here, because a router would decode, clean and redirect paths that are arguments.
func (c *call) serve() {
	if len(c.r.TransferEncoding) > 0 {
		// net/http has dropped a length that was sent in addition to the chunks. A proxy that went by it would see
		// another request after this one: there must be none.
		c.w.Header()["Connection"] = closeValue
	}
	inDatabase := c.readTarget()
	switch {
	case len(c.r.Header["Authorization"]) > 1 && !c.hasQueryToken(): // a proxy in front may have gone by another one
		c.fail(badRequest("ERR Authorization must appear at most once, got it " + strconv.Itoa(len(c.r.Header["Authorization"])) + " times"))
	case c.refuseCoding():
	case c.s.loopback && !isLoopback(c.r.Host):
		c.fail(&failure{http.StatusForbidden, notApplied, "ERR this development server answers loopback hosts only"})
	case c.s.isRouted(c.path, inDatabase):
		c.serveRouted()
	case c.wantsPage():
		c.toConsole()
	default:
		c.command()
	}
}

// hasQueryToken reports whether a request shows its token in the query. Then its Authorization headers are not for this
// server: those of a message belong to the destination.
func (c *call) hasQueryToken() bool {
	if isMessages(c.path) {
		return messages.HasQueryToken(c.query)
	}
	_, found := redis.Token(nil, c.query)
	return found
}

// command answers a request to the keyspace.
func (c *call) command() {
	if origin := c.r.Header["Origin"]; len(origin) > 0 {
		c.allowOrigin(origin[:1])
	}
	if c.r.Method != http.MethodPost && console.SessionOf(c.r.Context()) != "" { // who browses sends commands by POST
		c.refuseMethod(postOnly)
		return
	}
	switch c.r.Method {
	case http.MethodHead, http.MethodGet, http.MethodPost, http.MethodPut:
		if f := c.prepare(); f != nil {
			c.fail(f)
			return
		}
		if c.kind == kindStream {
			c.stream()
		} else {
			c.execute()
		}
	case http.MethodOptions:
		if c.r.Header["Access-Control-Request-Method"] != nil {
			c.preflight()
			return
		}
		fallthrough
	default:
		c.refuseMethod(methods)
	}
}

func (c *call) refuseMethod(allowed []string) {
	c.w.Header()["Allow"] = allowed
	c.fail(&failure{http.StatusMethodNotAllowed, notApplied, ""})
}

// judge decides whether the rows write, and which of them may not run as far as this node knows. The table alone judges a simple
// command and rows that never write: the state that runs them decides the rest.
func (c *call) judge() {
	if c.plain = c.judgeSimple() || c.plainReads(); !c.plain {
		c.s.engine.Local(c.authorizeFn)
	}
}

// plainReads reports whether every row is a command that never writes, of the right number of words: then the state
// that is read decides the rest.
func (c *call) plainReads() bool {
	for _, argv := range c.rows {
		if row := c.s.table.Find(argv); row == nil || row.Flags&command.Write != 0 || !row.Takes(len(argv)) {
			return false
		}
	}
	return true
}

// options reads the service headers that say how to read and how to reply.
func (c *call) options() *failure {
	h, n := c.r.Header, &c.s.names
	switch get(h, n.consistency) {
	case "", "linearizable":
		c.reading = fsm.Reading{Mode: fsm.Linearizable}
	case "session":
		c.reading = fsm.Reading{Mode: fsm.SessionRead, AtLeast: tokenIndex(get(h, n.token), c.cluster)}
	case "stale":
		c.reading = fsm.Reading{Mode: fsm.Stale}
	default:
		return badRequest("ERR unknown consistency, it is linearizable, session or stale")
	}
	if get(h, n.encoding) == "base64" {
		c.form = redis.Base64
	}
	if c.kind == kindTransaction {
		return nil // replies are JSON, whatever the format header says
	}
	switch get(h, n.format) {
	case "", "json":
		return nil
	case "resp2":
		if c.form == redis.Base64 {
			return badRequest("ERR base64 encoding is not available for RESP2 replies")
		}
		c.form = redis.RESP2
		return nil
	}
	return badRequest("ERR unknown response format, it is json or resp2")
}

const (
	// bodyStep is the memory in bytes that a body gets before it has arrived. Then it gets twice as much as has arrived.
	bodyStep = 64 << 10
	// knownLength is the multiple of its arrived bytes that a body of known length gets, so that a large one is copied twice.
	knownLength = 16
)

// readBody reads the body of POST and PUT; other methods have none that counts.
func (c *call) readBody() *failure {
	if c.r.Method != http.MethodPost && c.r.Method != http.MethodPut {
		return nil
	}
	limit, length := c.s.maxBody, c.r.ContentLength
	if length > limit {
		return c.tooLarge(0)
	}
	if length == 0 {
		return nil
	}
	for {
		if before := cap(c.body); len(c.body) == before {
			room := max(bodyStep, 2*int64(before))
			if length > 0 {
				room = min(max(bodyStep, knownLength*int64(before)), length)
			}
			c.body = append(make([]byte, 0, room), c.body...)
			if f := c.hold(int64(cap(c.body) - before)); f != nil {
				return f
			}
		}
		n, err := c.r.Body.Read(c.body[len(c.body):cap(c.body)])
		c.body = c.body[:len(c.body)+n]
		switch {
		case int64(len(c.body)) > limit:
			return c.tooLarge(int64(len(c.body)))
		case err == io.EOF || err == nil && int64(len(c.body)) == length:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return badRequest("ERR max body time exceeded. Limit: " + c.s.limits.BodyTime.String() + ", Actual: " +
				strconv.Itoa(len(c.body)) + " bytes have arrived by then. Setting: body-timeout")
		case err != nil:
			var own *failure
			if errors.As(err, &own) {
				return own
			}
			return badRequest("ERR the body could not be read")
		}
	}
}

// drained is the most bytes of an over-size body that are read and dropped, so that a
// client which is still sending gets to see the answer.
const drained = 64 << 20

// tooLarge refuses the body, of which some bytes are read already.
func (c *call) tooLarge(read int64) *failure {
	actual := c.r.ContentLength
	if c.packed != nil { // which may unpack to any length
		if c.r.Header["Expect"] == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(c.packed.packed, drained))
		}
		return badRequest("ERR max request size exceeded. Limit: " + strconv.FormatInt(c.s.maxBody, 10) +
			" bytes, Actual: more than that after decoding. Setting: max-request-size")
	}
	if c.r.Header["Expect"] == nil {
		rest, _ := io.Copy(io.Discard, io.LimitReader(c.r.Body, drained))
		actual = max(actual, read+rest)
	}
	return badRequest("ERR max request size exceeded. Limit: " + strconv.FormatInt(c.s.maxBody, 10) +
		" bytes, Actual: " + strconv.FormatInt(actual, 10) + " bytes. Setting: max-request-size")
}

// setIdempotencyKey gives a write the client's own id, if it has one: then it is applied at most once. Reads have no
// use for it.
func (c *call) setIdempotencyKey(b *fsm.Batch) *failure {
	for _, name := range c.s.names.retry {
		list, given := c.r.Header[name]
		if !given {
			continue
		}
		id := list[0]
		if len(list) > 1 {
			return badRequest("ERR " + name + " must appear exactly once, got it " + strconv.Itoa(len(list)) + " times")
		}
		if len(id) == 0 || len(id) > dedup.MaxID {
			return badRequest("ERR " + name + " must be 1 to " + strconv.Itoa(dedup.MaxID) + " bytes long, got " + strconv.Itoa(len(id)))
		}
		b.Retry = b.IdempotencyKey(id)
		return nil
	}
	return nil
}
