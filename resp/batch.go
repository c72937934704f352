package resp

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// A pipelineBatch runs the pipelines of several attached connections together: as one request to the log, or
// on one view. All belong to one user. Each command is atomic by itself.
type pipelineBatch struct {
	loop   *eventLoop
	as     acl.Identity
	writes bool
	conns  []*conn // the commands are in their pipelines
	rows   [][][]byte
	bytes  int
}

// assign adds a connection's pipeline to an open batch or to a new one, and starts a batch
// that is full.
func (l *eventLoop) assign(open []*pipelineBatch, c *conn) []*pipelineBatch {
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
		open[i] = &pipelineBatch{loop: l, as: c.as, writes: g.writes}
		open[i].add(c)
		return open
	}
	t := &pipelineBatch{loop: l, as: c.as, writes: g.writes}
	t.add(c)
	return append(open, t)
}

func (b *pipelineBatch) fits(g *pipeline) bool {
	limit := maxBatchReads
	if b.writes {
		limit = maxBatchWrites
	}
	return len(b.rows)+len(g.rows) <= limit && b.bytes+g.bytes <= maxBatchBytes
}

func (b *pipelineBatch) add(c *conn) {
	b.conns = append(b.conns, c)
	b.rows = append(b.rows, c.pipeline.rows...)
	b.bytes += c.pipeline.bytes
}

// run executes the batch, answers its connections, and serves those that have more input.
func (b *pipelineBatch) run() {
	began := time.Now()
	values, err := b.execute()
	if errors.Is(err, fsm.ErrRevoked) { // each authenticates again and runs its own pipeline
		for _, c := range b.conns {
			b.loop.loop.Detach(c)
		}
		return
	}
	took := time.Since(began)
	b.loop.s.metrics.commands.Add(float64(len(b.rows)))
	b.loop.s.metrics.batches.Inc()
	ready := b.conns[:0]
	for _, c := range b.conns {
		n := len(c.pipeline.rows)
		switch {
		case err != nil:
			c.failRows(c.pipeline.rows, err, b.writes)
		case reply.Size(values[:n], maxBatchReply) >= maxBatchReply: // encoding them may wait for the client
			b.loop.detachAnswering(c, values[:n], took)
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
	b.loop.serve(b.loop.loop.Rearm(ready))
}

// detachAnswering gives a busy connection a goroutine of its own, which first answers the pipeline
// with values.
func (l *eventLoop) detachAnswering(c *conn, values []reply.Value, took time.Duration) {
	l.loop.Release(c)
	c.quietRounds = 0
	values = slices.Clone(values)
	go func() { // ends with the connection, or when it attaches again
		c.answerRows(c.pipeline.rows, values, took)
		c.pipeline.clear()
		c.serveToEnd()
	}()
}

// execute runs all rows and returns their values.
func (b *pipelineBatch) execute() (values []reply.Value, err error) {
	s := b.loop.s
	if !b.writes {
		_, err = s.engine.Read(s.life, fsm.Reading{Database: b.as.DB}, func(v *fsm.View) {
			values = values[:0] // a read may be run again
			for _, c := range b.conns {
				values = c.execOnView(v, c.pipeline.rows, values, math.MaxInt)
			}
		})
		return values, err
	}
	batch := batchOf(b.rows)
	batch.As = b.as
	results, err := fsm.Execute(s.life, s.engine, batch)
	if err == nil && len(results.Values) != len(b.rows) { // they can't be assigned to connections
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
	c.population.in.Add(int64(size))
	c.in.at += size
	return true
}
