package resp

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// A batch runs the pipelines of several attached connections together: as one request to the log, or
// on one view. All belong to one user. Each command is atomic by itself.
type batch struct {
	loop   *eventLoop
	as     acl.Identity
	writes bool
	conns  []*conn // the commands are in their pipelines
	rows   [][][]byte
	bytes  int
}

// assign adds a connection's pipeline to an open batch or to a new one, and starts a batch
// that is full.
func (w *eventLoop) assign(open []*batch, c *conn) []*batch {
	g := &c.pipeline
	for i, t := range open {
		if t.as != c.as || t.writes != g.writes {
			continue
		}
		if t.fits(g) {
			t.add(c)
			return open
		}
		go t.run() // ends when the engine has answered
		open[i] = &batch{loop: w, as: c.as, writes: g.writes}
		open[i].add(c)
		return open
	}
	t := &batch{loop: w, as: c.as, writes: g.writes}
	t.add(c)
	return append(open, t)
}

func (t *batch) fits(g *pipeline) bool {
	most := maxBatchReads
	if t.writes {
		most = maxBatchWrites
	}
	return len(t.rows)+len(g.rows) <= most && t.bytes+g.bytes <= maxBatchBytes
}

func (t *batch) add(c *conn) {
	t.conns = append(t.conns, c)
	t.rows = append(t.rows, c.pipeline.rows...)
	t.bytes += c.pipeline.bytes
}

// run executes the batch, answers its connections, and serves those that have more input.
func (t *batch) run() {
	began := time.Now()
	values, err := t.execute()
	if errors.Is(err, fsm.ErrRevoked) { // each authenticates again and runs its own pipeline
		for _, c := range t.conns {
			t.loop.loop.Detach(c)
		}
		return
	}
	took := time.Since(began)
	t.loop.s.metrics.commands.Add(float64(len(t.rows)))
	t.loop.s.metrics.batches.Inc()
	ready := t.conns[:0]
	for _, c := range t.conns {
		n := len(c.pipeline.rows)
		switch {
		case err != nil:
			c.failRows(c.pipeline.rows, err, t.writes)
		case reply.Size(values[:n], maxBatchReply) >= maxBatchReply: // encoding them may wait for the client
			t.loop.detachAnswering(c, values[:n], took)
			values = values[n:]
			continue
		default:
			c.answerRows(c.pipeline.rows, values[:n], took)
			values = values[n:]
		}
		c.pipeline.clear()
		c.parser.Release()
		c.ending = c.send() != nil
		ready = append(ready, c)
	}
	t.loop.serve(t.loop.loop.Rearm(ready))
}

// detachAnswering gives a busy connection a goroutine of its own, which first answers the pipeline
// with values.
func (w *eventLoop) detachAnswering(c *conn, values []reply.Value, took time.Duration) {
	w.loop.Release(c)
	c.quietRounds = 0
	values = slices.Clone(values)
	go func() { // ends with the connection, or when it attaches again
		c.answerRows(c.pipeline.rows, values, took)
		c.pipeline.clear()
		c.serveToEnd()
	}()
}

// execute runs all rows and returns their values.
func (t *batch) execute() (values []reply.Value, err error) {
	s := t.loop.s
	if !t.writes {
		_, err = s.engine.Read(s.life, fsm.Reading{Database: t.as.DB}, func(v *fsm.View) {
			values = values[:0] // a read may be run again
			for _, c := range t.conns {
				values = c.execOnView(v, c.pipeline.rows, values, math.MaxInt)
			}
		})
		return values, err
	}
	batch := fsm.Batch{As: t.as, Origin: command.RESP, Mode: fsm.Pipeline, Rows: t.rows}
	if len(t.rows) == 1 {
		batch.Mode = fsm.Single
	}
	results, err := fsm.Execute(s.life, s.engine, batch)
	if err == nil && len(results.Values) != len(t.rows) { // they can't be assigned to connections
		err = errMiscounted
	}
	return results.Values, err
}

var errMiscounted = errors.New("resp: the number of replies differs from the number of commands")

// gatherResult classifies the input that a read found on a connection.
type gatherResult uint8

const (
	gatheredNothing  gatherResult = iota
	gatheredCommands              // simple commands, now in its pipeline
	gatheredOther                 // something that needs a goroutine
)

// gather reads once, unless input is left, and puts the complete simple commands of one
// kind (reads or writes) into the pipeline. What follows them is left for later.
func (c *conn) gather() gatherResult {
	if len(c.in.rest()) == 0 {
		n, full, err := c.in.readOnce(c.in.tryRead, 0)
		switch {
		case err != nil || full:
			return gatheredOther
		case n == 0:
			return gatheredNothing
		}
	}
	if !c.simple() {
		return gatheredOther
	}
	c.mute = false
	for c.gatherOne() {
	}
	switch {
	case len(c.pipeline.rows) > 0:
		return gatheredCommands
	case len(c.in.rest()) > 0:
		return gatheredOther
	}
	return gatheredNothing
}

// gatherOne moves one command from the input to the pipeline. It returns false, and leaves the input
// unchanged, if the next command is incomplete or can't run together with those before it.
func (c *conn) gatherOne() bool {
	argv, size, err := c.parser.Next(c.in.rest(), &c.limits)
	if err != nil { // incomplete, or a protocol error
		return false
	}
	if len(argv) > 0 {
		row := c.s.table.Find(argv)
		if row == nil || !row.Takes(len(argv)) || !c.s.simple(row) {
			return false
		}
		g, writes := &c.pipeline, !row.OnlyReads(argv)
		if len(g.rows) > 0 && g.writes != writes {
			return false
		}
		g.writes, g.mute = writes, false
		c.noteCommand(row)
		g.append(argv)
	}
	c.own.in.Add(int64(size))
	c.in.at += size
	return true
}
