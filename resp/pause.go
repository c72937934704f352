package resp

import (
	"sync"
	"sync/atomic"
	"time"
)

// pause makes the commands of a node's connections wait (CLIENT PAUSE). Commands about the
// connection don't wait, so that CLIENT UNPAUSE works.
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

func (p *pause) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on.Store(false)
	p.change()
}

// change wakes the waiting commands; the lock is held.
func (p *pause) change() {
	if p.ended != nil {
		close(p.ended)
	}
	p.ended = make(chan struct{})
}

// wait returns when the command may run, or the server stops.
func (p *pause) wait(stopping <-chan struct{}, writes bool) {
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
