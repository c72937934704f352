package wal

import (
	"sync"
	"time"
)

// ahead makes the next segment before it is needed, since making one takes many writes.
type ahead struct {
	mu     sync.Mutex // held while a segment is made
	ready  []*segment // empty, in order
	made   uint32     // number of the newest segment
	failed time.Time  // when making one failed last

	wake, quit chan struct{}
	wg         sync.WaitGroup
}

// failedPause is the pause between two tries to make a segment ahead of time on a disk without room.
const failedPause = time.Second

func (w *WAL) startAhead() {
	a := &w.ahead
	a.wake, a.quit = make(chan struct{}, 1), make(chan struct{})
	a.wg.Go(func() {
		for {
			select {
			case <-a.quit:
				return
			case <-a.wake:
			}
			if err := w.makeAhead(); err != nil { // an append that needs it meets the error
				w.opts.Logger.Warn("the next segment of the log could not be made yet", "error", err)
			}
		}
	})
}

func (w *WAL) stopAhead() {
	close(w.ahead.quit)
	w.ahead.wg.Wait()
}

func (w *WAL) wakeAhead() {
	select {
	case w.ahead.wake <- struct{}{}:
	default:
	}
}

func (w *WAL) makeAhead() error {
	a := &w.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.ready) > 0 || time.Since(a.failed) < failedPause {
		return nil
	}
	s, err := w.makeSegment(a.made+1, w.opts.SegmentSize)
	if err != nil {
		a.failed = time.Now()
		return err
	}
	a.made++
	a.ready = append(a.ready, s)
	return nil
}

// nextSegment returns the segments up to one that has room for n bytes after its header. Those before it stay empty.
func (w *WAL) nextSegment(n int64) (all []*segment, err error) {
	a := &w.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.ready) > 0 {
		s := a.ready[0]
		all, a.ready = append(all, s), a.ready[1:]
		if s.end+n <= s.size {
			return all, nil
		}
	}
	s, err := w.makeSegment(a.made+1, max(w.opts.SegmentSize, headerRoom+n))
	if err != nil {
		a.ready = all // for the next try
		return nil, err
	}
	a.made++
	return append(all, s), nil
}
