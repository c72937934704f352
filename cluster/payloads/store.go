package payloads

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// Dir is the name of the directory of segments in a data directory.
const Dir = "payloads"

const (
	// youngAge is the time for which a payload stays in memory.
	youngAge = time.Minute
	// youngBytes is the memory for young payloads. Beyond it the oldest go to the disk at once; at twice as much, callers that
	// bring more wait for that.
	youngBytes = 256 << 20
	// segmentSize is about the size in bytes at which a segment ends.
	segmentSize = 64 << 20
	// tick is the interval at which Run looks for payloads that have become old.
	tick = time.Second
)

// Options describe a Store.
type Options struct {
	// DataDir is the data directory of the node. Its directory Dir is emptied.
	DataDir string
	// Inline is the length in bytes below which payloads stay in memory, at least payload.Apart.
	Inline int
	// Fetch asks other nodes for the payloads of some digests; it returns those that it got, in any order. Nil asks nobody.
	Fetch func(context.Context, []payload.Digest) [][]byte
	// Fatal ends the node: a payload is lost. It may return.
	Fatal func(error)
	Log   *slog.Logger

	// young, size, age and lost replace youngBytes, segmentSize, youngAge and fetchTime in tests.
	young, size int64
	age, lost   time.Duration
}

// Store keeps payloads. It is a payload.Keeper.
type Store struct {
	opts Options
	dir  string

	mu         sync.Mutex
	young      []*young // those in memory, oldest first
	youngBytes int64
	kick       chan struct{} // has a value when there is too much in memory
	counted    counts

	moving   sync.Mutex // held while payloads are written; see move
	segments segments
	looked   uint32 // the segment that compact looked at last
}

// young is a payload in memory.
type young struct {
	of    weak.Pointer[Body]
	since time.Time
	n     int64
}

// counts are the figures that metrics show.
type counts struct {
	written, read, damaged, fetched, failures atomic.Int64
}

// Open empties the directory and makes a store.
func Open(o Options) (*Store, error) {
	o.young, o.size = cmp.Or(o.young, youngBytes), cmp.Or(o.size, segmentSize)
	o.age, o.lost = cmp.Or(o.age, youngAge), cmp.Or(o.lost, fetchTime)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Inline = max(o.Inline, payload.Apart)
	s := &Store{opts: o, dir: filepath.Join(o.DataDir, Dir), kick: make(chan struct{}, 1)}
	s.segments.all = map[uint32]*segment{}
	if err := os.RemoveAll(s.dir); err != nil {
		return nil, fmt.Errorf("empty the directory of payloads: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of payloads: %w", err)
	}
	return s, nil
}

// Keep takes b, if it is long enough to be worth a place on the disk.
func (s *Store) Keep(b []byte) payload.Kept {
	if len(b) < s.opts.Inline {
		return nil
	}
	p := &Body{s: s, n: int32(len(b))}
	p.memory.Store(&b)
	if s.add(p) > 2*s.opts.young {
		_, _ = s.moveNext(false) // a failure has been logged: the bytes stay in memory
	}
	return p
}

// add makes p the youngest payload in memory, and returns how many bytes there are now.
func (s *Store) add(p *Body) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.young = append(s.young, &young{of: weak.Make(p), since: time.Now(), n: int64(p.n)})
	s.youngBytes += int64(p.n)
	if s.youngBytes > s.opts.young {
		select {
		case s.kick <- struct{}{}:
		default:
		}
	}
	return s.youngBytes
}

// Run moves payloads to the disk and copies segments together until ctx ends.
func (s *Store) Run(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
			_ = s.move(false)
		case <-t.C:
			_ = s.move(false)
			s.compact()
		}
	}
}

// Close removes the files. They stay open, and readable, as long as anything refers to the store: reads may be under way.
func (s *Store) Close() error { return os.RemoveAll(s.dir) }

// next returns payloads that have to go to the disk: some of those that are too old, or, with all, of all of them, or that are
// more than the memory for young ones holds.
func (s *Store) next(all bool) (list []*Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, bytes := time.Now(), int64(0)
	for len(s.young) > 0 && bytes < writeSize {
		y := s.young[0]
		if p := y.of.Value(); p != nil {
			if !all && s.youngBytes <= s.opts.young && now.Sub(y.since) < s.opts.age {
				break
			}
			list = append(list, p)
			bytes += y.n
		}
		s.young[0] = nil
		s.young, s.youngBytes = s.young[1:], s.youngBytes-y.n
	}
	return list
}

// restore puts payloads that could not be written back among those in memory.
func (s *Store) restore(list []*Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	back := make([]*young, 0, len(list)+len(s.young))
	for _, p := range list {
		back = append(back, &young{of: weak.Make(p), since: time.Now(), n: int64(p.n)})
		s.youngBytes += int64(p.n)
	}
	s.young = append(back, s.young...)
}

// Body is a payload of a Store: in memory, or at a place on the disk.
type Body struct {
	s *Store
	// memory is its bytes, nil once they are on the disk.
	memory atomic.Pointer[[]byte]
	// at is its place on the disk; it means nothing while memory is set.
	at     atomic.Uint64
	n      int32
	known  atomic.Bool // digest is set
	digest payload.Digest
}

// Len returns the number of its bytes.
func (bo *Body) Len() int { return int(bo.n) }

// Bytes returns its bytes: see payload.Kept.
func (bo *Body) Bytes() []byte {
	for {
		if b := bo.memory.Load(); b != nil {
			return *b
		}
		at := bo.at.Load()
		b, err := bo.s.segments.read(place(at), int(bo.n))
		if err == nil && payload.DigestOf(b) == bo.digest {
			bo.s.counted.read.Add(1)
			return b
		}
		if bo.memory.Load() == nil && bo.at.Load() == at { // otherwise it was moved meanwhile
			bo.s.recover(bo, place(at), err)
		}
	}
}

// Digest returns the digest of the payload's bytes. It is computed before they leave memory.
func (bo *Body) Digest() payload.Digest {
	for {
		if bo.known.Load() {
			return bo.digest
		}
		if b := bo.memory.Load(); b != nil {
			return payload.DigestOf(*b)
		}
	}
}

// settle sets the digest; the caller is the one that writes it to the disk.
func (bo *Body) settle(b []byte) {
	if !bo.known.Load() {
		bo.digest = payload.DigestOf(b)
		bo.known.Store(true)
	}
}
