package workflow

import (
	"errors"
	"fmt"
	"runtime"
)

// A workflow's function and the functions of Go are branches. Each has a goroutine, but one of them runs at a time, and they take turns where
// they come to a step: so the same steps come in the same order each time. Once none can continue, the steps that they have come to are one
// block of parallel steps.

// branch is one of the functions of a delivery.
type branch struct {
	d        *delivery
	c        *Context
	fn       func(c *Context)
	wake     chan struct{}
	started  bool
	done     bool
	returned bool

	pending  *pending // the step that it has come to
	performs bool     // it is to do that step
	recorded step     // otherwise its result
	waiters  []*branch
}

// start adds a branch to those that can continue.
func (d *delivery) start(fn func(c *Context)) *branch {
	b := &branch{d: d, fn: fn, wake: make(chan struct{})}
	c := *d.context
	c.b = b
	b.c = &c
	d.live = append(d.live, b)
	d.ready = append(d.ready, b)
	return b
}

// alone reports whether the running branch is the only one.
func (d *delivery) alone() bool { return len(d.live) == 1 }

// schedule runs a function and its branches until the function has returned or the attempt is over, and ends what is left of them.
func (d *delivery) schedule(fn func(c *Context)) {
	for first := d.start(fn); !d.over && !first.done; {
		if len(d.ready) == 0 {
			block := d.blocked
			d.blocked = nil
			if len(block) == 0 {
				d.stop(errors.New("workflow: branches await each other"))
				break
			}
			d.settle(block)
			continue
		}
		b := d.ready[0]
		d.ready = d.ready[1:]
		d.resume(b)
	}
	d.over = true
	for _, b := range d.live {
		if b.started && !b.done {
			d.resume(b)
		}
	}
}

// resume lets a branch run until it parks or ends.
func (d *delivery) resume(b *branch) {
	d.current = b
	if b.started {
		b.wake <- struct{}{}
	} else {
		b.started = true
		go b.run()
	}
	<-d.idle
}

// park lets others run until the branch is resumed. It ends the goroutine if the attempt is over by then.
func (b *branch) park() {
	b.d.idle <- struct{}{}
	<-b.wake
	if b.d.over {
		runtime.Goexit()
	}
}

// run runs the branch's function. A panic becomes an error of the attempt.
func (b *branch) run() {
	d := b.d
	defer func() { d.idle <- struct{}{} }()
	defer b.end()
	b.fn(b.c)
	b.returned = true
}

// end notes the end of the branch's function, however it has ended.
func (b *branch) end() {
	d := b.d
	b.done = true
	if b.returned {
		d.ready = append(d.ready, b.waiters...)
		if !d.over {
			for i, one := range d.live {
				if one == b {
					d.live = append(d.live[:i:i], d.live[i+1:]...)
				}
			}
		}
		return
	}
	if v := recover(); v != nil {
		d.stop(newPanic(v))
	} else if !d.over {
		d.stop(errors.New("workflow: the function has ended its goroutine by runtime.Goexit"))
	}
}

// stop ends the attempt, with an error or without. The first error counts, and panics of deferred functions are added.
func (d *delivery) stop(err error) {
	if d.over && d.err != nil && err != nil {
		err = fmt.Errorf("%w; then: %w", d.err, err)
	}
	if !d.over || err != nil {
		d.err = err
	}
	d.over = true
}

// settle numbers the steps of a block and says how each continues: with its recorded result, by doing it, or not in this delivery.
func (d *delivery) settle(block []*branch) {
	first := d.at + 1
	d.at += len(block)
	planned, done := 0, 0
	for i, b := range block {
		p := b.pending
		p.ID, p.Concurrent = first+i, len(block)
		if s, is := d.plans[p.ID]; is {
			planned++
			if d.differs(&p.step, &s) {
				return
			}
		}
		if s, is := d.results[p.ID]; is {
			done++
			b.recorded = s
			if d.differs(&p.step, &s) {
				return
			}
		}
	}
	switch {
	case done == len(block):
		d.ready = append(d.ready, block...)
	case len(block) == 1:
		block[0].performs = true
		d.ready = append(d.ready, block[0])
	case planned == 0:
		d.stop(d.plan(block))
	case d.last >= first && d.last <= d.at:
		b := block[d.last-first]
		b.performs = true
		d.ready = append(d.ready, b)
	default:
		d.stop(nil) // the delivery of the last result continues
	}
}

// differs stops the attempt if the function has come to another step than the one that is recorded.
func (d *delivery) differs(now, recorded *step) bool {
	if now.Name == recorded.Name && now.Type == recorded.Type && now.Concurrent == recorded.Concurrent {
		return false
	}
	id := recorded.ID
	if recorded.Target > 0 {
		id = recorded.Target
	}
	d.stop(incompatible(id, "the run has recorded %s, and the workflow's function now comes to %s", recorded.describe(), now.describe()))
	return true
}

func (s *step) describe() string {
	if s.Concurrent == 1 {
		return fmt.Sprintf("%q of type %s", s.Name, s.Type)
	}
	return fmt.Sprintf("%q of type %s in a block of %d", s.Name, s.Type, s.Concurrent)
}

// plan submits the plans of a block.
func (d *delivery) plan(block []*branch) error {
	if d.inline != nil {
		if err := d.recordNow(nil); err != nil {
			return err
		}
	}
	items := make([]item, len(block))
	for i, b := range block {
		s := b.pending.step
		s.ID, s.Target = 0, s.ID
		body, err := marshal(s)
		if err != nil {
			return err
		}
		h := d.headers()
		for name, value := range b.pending.headers {
			h[name] = value
		}
		items[i] = item{d.url, h, string(body)}
	}
	return d.batch(d.ctx, items...)
}
