package payloads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/payload"
)

const (
	// fetchBytes and fetchCount bound what one request asks for. Another node sends a payload that is larger alone.
	fetchBytes = 8 << 20
	fetchCount = 1000
	// fetchers is the number of requests that a Gathering makes at the same time.
	fetchers = 4
	// fetchPause is the wait after a request that brought nothing.
	fetchPause = 100 * time.Millisecond
	// gathered is the time for which a Gathering keeps what it has fetched for a snapshot that is not there yet.
	gathered = 10 * time.Minute
)

// Named returns the payloads that are named. Those that this node lacks are fetched by Run, and by who reads them.
func (s *Store) Named(names []payload.Reference) []payload.Kept {
	list := make([]payload.Kept, len(names))
	s.moving.Lock()
	defer s.moving.Unlock()
	for i := range names {
		p := &Body{s: s, n: int32(names[i].Len), digest: names[i].Digest}
		p.known.Store(true)
		list[i] = p
		from := s.index.get(&p.digest)
		if g := s.segments.get(from.segment()); g != nil {
			g.hold(p)
			p.at.Store(uint64(from))
			continue
		}
		s.lose(p)
	}
	return list
}

// fetchMissing fetches payloads that are missing. It does not give up: a payload that is not read does no harm.
func (s *Store) fetchMissing(ctx context.Context) {
	for ctx.Err() == nil && s.opts.Fetch != nil {
		want := map[payload.Digest][]*Body{}
		bytes := 0
		s.mu.Lock()
		kept := s.missing[:0]
		for _, w := range s.missing {
			p := w.Value()
			if p == nil || p.memory.Load() != nil || place(p.at.Load()) != nowhere {
				continue
			}
			kept = append(kept, w)
			if bytes < fetchBytes && len(want) < fetchCount {
				want[p.digest], bytes = append(want[p.digest], p), bytes+p.Len()
			}
		}
		clear(s.missing[len(kept):])
		s.missing = kept
		s.mu.Unlock()
		digests := make([]payload.Digest, 0, len(want))
		for d := range want { // unordered: all are asked for
			digests = append(digests, d)
		}
		if len(digests) == 0 {
			return
		}
		got := 0
		for _, b := range s.opts.Fetch(ctx, digests) {
			for _, p := range want[payload.DigestOf(b)] {
				p.stay(b)
				got++
			}
		}
		s.counted.fetched.Add(int64(got))
		s.opts.Log.Info("payloads that were missing are fetched", "fetched", got, "missing", len(kept)-got)
		if got == 0 {
			return
		}
	}
}

// ErrNotFound says that no other node has a payload.
var ErrNotFound = errors.New("payloads: no other node has what a snapshot names")

// Gathering fetches the payloads that another node's snapshot names and that this node lacks.
type Gathering struct {
	s      *Store
	pin    *Pin
	cancel context.CancelFunc
	done   chan struct{}
	// err is why it failed, and letGo the end of the time for which it keeps what it has fetched, both once done is closed.
	err   error
	letGo *time.Timer

	mu      sync.Mutex
	changed chan struct{} // is closed, and replaced, when something has changed
	queue   []payload.Reference
	known   map[uint64]bool // hashes of what was asked for
	asked   int             // requests under way
	last    bool            // no more names will come
	fetched int
	moved   time.Time // when something came last
}

// Gather begins to gather. Done must be called when the snapshot is in use. It keeps what the former Gathering has fetched, which has
// ended, or is nil: nothing in memory refers to that yet, and it may have taken longer than the leader waits.
func (s *Store) Gather(ctx context.Context, former *Gathering) *Gathering {
	ctx, cancel := context.WithCancel(ctx)
	g := &Gathering{s: s, pin: s.pinAfter(former), cancel: cancel, done: make(chan struct{}), changed: make(chan struct{}), known: map[uint64]bool{}, moved: time.Now()}
	go g.run(ctx)
	return g
}

// pinAfter returns the pin of the former Gathering, as long as it keeps what it has fetched, and otherwise a new one.
func (s *Store) pinAfter(former *Gathering) *Pin {
	if former != nil {
		<-former.done
		if former.cancel(); former.letGo.Stop() {
			return former.pin
		}
	}
	return s.Pin()
}

// Want adds the payloads that are named. It never fails.
func (g *Gathering) Want(names []payload.Reference) error {
	g.s.moving.Lock() // so no segment is removed between the look and the note that it is needed
	defer g.s.moving.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range names {
		d := &names[i].Digest
		key := g.s.index.key(d)
		if g.known[key] || g.s.needed(d) {
			continue
		}
		g.known[key] = true
		g.queue = append(g.queue, names[i])
	}
	g.change()
	return nil
}

// has reports whether a payload has a place.
func (s *Store) has(d *payload.Digest) bool {
	p := s.index.get(d)
	return p != nowhere && s.segments.there(p.segment())
}

