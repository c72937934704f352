package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/node/quota"
	"github.com/trireme-dev/trireme/node/stats"
)

// verdict is the result of judging the rows of a call by a state.
type verdict struct {
	writes     bool         // a row that may run changes something
	refusal    *reply.Value // of the first row that may not run
	mayBeStale bool         // a newer state might not refuse
	revoked    bool         // the token opens nothing any more
}

// execute judges the rows, runs them and answers. Reads run on a view, everything else goes through the log; a batch is
// one request either way.
func (c *call) execute() {
	c.began = time.Now()
	if c.judge(); c.verdict.refusal != nil && c.mode != fsm.Pipeline {
		c.refuse()
		return
	}
	c.proceed()
}

// proceed runs the rows if the daily limit lets it, and answers.
func (c *call) proceed() {
	if c.count() {
		c.runAlone()
	}
}

// runAlone runs the rows as a batch of one, and answers.
func (c *call) runAlone() {
	c.s.run(c.r.Context(), c.self[:])
	if c.verdict.revoked {
		// Nothing was done. The state that was asked may be old, or the token may be valid again since: the cluster is asked.
		if !c.verdict.writes && c.reading.Mode == fsm.Linearizable {
			c.fail(errToken)
			return
		}
		if f := c.confirm(); f != nil {
			c.fail(f)
			return
		}
		c.verdict.revoked, c.reading = false, fsm.Reading{}
		if c.s.run(c.r.Context(), c.self[:]); c.verdict.revoked {
			c.fail(errToken)
			return
		}
	}
	c.answerRun()
}

// count counts the rows against the daily limit and drops those beyond it. If none may run, it answers the request and
// returns false.
func (c *call) count() bool { return c.quota.Unlimited() || c.countLimited() }

func (c *call) countLimited() bool {
	n := int64(len(c.rows))
	granted, err := c.s.meter.Take(c.r.Context(), c.db, c.quota, n, c.mode == fsm.Transaction)
	var exceeded *quota.Exceeded
	switch {
	case err == nil:
		c.charged, c.chargedTo = n, c.quota
		return true
	case errors.Is(err, fsm.ErrNoDatabase): // which the state will refuse
		return true
	case !errors.As(err, &exceeded):
		c.fail(failureOf(err, false))
		return false
	}
	if granted == 0 && exceeded.Wait > 0 {
		c.w.Header()["Retry-After"] = []string{exceeded.RetryAfter()}
		c.fail(&failure{http.StatusTooManyRequests, notApplied, exceeded.Error()})
		return false
	}
	for range n - granted {
		c.beyond = append(c.beyond, reply.Error(exceeded.Error()))
	}
	c.rows = c.rows[:granted]
	c.charged, c.chargedTo = granted, c.quota
	if granted > 0 {
		return true
	}
	if c.mode == fsm.Pipeline {
		c.values = c.values[:0]
		c.scratch = appendToken(c.scratch[:0], c.cluster, 0, -1) // no state was seen
		c.answerAll()
		return false
	}
	c.answer(c.beyond[0])
	return false
}

// uncharge reverses the rows' count against the daily limit: none of them ran.
func (c *call) uncharge() {
	if c.charged > 0 {
		c.s.meter.Return(c.chargedTo, c.charged)
		c.charged = 0
	}
}

// authorize asks a state about the rows, before any of them runs.
func (c *call) authorize(v *fsm.View) {
	c.reauthenticate(v)
	checker := v.Checker(c.as, command.OriginHTTP)
	for _, argv := range c.rows {
		row, refusal := checker.Check(argv)
		switch {
		case refusal == nil:
			c.verdict.writes = c.verdict.writes || !row.OnlyReads(argv)
		case c.verdict.refusal == nil:
			c.verdict.refusal, c.verdict.mayBeStale = refusal, c.mayChange(v, argv, refusal)
		}
	}
	if c.mode == fsm.Transaction && c.verdict.refusal == nil {
		c.verdict.refusal = v.Refuse(c.as, command.OriginHTTP, c.rows)
	}
}

// reauthenticate looks the token up again: a state that is read judges it too.
func (c *call) reauthenticate(v *fsm.View) {
	c.identify(v)
	c.verdict = verdict{revoked: !c.as.Known()}
}

// mayChange reports whether a newer state could permit what this one refuses: another
// user's rights, or a feature level that switched the command on.
func (c *call) mayChange(v *fsm.View, argv [][]byte, refusal *reply.Value) bool {
	if strings.HasPrefix(refusal.Text(), "NOPERM ") || strings.HasPrefix(refusal.Text(), "ERR max single record ") {
		return true
	}
	row := c.s.table.Find(argv)
	return row != nil && row.Since > v.Level()
}

// refuse answers a single command or transaction that this node's state refuses. If a
// newer state could permit it, that is asked first.
func (c *call) refuse() {
	if c.verdict.mayBeStale || c.verdict.revoked {
		if _, err := c.s.engine.Read(c.r.Context(), fsm.Reading{}, c.authorizeFn); err != nil {
			c.fail(failureOf(err, false))
			return
		}
		switch {
		case c.verdict.revoked:
			c.fail(errToken)
			return
		case c.verdict.refusal == nil:
			c.proceed()
			return
		}
	}
	c.discard(*c.verdict.refusal)
}

