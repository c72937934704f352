package resp

import (
	"errors"
	"time"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/reply"
)

// turn is the commands of several members of the crowd that run together: as one request
// to the log, or on one view. They are of one user, and each is atomic by itself.
type turn struct {
	w      *crowd
	as     acl.Identity
	writes bool
	conns  []*conn // their segments
	rows   [][][]byte
	bytes  int
}

// put adds a member's segment to an open turn, or to a new one. One that is full runs.
func (w *crowd) put(open []*turn, c *conn) []*turn {
	g := &c.segment
	for i, t := range open {
		if t.as != c.as || t.writes != g.writes {
			continue
		}
		if t.takes(g) {
			t.add(c)
			return open
		}
		go t.run() // ends when the engine has answered
		open[i] = &turn{w: w, as: c.as, writes: g.writes}
		open[i].add(c)
		return open
	}
	t := &turn{w: w, as: c.as, writes: g.writes}
	t.add(c)
	return append(open, t)
}

func (t *turn) takes(g *segment) bool {
	most := mostReads
	if t.writes {
		most = mostWrites
	}
	return len(t.rows)+len(g.rows) <= most && t.bytes+g.bytes <= mostBytes
}

func (t *turn) add(c *conn) {
	t.conns = append(t.conns, c)
	t.rows = append(t.rows, c.segment.rows...)
	t.bytes += c.segment.bytes
}

// run runs the turn, answers its members, and goes on with those that have more.
func (t *turn) run() {
	began := time.Now()
	values, err := t.execute()
	if errors.Is(err, fsm.ErrRevoked) { // each has to say anew who it is, and run its segment
		for _, c := range t.conns {
			t.w.depart(c)
		}
		return
	}
	took := time.Since(began)
	t.w.s.metrics.commands.Add(float64(len(t.rows)))
	t.w.s.metrics.batches.Inc()
	for _, c := range t.conns {
		n := len(c.segment.rows)
		if err == nil {
			c.conclude(c.segment.rows, values[:n], took)
			values = values[n:]
		} else {
			c.fail(c.segment.rows, err, t.writes)
		}
		c.segment.clear()
		c.parser.Release()
		c.ending = c.send() != nil
	}
	t.w.serve(t.w.settle(t.conns))
}

// execute gives the values of all rows.
func (t *turn) execute() (values []reply.Value, err error) {
	s := t.w.s
	if !t.writes {
		_, err = s.engine.Read(s.life, fsm.Reading{}, func(v *fsm.View) {
			values = values[:0] // a read may be run again
			for _, c := range t.conns {
				values = c.see(v, c.segment.rows, values)
			}
		})
		return values, err
	}
	batch := fsm.Batch{As: t.as, Door: command.RESP, Mode: fsm.Pipeline, Rows: t.rows}
	if len(t.rows) == 1 {
		batch.Mode = fsm.Single
	}
	results, err := fsm.Do(s.life, s.engine, fsm.Exec, batch)
	if err == nil && len(results.Values) != len(t.rows) { // whose they are can't be told
		err = errMiscounted
	}
	return results.Values, err
}

var errMiscounted = errors.New("resp: the engine has answered another number of commands")

// gathered is what has come to a member.
type gathered uint8

const (
	nothing  gathered = iota
	ordinary          // commands, which are in its segment now
	odd               // something that asks for a goroutine
)

// gather reads once, unless something is left, and puts the ordinary commands of one kind
// that have come whole into the segment. What is behind them is left for later.
func (c *conn) gather() gathered {
	if len(c.in.rest()) == 0 {
		n, full, err := c.in.receive(c.in.take, 0)
		switch {
		case err != nil || full:
			return odd
		case n == 0:
			return nothing
		}
	}
	if !c.ordinary() {
		return odd
	}
	c.mute = false
	for c.gatherOne() {
	}
	switch {
	case len(c.segment.rows) > 0:
		return ordinary
	case len(c.in.rest()) > 0:
		return odd
	}
	return nothing
}

// gatherOne takes in one command. It is false if there is none that can run with those
// before it: whoever looks at it next finds it as it was.
func (c *conn) gatherOne() bool {
	argv, size, err := c.parser.Next(c.in.rest(), &c.limits)
	if err != nil { // it is incomplete, or a breach
		return false
	}
	if len(argv) > 0 {
		row := c.s.table.Find(argv)
		if row == nil || !row.Takes(len(argv)) || !c.s.ordinary(row) {
			return false
		}
		g, writes := &c.segment, !row.OnlyReads(argv)
		if len(g.rows) > 0 && g.writes != writes {
			return false
		}
		g.writes, g.mute = writes, false
		c.note(row)
		g.append(argv)
	}
	c.s.traffic.in.Add(int64(size))
	c.in.at += size
	return true
}
