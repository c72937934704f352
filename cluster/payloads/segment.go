package payloads

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// place locates the beginning of a payload: the number of its segment, and the position in it.
type place uint64

const positionBits = 40

func at(segment uint32, position int64) place {
	return place(uint64(segment)<<positionBits | uint64(position))
}

func (p place) segment() uint32 { return uint32(p >> positionBits) }

func (p place) position() int64 { return int64(p & (1<<positionBits - 1)) }

// maxSegments is the number at which segment numbers start again: they have 24 bits.
const maxSegments = 1 << (64 - positionBits)

// errNoSegment says that a place is in a segment that is gone.
var errNoSegment = errors.New("the segment is gone")

// segment is one file. Only the holder of Store.moving changes it.
type segment struct {
	no     uint32
	file   *os.File
	size   int64
	bodies []weak.Pointer[Body]
	// notBefore is the time before which it is not copied again after a failure.
	notBefore time.Time
}

// live returns the payloads of the segment that are still there, and their total length in bytes.
func (g *segment) live() (list []*Body, bytes int64) {
	for _, w := range g.bodies {
		if p := w.Value(); p != nil && p.memory.Load() == nil && place(p.at.Load()).segment() == g.no {
			list, bytes = append(list, p), bytes+int64(p.n)
		}
	}
	return list, bytes
}

// segments are the files of a store.
type segments struct {
	mu   sync.RWMutex
	all  map[uint32]*segment
	last uint32
	// current is the one that is written to, nil if there is none.
	current *segment
	// files and bytes count the files and bytes of all segments.
	files, bytes atomic.Int64
}

// read reads n bytes from a place.
func (t *segments) read(from place, n int) ([]byte, error) {
	t.mu.RLock()
	g := t.all[from.segment()]
	t.mu.RUnlock()
	if g == nil {
		return nil, errNoSegment
	}
	b := make([]byte, n)
	if _, err := g.file.ReadAt(b, from.position()); err != nil {
		return nil, err
	}
	return b, nil
}

// writable returns the segment to write to; a new one begins after size bytes.
func (t *segments) writable(dir string, size int64) (*segment, error) {
	if t.current != nil && t.current.size < size {
		return t.current, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		t.last = (t.last + 1) % maxSegments
		if t.all[t.last] == nil {
			break
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%06x.seg", t.last)), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	t.current = &segment{no: t.last, file: f}
	t.all[t.last] = t.current
	t.files.Add(1)
	return t.current, nil
}

// drop removes a segment of which nothing is needed any more.
func (t *segments) drop(g *segment) error {
	t.mu.Lock()
	delete(t.all, g.no)
	if t.current == g {
		t.current = nil
	}
	t.mu.Unlock()
	t.files.Add(-1)
	t.bytes.Add(-g.size)
	err := os.Remove(g.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, g.file.Close()) // who reads meanwhile looks for the new place
}

// after returns all segments in the order of their numbers: those after no first, then the others.
func (t *segments) after(no uint32) []*segment {
	t.mu.RLock()
	all := slices.Collect(maps.Values(t.all))
	t.mu.RUnlock()
	slices.SortFunc(all, func(a, b *segment) int { return cmp.Compare(a.no-no-1, b.no-no-1) })
	return all
}
