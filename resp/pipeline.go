package resp

import (
	"cmp"
	"errors"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/yield"
	"github.com/trireme-dev/trireme/node/quota"
)

// A pipeline holds consecutive commands of one connection that run together: as one request to
// the log, or on one view. Their words alias the read buffer.
type pipeline struct {
	rows   [][][]byte
	bytes  int
	writes bool // goes through the log
	mute   bool // is not answered
	values []reply.Value
}

// The bounds of a pipeline: a log request is bounded like a log entry, a view by how long
// it may hold the machine's lock.
const (
	maxBatchWrites = 1000
	maxBatchReads  = 200
	maxBatchBytes  = 256 << 10
	// maxLoggedReads bounds the reads that go through the log together with the writes after
	// them. More reads are cheaper on a view of their own.
	maxLoggedReads = 8
	// maxViewBytes bounds the values that are held of one view, in bytes.
	maxViewBytes = 8 << 20
)

// enqueue appends a command to the pipeline, after running the pipeline if the two can't
// run together.
func (c *conn) enqueue(row *command.Command, argv [][]byte) {
	g := &c.pipeline
	if g.mute != c.mute && len(g.rows) > 0 {
		c.runPipeline()
	}
	writes := !row.OnlyReads(argv)
	if !c.mayRun(row, argv, writes) {
		return
	}
	c.awaitUncounted(row)
	isScript := row.Group() == "scripting" // a script may be slow: it is an entry of its own
	switch {
	case len(g.rows) == 0:
		g.writes = writes
	case isScript:
		c.runPipeline()
		g.writes = writes
	case g.writes != writes && writes && (len(g.rows) > maxLoggedReads || !c.readsLoggable()):
		c.runPipeline()
		g.writes = true
	case writes:
		g.writes = true
	case g.writes && !row.Logged(): // the node answers this for itself
		c.runPipeline()
		g.writes = false
	}
	c.noteCommand(row)
	c.trackReads(row, argv)
	g.mute = c.mute
	g.append(argv)
	reportsOwn := writes && c.reportsOwnWrites()
	if isScript || reportsOwn || g.full() {
		c.runPipeline()
	}
	if isScript { // one that was not sent has no answer
		c.scriptsAnswered(&fsm.Results{}, nil)
	}
	if reportsOwn && !c.ending {
		c.ending = c.flush() != nil
	}
}

func (p *pipeline) append(argv [][]byte) {
	p.rows = append(p.rows, argv)
	p.bytes += lengthOf(argv)
}

func (p *pipeline) clear() {
	clear(p.rows)
	clear(p.values)
	p.rows, p.values, p.bytes = p.rows[:0], p.values[:0], 0
}

func (p *pipeline) full() bool {
	if p.writes {
		return len(p.rows) >= maxBatchWrites || p.bytes >= maxBatchBytes
	}
	return len(p.rows) >= maxBatchReads
}

// readsLoggable reports whether the reads of the pipeline return the same in the log.
func (c *conn) readsLoggable() bool {
	for _, argv := range c.pipeline.rows {
		if row := c.s.table.Find(argv); !row.Logged() {
			return false
		}
	}
	return true
}

// mayRun reports whether the user may run the command, and answers it if not. The state
// that runs it checks again; reads are checked only there.
func (c *conn) mayRun(row *command.Command, argv [][]byte, writes bool) bool {
	if c.unrestricted || (!writes && c.as.Known()) {
		return true
	}
	c.runPipeline() // earlier commands may change the permissions
	if _, refusal := c.check(argv); refusal != nil {
		c.noteCommand(row)
		c.auditFailure([][][]byte{argv}, *refusal)
		c.emit(*refusal)
		return false
	}
	return true
}

// runPipeline runs the pipeline and answers its commands.
func (c *conn) runPipeline() {
	g := &c.pipeline
	if len(g.rows) == 0 {
		return
	}
	mute := c.mute
	c.mute = g.mute
	granted, beyond := c.takeQuota(len(g.rows), false)
	if granted > 0 {
		c.s.metrics.commands.Add(float64(granted))
		c.s.metrics.batches.Inc()
		c.execute(g.rows[:granted], g.writes)
	}
	for range len(g.rows) - granted {
		c.emit(beyond)
	}
	c.mute = mute
	g.clear()
}

