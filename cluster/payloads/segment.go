package payloads

import (
	"cmp"
	"errors"
	"fmt"
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
func (s *segment) live() (list []*Body, bytes int64) {
	for _, w := range s.bodies {
		if p := w.Value(); p != nil && p.memory.Load() == nil && place(p.at.Load()).segment() == s.no {
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
func (s *segments) read(from place, n int) ([]byte, error) {
	s.mu.RLock()
	g := s.all[from.segment()]
	s.mu.RUnlock()
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
func (s *segments) writable(dir string, size int64) (*segment, error) {
	if s.current != nil && s.current.size < size {
		return s.current, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		s.last = (s.last + 1) % maxSegments
		if s.all[s.last] == nil {
			break
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%06x.seg", s.last)), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	s.current = &segment{no: s.last, file: f}
	s.all[s.last] = s.current
	s.files.Add(1)
	return s.current, nil
}

// drop removes a segment of which nothing is needed any more.
func (s *segments) drop(g *segment) error {
	s.mu.Lock()
	delete(s.all, g.no)
	if s.current == g {
		s.current = nil
	}
	s.mu.Unlock()
	s.files.Add(-1)
	s.bytes.Add(-g.size)
	err := os.Remove(g.file.Name())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, g.file.Close()) // who reads meanwhile looks for the new place
}

// after returns all segments in the order of their numbers: those after no first, then the others.
func (s *segments) after(no uint32) []*segment {
	s.mu.RLock()
	all := slices.Collect(maps.Values(s.all))
	s.mu.RUnlock()
	slices.SortFunc(all, func(a, b *segment) int { return cmp.Compare(a.no-no-1, b.no-no-1) })
	return all
}
