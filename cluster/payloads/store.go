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

	"github.com/klauspost/compress/zstd"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// Dir is the name of the directory of segments in a data directory.
const Dir = "payloads"

const (
	// mostBytes is the length in bytes up to which the store takes a payload.
	mostBytes = 1 << 30
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
	// DataDir is the data directory of the node, which has the directory Dir.
	DataDir string
	// Inline is the length in bytes below which payloads stay in memory, at least payload.Apart.
	Inline int
	// Fetch asks other nodes for the payloads of some digests; it returns those that it got, in any order. Nil asks nobody.
	Fetch func(context.Context, []payload.Digest) [][]byte
	// Snapshots returns the names of the snapshots on the disk; see Pin. Nil is for a store whose payloads no snapshot names.
	Snapshots func() ([]string, error)
	// Fatal ends the node: a payload is lost. It may return.
	Fatal func(error)
	Log   *slog.Logger

	// young, size, age and lost replace youngBytes, segmentSize, youngAge and fetchTime in tests, sync and syncDir the
	// functions that make files and names durable.
	young, size int64
	age, lost   time.Duration
	sync        func(*os.File) error
	syncDir     func(string) error
}

// Store keeps payloads. It is a payload.Files.
type Store struct {
	opts  Options
	dir   string
	index *index
	pins  pins

	mu         sync.Mutex
	young      []*young // those in memory, oldest first
	youngBytes int64
	missing    []weak.Pointer[Body] // those that have no place and were not in memory
	kick       chan struct{}        // has a value when there is too much in memory
	counted    counts

	moving   sync.Mutex // held while payloads are written; see move
	segments segments
	packer   packer
	looked   uint32 // the segment that compact looked at last
	blocks   blocks
	holds    holds
	walked   atomic.Uint64 // the last round in which cold strings were counted
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

// Open opens the store of a data directory, or makes it.
func Open(o Options) (*Store, error) {
	o.young, o.size = cmp.Or(o.young, youngBytes), cmp.Or(o.size, segmentSize)
	o.age, o.lost = cmp.Or(o.age, youngAge), cmp.Or(o.lost, fetchTime)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.sync == nil {
		o.sync = (*os.File).Sync
	}
	if o.syncDir == nil {
		o.syncDir = syncDir
	}
	o.Inline = max(o.Inline, payload.Apart)
	s := &Store{opts: o, dir: filepath.Join(o.DataDir, Dir), index: newIndex(), kick: make(chan struct{}, 1)}
	s.segments.all = map[uint32]*segment{}
	var err error
	if s.packer.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of payloads: %w", err)
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	return s, s.pins.begin(o.Snapshots)
}

// Keep takes b, if it is long enough to be worth a place on the disk.
func (s *Store) Keep(b []byte) payload.Kept {
	if len(b) < s.opts.Inline || len(b) > mostBytes {
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
			s.fetchMissing(ctx)
			_ = s.move(false)
			s.compact()
		}
	}
}

// Close completes the segment that is written to. The files stay open, and readable, as long as anything refers to the store:
// reads may be under way.
func (s *Store) Close() error {
	s.moving.Lock()
	defer s.moving.Unlock()
	return s.completeCurrent()
}

// next returns payloads that have to go to the disk: some of those that are too old, or, with all, of all of them, or that are
// more than the memory for young ones holds.
func (s *Store) next(all bool) (list []*Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, bytes := time.Now(), int64(0)
	for len(s.young) > 0 && bytes < writeSize {
		y := s.young[0]
		if p := y.of.Value(); p != nil && p.memory.Load() != nil { // otherwise it was written meanwhile
			if !all && s.youngBytes <= s.opts.young && now.Sub(y.since) < s.opts.age {
				break
			}
			if p.copied.Load() {
				s.holds.drop(p)
				p.memory.Store(nil)
			} else {
				list = append(list, p)
				bytes += y.n
			}
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
	// at is its place on the disk; it means nothing while memory is set, unless that is a copy. A payload that is missing is
	// nowhere.
	at     atomic.Uint64
	n      int32
	copied atomic.Bool // memory, if it is set, has a copy of what is at the place
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
		b, err := bo.s.segments.read(place(at), int(bo.n), &bo.digest)
		if err == nil {
			bo.s.counted.read.Add(1)
			return b
		}
		if bo.memory.Load() == nil && bo.at.Load() == at { // otherwise it was moved meanwhile
			bo.s.recover(bo, place(at), err)
		}
	}
}

// Digest returns the digest of the payload's bytes. It is computed once, before they leave memory.
func (bo *Body) Digest() payload.Digest {
	for !bo.known.Load() {
		if b := bo.memory.Load(); b != nil {
			bo.settle(*b)
		}
	}
	return bo.digest
}

// settling is held while a digest is set.
var settling sync.Mutex

// settle sets the digest to that of b, the payload's bytes.
func (bo *Body) settle(b []byte) {
	if bo.known.Load() {
		return
	}
	d := payload.DigestOf(b)
	settling.Lock()
	defer settling.Unlock()
	if !bo.known.Load() {
		bo.digest = d
		bo.known.Store(true)
	}
}

// stay puts bytes of a payload in memory, where the store finds them.
func (bo *Body) stay(b []byte) {
	bo.copied.Store(false)
	bo.memory.Store(&b)
	bo.s.add(bo)
}
