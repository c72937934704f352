package importer

import (
	"context"
	"sync"
	"sync/atomic"
)

// pool sends batches side by side. Its reader is one goroutine, that of Run.
type pool struct {
	ctx    context.Context
	stop   context.CancelCauseFunc
	o      *Options
	client *client
	report *Report
	work   chan *requestBatch
	all    sync.WaitGroup
	offset atomic.Int64 // of the file, in bytes

	// Of the reader.
	batch   *requestBatch
	batches int64
	seen    int64 // keys of the database in the file
	row     []byte

	mu       sync.Mutex
	finished map[int64]int64 // batches that are done, with their last keys
	next     int64           // the first batch that is not
}

func newPool(ctx context.Context, stop context.CancelCauseFunc, c *client, r *Report) *pool {
	p := &pool{ctx: ctx, stop: stop, o: c.o, client: c, report: r, work: make(chan *requestBatch), batch: &requestBatch{}, finished: map[int64]int64{}}
	for range p.o.Workers {
		p.all.Go(func() {
			for b := range p.work {
				p.perform(b)
			}
		})
	}
	return p
}

// finish sends what is left, if the file was read to its end, and waits for the workers.
func (p *pool) finish(whole bool) {
	if whole {
		p.flush()
	}
	close(p.work)
	p.all.Wait()
}

// perform sends a batch and notes what became of it; an error that concerns all that
// follows stops the pool.
func (p *pool) perform(b *requestBatch) {
	if p.ctx.Err() != nil {
		return
	}
	var err error
	if b.large != nil {
		err = p.sendLarge(b.large)
	} else {
		err = p.sendBatch(b)
	}
	if err != nil {
		p.stop(err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.finished[b.number] = b.last; ; p.next++ {
		last, ok := p.finished[p.next]
		if !ok {
			return
		}
		delete(p.finished, p.next)
		p.mark(last)
	}
}

// mark notes that the keys of the file up to one have been dealt with.
func (p *pool) mark(last int64) {
	p.report.add(func(r *Report) { r.Done = max(r.Done, last) })
}

// sendBatch sends a batch and counts the answers.
func (p *pool) sendBatch(b *requestBatch) error {
	answers, err := p.client.pipeline(p.ctx, b.body, len(b.entries))
	if err != nil {
		return err
	}
	for i, a := range answers {
		e := &b.entries[i]
		if err := fatal(a.Error); err != nil {
			return err
		}
		switch {
		case a.Error == "":
			p.report.took(e)
		case busy(a.Error):
			p.report.add(func(r *Report) { r.Kept++ })
		default:
			p.report.fail(e.name, a.Error)
		}
	}
	return nil
}