// needed reports whether a payload has a place, and has its segment stay for the snapshots that are under way, even if nothing in
// memory refers to it. The caller holds moving.
func (s *Store) needed(d *payload.Digest) bool {
	p := s.index.get(d)
	if p == nowhere {
		return false
	}
	g := s.segments.get(p.segment())
	if g == nil {
		return false
	}
	g.empty = false
	return true
}

// change wakes those that wait for a change.
func (g *Gathering) change() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// End says that no more names will come, because all were read, or for the reason err.
func (g *Gathering) End(err error) {
	if err != nil {
		g.mu.Lock()
		g.err = errors.Join(g.err, err)
		g.mu.Unlock()
		g.cancel()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = true
	g.change()
}

// Ended is closed when all that was named is on the disk, and synced, or when that has failed: see Err.
func (g *Gathering) Ended() <-chan struct{} { return g.done }

// Err returns why the gathering failed, once it has ended.
func (g *Gathering) Err() error {
	<-g.done
	return g.err
}

// Done releases what was gathered: the state refers to it, or nobody will.
func (g *Gathering) Done() {
	g.cancel()
	<-g.done
	g.pin.Settle()
}

// run fetches until nothing is left.
func (g *Gathering) run(ctx context.Context) {
	var all sync.WaitGroup
	for range fetchers {
		all.Go(func() {
			for g.step(ctx) {
			}
		})
	}
	all.Wait()
	g.mu.Lock()
	left := len(g.queue)
	err := g.err
	g.mu.Unlock()
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case left > 0:
		err = fmt.Errorf("%w: %d of %d", ErrNotFound, left, len(g.known))
	default:
		err = g.s.Sync()
	}
	if g.fetched > 0 || err != nil {
		g.s.opts.Log.Info("payloads that a snapshot names were fetched", "fetched", g.fetched, "error", err)
	}
	g.err = err
	g.letGo = time.AfterFunc(gathered, g.pin.Settle)
	close(g.done)
}

// step makes one request, or waits for a reason to make one. It returns false at the end.
func (g *Gathering) step(ctx context.Context) bool {
	g.mu.Lock()
	list, bytes := []payload.Reference(nil), 0
	for len(list) < len(g.queue) && len(list) < fetchCount && (bytes == 0 || bytes+g.queue[len(list)].Len <= fetchBytes) {
		bytes += g.queue[len(list)].Len
		list = g.queue[:len(list)+1]
	}
	g.queue = g.queue[len(list):]
	changed, end := g.changed, g.last && g.asked == 0
	if len(list) > 0 {
		g.asked++
	}
	late := time.Since(g.moved) > g.s.opts.lost
	g.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return false
	case len(list) == 0 && end:
		return false
	case len(list) == 0:
		select {
		case <-changed:
		case <-ctx.Done():
		}
		return true
	}
	left, err := g.fetch(ctx, list)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked--
	g.queue = append(g.queue, left...)
	if len(left) < len(list) {
		g.fetched += len(list) - len(left)
		g.moved, late = time.Now(), false
	}
	if err != nil {
		g.err = errors.Join(g.err, err)
		g.cancel()
	}
	g.change()
	if late && g.last {
		return false
	}
	if len(left) == len(list) {
		g.mu.Unlock()
		select {
		case <-time.After(fetchPause):
		case <-ctx.Done():
		}
		g.mu.Lock()
	}
	return true
}

// fetch asks for payloads, writes those that came to segments, and returns the others.
func (g *Gathering) fetch(ctx context.Context, list []payload.Reference) (left []payload.Reference, err error) {
	want := make(map[payload.Digest]bool, len(list))
	digests := make([]payload.Digest, len(list))
	for i := range list {
		digests[i] = list[i].Digest
		want[list[i].Digest] = true
	}
	if g.s.opts.Fetch == nil {
		return list, nil
	}
	var got [][]byte
	for _, b := range g.s.opts.Fetch(ctx, digests) {
		if d := payload.DigestOf(b); want[d] {
			delete(want, d)
			got = append(got, b)
		}
	}
	if err := g.s.put(got); err != nil {
		return list, err
	}
	g.s.counted.fetched.Add(int64(len(got)))
	for i := range list {
		if want[list[i].Digest] {
			left = append(left, list[i])
		}
	}
	return left, nil
}

// Write writes payloads to segments that nothing refers to yet. It does not sync them.
func (s *Store) Write(list [][]byte) error { return s.put(list) }

// Has reports whether a payload is in a segment.
func (s *Store) Has(d payload.Digest) bool { return s.has(&d) }

// put writes payloads to segments that nothing refers to yet.
func (s *Store) put(list [][]byte) error {
	if len(list) == 0 {
		return nil
	}
	s.moving.Lock()
	defer s.moving.Unlock()
	w := s.batch()
	for _, b := range list {
		w.put(b, payload.DigestOf(b))
	}
	return w.flush()
}
