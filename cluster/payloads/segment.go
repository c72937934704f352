package payloads

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// place locates the head of a payload: the number of its segment, and the position in it.
type place uint64

// nowhere is the place of a payload that is in no segment.
const nowhere = ^place(0)

func at(segment, position uint32) place { return place(uint64(segment)<<32 | uint64(position)) }

func (p place) segment() uint32 { return uint32(p >> 32) }

func (p place) position() int64 { return int64(uint32(p)) }

var (
	// errNoSegment says that a place is in a segment that is gone.
	errNoSegment = errors.New("the segment is gone")
	// errDamaged says that a payload on the disk can't be read.
	errDamaged = errors.New("a payload is damaged")
)

// segment is one file. Only the holder of Store.moving changes it.
type segment struct {
	no   uint32
	file *os.File
	salt salt
	// size is the size in bytes up to the end of the last payload, raw that of the payloads before they were compressed; up
	// to synced it survives a power cut.
	size, raw, synced int64
	count             int
	bodies            []weak.Pointer[Body]
	// shelf has what refers to cold strings in the segment; born is the first round of counting that may not have all of them.
	shelf weak.Pointer[payload.Shelf]
	born  uint64
	table table
	// empty: nothing in memory refers to it. Pins whose number is emptied or less may be of snapshots that do.
	empty   bool
	emptied uint64
	// notBefore is the time before which it is not copied again after a failure.
	notBefore time.Time
}

// live returns the payloads of the segment that are still there, and their total length in bytes. It forgets the others.
func (s *segment) live() (list []*Body, bytes int64) {
	there := s.bodies[:0]
	for _, w := range s.bodies {
		if p := w.Value(); p != nil && p.onDisk() && place(p.at.Load()).segment() == s.no {
			list, bytes, there = append(list, p), bytes+int64(p.n), append(there, w)
		}
	}
	clear(s.bodies[len(there):])
	if s.bodies = there; len(there) < cap(there)/2 {
		s.bodies = slices.Clone(there)
	}
	return list, bytes
}

// add counts a payload that was written at the end of the segment.
func (s *segment) add(it item, size int) {
	s.table.add(it)
	s.count++
	s.size += int64(size)
	s.raw += int64(it.length)
}

// hold has the segment know a payload in it.
func (s *segment) hold(p *Body) {
	s.bodies, s.empty = append(s.bodies, weak.Make(p)), false
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
	// created counts the files that were made; those up to named are in the directory after a power cut, too.
	created, named atomic.Int64
}

// get returns a segment, nil if it is gone.
func (s *segments) get(no uint32) *segment {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all[no]
}

// there reports whether a segment is there.
func (s *segments) there(no uint32) bool { return s.get(no) != nil }

// read reads the payload of n bytes at a place. It fails unless its digest is want.
func (s *segments) read(from place, n int, want *payload.Digest) ([]byte, error) {
	g := s.get(from.segment())
	if g == nil || from == nowhere {
		return nil, errNoSegment
	}
	b := make([]byte, headSize+n) // a compressed one is shorter
	got, err := g.file.ReadAt(b, from.position())
	h, ok := parseHead(b[:got], g.salt)
	if !ok || h.length != n || h.digest != *want {
		return nil, cmp.Or(err, errDamaged)
	}
	if b, ok = h.unpack(b[:got]); !ok {
		return nil, cmp.Or(err, errDamaged)
	}
	return b, nil
}

// read reads a cold string.
func (s *segment) read(sp payload.Spot) ([]byte, error) {
	b := make([]byte, headSize+int(sp.Length)) // a compressed one is shorter
	got, err := s.file.ReadAt(b, int64(sp.Position))
	h, ok := parseHead(b[:got], s.salt)
	if !ok || h.length != int(sp.Length) || payload.SpotSum(&h.digest) != sp.Sum {
		return nil, cmp.Or(err, errDamaged)
	}
	if b, ok = h.unpack(b[:got]); !ok {
		return nil, cmp.Or(err, errDamaged)
	}
	return b, nil
}

// at reads the payload at a place, whatever its length. It fails unless its digest is want.
func (s *segments) at(from place, want *payload.Digest) ([]byte, error) {
	g := s.get(from.segment())
	if g == nil || from == nowhere {
		return nil, errNoSegment
	}
	var b [headSize]byte
	if _, err := g.file.ReadAt(b[:], from.position()); err != nil {
		return nil, err
	}
	h, ok := parseHead(b[:], g.salt)
	if !ok || h.digest != *want || h.length > mostBytes {
		return nil, errDamaged
	}
	return s.read(from, h.length, want)
}

// name is the name of the file of a segment.
func name(no uint32) string { return fmt.Sprintf("%08x.pay", no) }

// create makes a segment, to which is written from now on.
func (s *segments) create(dir string) (*segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.last++; s.all[s.last] != nil || s.last == nowhere.segment(); s.last++ { // numbers begin again after the last
	}
	f, err := os.OpenFile(filepath.Join(dir, name(s.last)), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	g := &segment{no: s.last, file: f, salt: salt(rand.Uint64()), size: int64(beginSize)}
	if _, err := f.WriteAt(g.salt.begin(), 0); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	s.current, s.all[s.last] = g, g
	s.files.Add(1)
	s.bytes.Add(g.size)
	s.created.Add(1)
	return g, nil
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
