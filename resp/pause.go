package resp

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
)

// pauses holds the pause of each database of a node: a database never makes another one wait.
type pauses struct {
	some atomic.Bool // a database was paused since the node started

	mu sync.Mutex
	by map[string]*pause
}

// of returns the pause of a database, which may not be on.
func (p *pauses) of(db string) *pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	dbPause := p.by[db]
	if dbPause == nil {
		if p.by == nil {
			p.by = map[string]*pause{}
		}
		dbPause = &pause{}
		p.by[db] = dbPause
	}
	return dbPause
}

// begin is pause.begin for a database.
func (p *pauses) begin(db string, until time.Time, writes bool) {
	p.of(db).begin(until, writes)
	p.some.Store(true)
}

// on reports whether a database is paused.
func (p *pauses) on(db string) bool { return p.some.Load() && p.of(db).on.Load() }

// awaitPause waits while CLIENT PAUSE holds a call like this back. Commands about the connection
// don't wait, so that CLIENT UNPAUSE works, but for EXEC of what waits.
func (c *conn) awaitPause(row *command.Command, argv [][]byte) {
	if !c.s.pauses.on(c.database()) || c.s.own[row] != nil && row.Name != "exec" {
		return
	}
	c.runPipeline()
	if c.flush() != nil {
		c.ending = true
		return
	}
	calls := []queued{{row, argv}}
	if row.Name == "exec" {
		calls = c.tx.rows
	}
	writes := false
	c.s.engine.Local(func(v *fsm.View) {
		writes = slices.ContainsFunc(calls, func(q queued) bool { return v.MayReplicate(c.as, q.row, q.argv) })
	})
	defer c.suspendIntake()()
	c.info.sizes.words.Store(int64(lengthOf(argv)))
	c.s.pauses.of(c.database()).wait(c.s.stopping, writes, &c.info.paused)
	c.info.sizes.words.Store(0)
}

// holdExpiry stops the removal of expired keys of the database for ms milliseconds, on all nodes; 0 resumes it.
func (c *conn) holdExpiry(ms int64) error {
	number := uint64(0) // a database that is made anew under the name has another
	c.s.engine.Local(func(v *fsm.View) {
		if v.Authorized(c.as) {
			number = v.Database(c.as.DB)
		}
	})
	if number == 0 {
		return fsm.ErrRevoked
	}
	_, err := fsm.Do(c.s.life, fsm.InTenant(c.s.engine, c.as.DB, number), fsm.HoldExpiry, fsm.ExpiryHold{Millis: ms})
	return err
}

// pause makes the commands of a database's connections on a node wait (CLIENT PAUSE).
// Commands about the connection don't wait, so that CLIENT UNPAUSE works.
type pause struct {
	on atomic.Bool

	mu     sync.Mutex
	until  time.Time
	writes bool          // only commands that write wait
	ended  chan struct{} // closes when the pause is ended or changed
}

// begin pauses until a moment. A later end, or a wider pause, replaces what there was;
// never a shorter or narrower one.
func (p *pause) begin(until time.Time, writes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on.Load() && time.Now().Before(p.until) {
		writes = writes && p.writes
		if p.until.After(until) {
			until = p.until
		}
	}
	p.until, p.writes = until, writes
	p.change()
	p.on.Store(true)
}

// end ends the pause and reports whether one was set; it may have run out already.
func (p *pause) end() (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change()
	return p.on.Swap(false)
}

// change wakes the waiting commands; the lock is held.
func (p *pause) change() {
	if p.ended != nil {
		close(p.ended)
	}
	p.ended = make(chan struct{})
}

// wait returns when the command may run, or the server stops. Held is set while it waits.
func (p *pause) wait(stopping <-chan struct{}, writes bool, held *atomic.Bool) {
	defer held.Store(false)
	for {
		p.mu.Lock()
		left := time.Until(p.until)
		if left <= 0 {
			p.on.Store(false)
		}
		free := !p.on.Load() || (p.writes && !writes)
		ended := p.ended
		p.mu.Unlock()
		if free {
			return
		}
		held.Store(true)
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ended:
		case <-stopping:
		}
		timer.Stop()
		select {
		case <-stopping:
			return
		default:
		}
	}
}
