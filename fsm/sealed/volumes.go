package sealed

import "github.com/trireme-dev/trireme/fsm/cow"

// Volumes are volumes in the order of their records: new ones come at the end, and the oldest go first. The zero one is empty.
type Volumes struct {
	volumes       *cow.Sequence[*Volume] // nil as long as there was none
	records       int
	size, counted int64
}

// Fork returns the volumes as they are now, in constant time.
func (vo *Volumes) Fork() Volumes {
	f := *vo
	if vo.volumes != nil {
		f.volumes = vo.volumes.Snapshot()
	}
	return f
}

// Len is the number of volumes, Records that of records.
func (vo *Volumes) Len() int {
	if vo.volumes == nil {
		return 0
	}
	return vo.volumes.Len()
}

// Records is the number of all records.
func (vo *Volumes) Records() int { return vo.records }

// Size is the logical size in bytes, and Counted the part of it that counts as memory.
func (vo *Volumes) Size() int64 { return vo.size }

// Counted returns the part of Size that counts as memory.
func (vo *Volumes) Counted() int64 { return vo.counted }

// At is the volume at a position; 0 <= i < Len.
func (vo *Volumes) At(i int) *Volume { return vo.volumes.At(i) }

// Oldest is the volume that goes first, nil if there is none.
func (vo *Volumes) Oldest() *Volume {
	if vo.Len() == 0 {
		return nil
	}
	return vo.volumes.At(0)
}

// Newest is the volume that came last, nil if there is none.
func (vo *Volumes) Newest() *Volume {
	if vo.Len() == 0 {
		return nil
	}
	return vo.volumes.At(vo.Len() - 1)
}

// Add puts a volume at the end. Its records follow those of the last one.
func (vo *Volumes) Add(v *Volume) { vo.insert(vo.Len(), v) }

// AddByTime puts a volume behind those whose newest record is not newer than its own. For volumes that are all put in by it.
func (vo *Volumes) AddByTime(v *Volume) {
	vo.insert(vo.Search(func(other *Volume) bool { return other.To <= v.To }), v)
}

func (vo *Volumes) insert(i int, v *Volume) {
	if vo.volumes == nil {
		vo.volumes = cow.NewSequence[*Volume]()
	}
	vo.volumes.Insert(i, v)
	vo.count(v, 1)
}

// DropOldest removes the volume that goes first; there must be one.
func (vo *Volumes) DropOldest() { vo.count(vo.volumes.Delete(0), -1) }

func (vo *Volumes) count(v *Volume, sign int) {
	vo.records += sign * v.Count
	vo.size += int64(sign) * v.Size()
	vo.counted += int64(sign) * v.Counted()
}

// Search is the position of the first volume that before is false of; it must be true of all up to a position, and of none from
// there on.
func (vo *Volumes) Search(before func(*Volume) bool) int {
	if vo.volumes == nil {
		return 0
	}
	return vo.volumes.Search(before)
}

// Of is the volume that has the record of a number, nil if none has.
func (vo *Volumes) Of(no uint64) *Volume {
	i := vo.Search(func(v *Volume) bool { return v.Last < no })
	if i == vo.Len() || vo.At(i).First > no {
		return nil
	}
	return vo.At(i)
}

// Ascend calls f for the volumes from a position on until it returns false.
func (vo *Volumes) Ascend(i int, f func(*Volume) bool) {
	if vo.volumes != nil {
		vo.volumes.Ascend(i, func(_ int, v *Volume) bool { return f(v) })
	}
}

// Descend calls f for the volumes from a position down to the first until it returns false.
func (vo *Volumes) Descend(i int, f func(*Volume) bool) {
	if vo.volumes != nil {
		vo.volumes.Descend(i, func(_ int, v *Volume) bool { return f(v) })
	}
}