// takeQuota counts n commands against the daily limit of the database; whole counts all or none of
// them. It returns the number that may run and the reply to the others.
func (c *conn) takeQuota(n int, allOrNone bool) (int, reply.Value) {
	if c.quota.Unlimited() || !c.as.Known() {
		return n, reply.Value{}
	}
	granted, err := c.s.meter.Take(c.s.life, c.as.DB, c.quota, int64(n), allOrNone)
	var exceeded *quota.Exceeded
	switch {
	case err == nil || errors.Is(err, fsm.ErrNoDatabase): // which the state will refuse
		return n, reply.Value{}
	case errors.As(err, &exceeded):
		return int(granted), reply.Error(exceeded.Error())
	}
	return 0, failureOf(err, false)
}

// execute runs rows and answers them.
func (c *conn) execute(rows [][][]byte, writes bool) {
	g := &c.pipeline
	for len(rows) > 0 && !c.ending {
		began := time.Now()
		var err error
		if writes {
			g.values, err = c.proposeRows(rows)
		} else {
			g.values, err = c.readRows(rows, g.values)
		}
		if err != nil {
			c.failRows(rows, err, writes)
			c.flushDone(writes)
			return
		}
		done := len(rows)
		if !writes { // all of them, unless their values became too large
			done = len(g.values)
		}
		c.answerRows(rows[:done], g.values, time.Since(began))
		rows = rows[done:]
		clear(g.values)
		c.flushDone(writes)
	}
}

// answerRows answers rows that were run.
func (c *conn) answerRows(rows [][][]byte, values []reply.Value, took time.Duration) {
	for i := range values {
		c.emit(values[i])
	}
	c.countCalls(rows, values, took)
	c.monitorRows(rows, values)
}

// failRows answers rows that the engine could not run or whose outcome is unknown.
func (c *conn) failRows(rows [][][]byte, err error, writes bool) {
	failed := failureOf(err, writes)
	c.auditFailure(rows, failed)
	for range rows {
		c.emit(failed)
	}
}

// readRows runs rows that only read on one linearizable view. It stops after the row with which the
// values exceed maxViewBytes, so it may return fewer values than rows, but at least one.
func (c *conn) readRows(rows [][][]byte, values []reply.Value) ([]reply.Value, error) {
	defer c.readScripts(rows)()
	_, err := c.s.engine.Read(c.s.life, fsm.Reading{Database: c.as.DB}, func(v *fsm.View) {
		c.scriptCalled = nil // a read may be run again
		values = c.execOnView(v, rows, values[:0], maxViewBytes)
	})
	return values, err
}

// execOnView runs rows on a view and appends their values, until they take limit bytes.
func (c *conn) execOnView(v *fsm.View, rows [][][]byte, values []reply.Value, limit int) []reply.Value {
	if !v.Authorized(c.as) {
		c.login(v, &c.credential)
	}
	c.interruptible(v)
	for i, argv := range rows {
		values = append(values, v.Exec(c.as, command.RESP, argv))
		c.noteCalls(v, i)
		size := reply.Size(values[len(values)-1:], limit)
		if limit -= size; limit <= 0 {
			break
		}
		if size >= sendBytes && !v.Bounded() {
			yield.Processor()
		}
	}
	return values
}

// proposeRows runs rows through the log.
func (c *conn) proposeRows(rows [][][]byte) ([]reply.Value, error) {
	results, err := c.propose(batchOf(rows))
	return results.Values, err
}

// batchOf returns rows as a request to the log, for which the caller names the user.
func batchOf(rows [][][]byte) fsm.Batch {
	if len(rows) == 1 {
		return fsm.Batch{Origin: command.RESP, Mode: fsm.Single, Rows: rows}
	}
	return fsm.Batch{Origin: command.RESP, Mode: fsm.Pipeline, Rows: rows}
}

// propose runs a batch through the log as the connection's user. On fsm.ErrRevoked it authenticates
// once more and tries again: the credential may have been granted anew since this node looked.
func (c *conn) propose(batch fsm.Batch) (fsm.Results, error) {
	batch.As = c.as
	if batch.CountsSubscribers() {
		defer c.suspendIntake()()
	}
	results, err := fsm.Execute(c.s.life, c.s.engine, batch)
	if errors.Is(err, fsm.ErrRevoked) {
		if c.reauthenticate(); !c.as.Known() {
			return results, err
		}
		batch.As = c.as
		results, err = fsm.Execute(c.s.life, c.s.engine, batch)
	}
	if err == nil && !results.Discarded {
		c.scriptCalled = c.scriptCalls(&batch, &results)
	}
	if t := c.tracked; t != nil && t.options.noLoop && err == nil {
		c.s.tracker.wrote(t, origin{results.Index, results.Place})
	}
	c.scriptsAnswered(&results, err)
	return results, err
}

// database names the keyspace of the connection.
func (c *conn) database() string { return cmp.Or(c.as.DB, fsm.DefaultDB) }
