package resp

import (
	"errors"
	"strings"
	"time"

	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/fsm/reply"
	"trireme/quota"
)

// segment is commands that follow one another and run together: as one request to the log,
// or on one view. Their words alias the read buffer.
type segment struct {
	rows   [][][]byte
	bytes  int
	writes bool // goes through the log
	mute   bool // is not answered
	values []reply.Value
}

// The bounds of a segment: those of a log request are about what the log packs, those of
// a view how long it may hold its lock.
const (
	mostWrites = 1000
	mostReads  = 200
	mostBytes  = 256 << 10
	// fewReads is how many reads are better put through the log with the writes behind
	// them than asked for beforehand.
	fewReads = 8
)

// add puts a command behind the segment, or begins a new one.
func (c *conn) add(row *command.Command, argv [][]byte) {
	g := &c.segment
	if g.mute != c.mute && len(g.rows) > 0 {
		c.finish()
	}
	writes := !row.OnlyReads(argv)
	if !c.may(row, argv, writes) {
		return
	}
	alone := row.Group == "scripting" // a script may take its time: others come between
	switch {
	case len(g.rows) == 0:
		g.writes = writes
	case alone:
		c.finish()
		g.writes = writes
	case g.writes != writes && writes && (len(g.rows) > fewReads || !c.loggable()):
		c.finish()
		g.writes = true
	case writes:
		g.writes = true
	case g.writes && row.Flags&command.ReadOnly == 0: // the node answers this for itself
		c.finish()
		g.writes = false
	}
	c.note(row)
	c.reads(row, argv)
	g.mute = c.mute
	g.append(argv)
	if alone || g.full() {
		c.finish()
	}
}

func (g *segment) append(argv [][]byte) {
	g.rows = append(g.rows, argv)
	for _, word := range argv {
		g.bytes += len(word)
	}
}

func (g *segment) clear() {
	clear(g.rows)
	clear(g.values)
	g.rows, g.values, g.bytes = g.rows[:0], g.values[:0], 0
}

func (g *segment) full() bool {
	if g.writes {
		return len(g.rows) >= mostWrites || g.bytes >= mostBytes
	}
	return len(g.rows) >= mostReads
}

// loggable tells whether the reads of the segment answer the same in the log.
func (c *conn) loggable() bool {
	for _, argv := range c.segment.rows {
		if row := c.s.table.Find(argv); row.Flags&command.ReadOnly == 0 {
			return false
		}
	}
	return true
}

// may tells whether the command can be tried, and answers it if not. The state that runs
// it judges again. Reads are judged there only.
func (c *conn) may(row *command.Command, argv [][]byte, writes bool) bool {
	if c.free || (!writes && c.as.Known()) {
		return true
	}
	c.finish() // what comes before may change what is permitted
	if _, refusal := c.check(argv); refusal != nil {
		c.note(row)
		c.unanswered([][][]byte{argv}, *refusal)
		c.emit(*refusal)
		return false
	}
	return true
}

// finish runs the segment and answers its commands.
func (c *conn) finish() {
	g := &c.segment
	if len(g.rows) == 0 {
		return
	}
	mute := c.mute
	c.mute = g.mute
	granted, beyond := c.take(len(g.rows), false)
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

// take counts n commands against the daily limit and tells how many may run, and what the
// others hear.
func (c *conn) take(n int, whole bool) (int, reply.Value) {
	if c.quota.Limit == 0 || !c.as.Known() {
		return n, reply.Value{}
	}
	granted, err := c.s.meter.Take(c.s.life, c.as.DB, c.quota, int64(n), whole)
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
	g := &c.segment
	began := time.Now()
	var err error
	if writes {
		g.values, err = c.write(rows)
	} else {
		g.values, err = c.view(rows, g.values)
	}
	if err != nil {
		c.fail(rows, err, writes)
		return
	}
	c.conclude(rows, g.values, time.Since(began))
}

// conclude answers rows that were run.
func (c *conn) conclude(rows [][][]byte, values []reply.Value, took time.Duration) {
	for i := range values {
		c.emit(values[i])
	}
	c.report(rows, values, took)
	c.showRows(rows, values)
}

// fail answers rows of which the engine says only why it has no answer.
func (c *conn) fail(rows [][][]byte, err error, writes bool) {
	failed := failureOf(err, writes)
	c.unanswered(rows, failed)
	for range rows {
		c.emit(failed)
	}
}

// view runs rows that only read on one view, which is as new as everything that was
// acknowledged before.
func (c *conn) view(rows [][][]byte, values []reply.Value) ([]reply.Value, error) {
	_, err := c.s.engine.Read(c.s.life, fsm.Reading{}, func(v *fsm.View) { values = c.see(v, rows, values[:0]) })
	return values, err
}

// see puts what rows read of a view behind values.
func (c *conn) see(v *fsm.View, rows [][][]byte, values []reply.Value) []reply.Value {
	if !v.Authorized(c.as) {
		c.login(v, &c.key)
	}
	for _, argv := range rows {
		values = append(values, v.Exec(c.as, command.RESP, argv))
	}
	return values
}

// write puts rows into the log.
func (c *conn) write(rows [][][]byte) ([]reply.Value, error) {
	batch := fsm.Batch{Door: command.RESP, Mode: fsm.Pipeline, Rows: rows}
	if len(rows) == 1 {
		batch.Mode = fsm.Single
	}
	results, err := c.propose(batch)
	return results.Values, err
}

// propose puts a batch into the log as the connection's user. If its credential was
// revoked, it may have been given again since this node looked.
func (c *conn) propose(batch fsm.Batch) (fsm.Results, error) {
	batch.As = c.as
	results, err := fsm.Do(c.s.life, c.s.engine, fsm.Exec, batch)
	if errors.Is(err, fsm.ErrRevoked) {
		if c.again(); !c.as.Known() {
			return results, err
		}
		batch.As = c.as
		results, err = fsm.Do(c.s.life, c.s.engine, fsm.Exec, batch)
	}
	if t := c.tracked; t != nil && t.options.noLoop && err == nil {
		c.s.tracker.wrote(t, origin{results.Index, results.Place})
	}
	return results, err
}

// showRows tells those who monitor of the rows that were executed.
func (c *conn) showRows(rows [][][]byte, values []reply.Value) {
	if c.s.hub == nil || !c.s.hub.Monitored() {
		return
	}
	for i, argv := range rows {
		if v := values[i]; !v.IsError() || !strings.HasPrefix(v.Text(), "NOPERM ") {
			c.s.hub.Executed(c.database(), c.info.addr, argv)
		}
	}
}

// database names the keyspace of the connection.
func (c *conn) database() string {
	if c.as.DB == "" {
		return fsm.DefaultDB
	}
	return c.as.DB
}