// discard answers with the error of a request of which no row ran.
func (c *call) discard(refusal reply.Value) {
	c.uncharge()
	c.values = append(c.values[:0], refusal)
	c.report()
	c.answer(c.values[0])
}

// answerRead answers what was read.
func (c *call) answerRead() {
	if c.failed != nil {
		c.fail(failureOf(c.failed, false))
		return
	}
	if f := c.hold(c.replyBytes); f != nil {
		c.fail(f)
		return
	}
	c.scratch = appendToken(c.scratch[:0], c.cluster, c.at.Index, -1)
	if c.reading.Mode == fsm.Stale {
		c.setAgeHeaders()
	}
	if c.verdict.refusal != nil {
		c.discard(*c.verdict.refusal)
		return
	}
	if c.mode == fsm.Single && refused(c.values[0]) {
		c.uncharge()
	}
	c.publishExecuted(c.rows...)
	c.answerAll()
}

// run runs the rows on a view. Replies are encoded later: the view holds a lock.
func (c *call) run(v *fsm.View) {
	c.values = c.values[:0]
	if c.plain && c.mode != fsm.Transaction { // Exec checks every row
		if c.verdict.revoked = !v.Authorized(c.as); c.verdict.revoked {
			c.reauthenticate(v)
		}
	} else {
		c.authorize(v)
	}
	if c.verdict.revoked || c.verdict.writes || (c.mode == fsm.Transaction && c.verdict.refusal != nil) {
		return
	}
	c.verdict.refusal = nil
	c.runRows(v)
}

// answerWritten answers what was written.
func (c *call) answerWritten() {
	results := &c.results
	if c.failed != nil {
		f := failureOf(c.failed, true)
		c.auditFailure(f)
		c.fail(f)
		return
	}
	if results.Replayed {
		set(c.w.Header(), c.s.names.replayed, "true")
	}
	c.scratch = appendToken(c.scratch[:0], c.cluster, results.Index, results.Place)
	if c.row > 0 {
		c.scratch = strconv.AppendInt(append(c.scratch, '.'), int64(c.row), 36)
	}
	if results.Discarded {
		c.uncharge()
		c.answer(results.Values[0])
		return
	}
	c.values = append(c.values[:0], results.Values...)
	c.keep(c.replyBytes)
	if !results.Replayed {
		c.publishExecuted(c.rows...)
	}
	c.answerAll()
}

// report counts what the rows have replied.
func (c *call) report() {
	c.took = time.Since(c.began)
	c.s.stats.In(c.database()).Batch(c.s.table, c.rows, c.values, c.took, stats.Caller{})
	if c.s.audit.Wants(c.rows) {
		c.s.audit.Commands(c.caller(), c.rows, c.values)
	}
}

// answerAll answers what the rows have replied.
func (c *call) answerAll() {
	c.report()
	if c.mode == fsm.Single {
		c.answer(c.values[0])
		return
	}
	c.values = append(c.values, c.beyond...)
	if c.replyBytes > streamAbove {
		c.streamBatch()
		return
	}
	c.out = redis.AppendBatch(c.out[:0], c.values, c.form)
	c.succeed()
}

// streamBatch writes the replies of a batch in pieces, so that they are never together in
// memory in their encoded form.
func (c *call) streamBatch() {
	set(c.w.Header(), c.s.names.token, string(c.scratch))
	turn := c.s.encoders.writer(c.w)
	defer turn.close()
	c.w = turn
	out, end := c.packs()
	c.w = out
	c.beginReply(http.StatusOK, c.contentType())
	c.out = c.out[:0]
	for i, v := range c.values {
		c.out = redis.StreamBatchElement(c.out, v, i, len(c.values), c.form, streamPart, c.flushPart)
		c.values[i] = reply.Value{}
	}
	c.flushPart(c.out)
	end()
}

// flushPart writes a part of a reply that was begun.
func (c *call) flushPart(part []byte) []byte {
	n, err := c.w.Write(part)
	if c.sent += n; err != nil {
		panic(http.ErrAbortHandler) // the client has gone: a reply that was begun is broken off
	}
	return part[:0]
}

// answer sends one reply. The status of an error is 400: the command changed nothing.
func (c *call) answer(v reply.Value) {
	if c.replyBytes > streamAbove {
		c.s.encoders.do(func() { c.out = redis.AppendReply(c.out[:0], v, c.form) })
	} else {
		c.out = redis.AppendReply(c.out[:0], v, c.form)
	}
	if !v.IsError() {
		c.succeed()
		return
	}
	set(c.w.Header(), c.s.names.outcome, string(notApplied))
	c.send(http.StatusBadRequest, c.contentType())
}

// succeed sends out, with the sync token in scratch.
func (c *call) succeed() {
	set(c.w.Header(), c.s.names.token, string(c.scratch))
	c.send(http.StatusOK, c.contentType())
}

func (c *call) contentType() []string {
	if c.form == redis.RESP2 {
		return binaryType
	}
	return jsonType
}
