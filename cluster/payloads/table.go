package payloads

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// blockItems is the number of items of a list that are read together.
const blockItems = 64

// table finds the items of a segment by their positions. Those of a segment that is complete are on the disk only.
type table struct {
	mu    sync.RWMutex
	items []item // of a segment that is not complete
	// every has the position of the first item of each block, count the number of items, and listAt the position of the list, 0 if
	// there is none.
	every  []uint32
	count  int
	listAt int64
	mended map[uint32]*Body // see shelfFile.mend
}

// add adds an item, whose position is behind those of the others.
func (t *table) add(it item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count%blockItems == 0 {
		t.every = append(t.every, it.position)
	}
	t.items, t.count = append(t.items, it), t.count+1
}

// completed says that the list is on the disk.
func (t *table) completed(listAt int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items, t.listAt, t.every = nil, listAt, slices.Clip(t.every)
}

// find returns the digest at a position, if it is in memory, or the number of the block that has it.
func (t *table) find(position uint32) (d payload.Digest, known bool, block, items int, listAt int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.items != nil {
		i, ok := slices.BinarySearchFunc(t.items, position, func(it item, p uint32) int { return int(it.position) - int(p) })
		if ok {
			d = t.items[i].digest
		}
		return d, ok, 0, 0, 0
	}
	block, exact := slices.BinarySearch(t.every, position)
	if !exact {
		block--
	}
	if block < 0 || t.listAt == 0 {
		return d, false, 0, 0, 0
	}
	return d, false, block, min(blockItems, t.count-block*blockItems), t.listAt
}

// mendedAt returns the payload that took the place of a damaged one, nil if there is none.
func (s *segment) mendedAt(position uint32) *Body {
	s.table.mu.RLock()
	defer s.table.mu.RUnlock()
	return s.table.mended[position]
}

// digestAt returns the digest of a cold string: from memory, from the segment's list, or from the head of the string. One that does
// not have the checksum of the handle counts for nothing.
func (s *Store) digestAt(g *segment, sp payload.Spot) (d payload.Digest, ok bool) {
	d, ok, block, items, listAt := g.table.find(sp.Position)
	if ok && payload.SpotSum(&d) == sp.Sum {
		return d, true
	}
	if items > 0 {
		b := s.blocks.get(g, block, items, listAt)
		for ; len(b) >= itemSize; b = b[itemSize:] {
			if binary.LittleEndian.Uint32(b) == sp.Position {
				copy(d[:], b[8:])
				if payload.SpotSum(&d) == sp.Sum {
					return d, true
				}
			}
		}
	}
	var head [headSize]byte
	if _, err := g.file.ReadAt(head[:], int64(sp.Position)); err != nil {
		return d, false
	}
	copy(d[:], head[12:])
	return d, payload.SpotSum(&d) == sp.Sum
}

// cachedBlocks is the number of blocks of lists that are in memory: who reads the digests of many strings reads them in the order in
// which they were written, as a rule.
const cachedBlocks = 64

// blocks are parts of the lists of segments, as they are on the disk.
type blocks struct {
	mu  sync.Mutex
	all [cachedBlocks]struct {
		of    *segment
		block int
		b     []byte
	}
}

// get returns a block of the list of a segment, or a part of it if the disk has no more.
func (bl *blocks) get(g *segment, block, items int, listAt int64) []byte {
	c := &bl.all[(int(g.no)*31+block)%cachedBlocks]
	bl.mu.Lock()
	if c.of == g && c.block == block {
		defer bl.mu.Unlock()
		return c.b
	}
	bl.mu.Unlock()
	b := make([]byte, items*itemSize)
	n, err := g.file.ReadAt(b, listAt+int64(block*blockItems*itemSize))
	if err != nil {
		return b[:n]
	}
	bl.mu.Lock()
	defer bl.mu.Unlock()
	c.of, c.block, c.b = g, block, b
	return b
}
