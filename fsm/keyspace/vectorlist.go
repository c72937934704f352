package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/vector"
)

// blockBytes is the largest size of a block in bytes, maxBlockVectors its largest number of vectors; both are powers of two, and so is
// the number of vectors of a full block. The processor prefetches adjacent memory: vectors of 1,536 bytes that were allocated
// one by one took twice as long to compare as those of a block of 32, and four times as long in the order of their ids,
// which is random. A write after a fork copies a block.
const (
	blockBytes      = 64 << 10
	maxBlockVectors = 256
)

// vectorList is a list of vectors with their ids, in blocks that all but the last are full.
type vectorList struct {
	dim, room int // room is the number of vectors of a full block
	n         int
	blocks    *cow.Sequence[*vectorBlock]
	owner     *listOwner // of the blocks that may be changed
}

// listOwner is known by its address, so it may not be empty.
type listOwner struct{ _ byte }

type vectorBlock struct {
	owner   *listOwner
	ids     []string
	vectors []vector.Vector // their elements are in elems
	elems   []float32
}

func newVectorList(dim int) vectorList {
	room := maxBlockVectors
	for room > 1 && room*4*dim > blockBytes {
		room /= 2
	}
	return vectorList{dim: dim, room: room, blocks: cow.NewSequence[*vectorBlock](), owner: new(listOwner)}
}

// clone forks the list in constant time. Both sides copy a block before they change it.
func (l *vectorList) clone() vectorList {
	fork := *l
	fork.blocks = l.blocks.Snapshot()
	l.owner, fork.owner = new(listOwner), new(listOwner)
	return fork
}

// at is the vector in a place with its id. The elements are valid until the next change.
func (l *vectorList) at(i int) (id string, v vector.Vector) {
	b, j := l.blocks.At(i/l.room), i%l.room
	return b.ids[j], b.vectors[j]
}

// each calls f for all vectors.
func (l *vectorList) each(f func(id string, v vector.Vector)) {
	l.blocks.Ascend(0, func(_ int, b *vectorBlock) bool {
		for j, v := range b.vectors {
			f(b.ids[j], v)
		}
		return true
	})
}

// copied is a block with the vectors of b, which may be nil, and room for so many.
func (l *vectorList) copied(b *vectorBlock, room int) *vectorBlock {
	c := &vectorBlock{owner: l.owner, ids: make([]string, 0, room), vectors: make([]vector.Vector, 0, room), elems: make([]float32, room*l.dim)}
	if b != nil {
		for j, v := range b.vectors {
			c.push(l.dim, b.ids[j], v)
		}
	}
	return c
}

func (b *vectorBlock) push(dim int, id string, v vector.Vector) {
	j := len(b.vectors)
	b.ids = append(b.ids, id)
	b.vectors = append(b.vectors, v.In(b.elems[j*dim:(j+1)*dim:(j+1)*dim]))
}

// own is the block of that number, to be changed, with room for so many more vectors.
func (l *vectorList) own(number, more int) *vectorBlock {
	b := l.blocks.At(number)
	need := len(b.vectors) + more
	if b.owner == l.owner && need <= cap(b.vectors) {
		return b
	}
	room := cap(b.vectors)
	if need > room {
		room = min(2*room, l.room)
	}
	b = l.copied(b, room)
	l.blocks.Set(number, b)
	return b
}

// push appends a vector and returns its place.
func (l *vectorList) push(id string, v vector.Vector) int {
	at := l.n
	l.n++
	if at%l.room == 0 {
		l.blocks.Insert(l.blocks.Len(), l.copied(nil, 1))
	}
	l.own(at/l.room, 1).push(l.dim, id, v)
	return at
}

// set puts a vector in the place of one.
func (l *vectorList) set(at int, id string, v vector.Vector) {
	b, j := l.own(at/l.room, 0), at%l.room
	b.ids[j], b.vectors[j] = id, v.In(b.vectors[j].Elems)
}

// name sets the id of a vector.
func (l *vectorList) name(at int, id string) { l.own(at/l.room, 0).ids[at%l.room] = id }

// remove takes a vector out. The last one takes its place, unless it is that; moved is its id.
func (l *vectorList) remove(at int) (moved string, moves bool) {
	last := l.n - 1
	if moves = at != last; moves {
		id, v := l.at(last)
		l.set(at, id, v)
		moved = id
	}
	l.n = last
	if last%l.room == 0 {
		l.blocks.Delete(last / l.room)
		return moved, moves
	}
	b := l.own(last/l.room, 0)
	j := len(b.vectors) - 1
	b.ids[j], b.vectors[j] = "", vector.Vector{}
	b.ids, b.vectors = b.ids[:j], b.vectors[:j]
	if j <= cap(b.vectors)/4 { // so that it takes no more than its vectors count
		l.blocks.Set(last/l.room, l.copied(b, cap(b.vectors)/2))
	}
	return moved, moves
}
