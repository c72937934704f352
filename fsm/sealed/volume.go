package sealed

import (
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Volume is some records in one payload. It is never modified.
type Volume struct {
	// Count is the number of records, First and Last are the least and the greatest of their numbers.
	Count       int
	First, Last uint64
	// From and To are the times of the first and the last record, in unix milliseconds. Times of records do not go back.
	From, To int64
	// Kinds has the number of the records of each kind: a reader that wants other kinds, or numbers alone, need not open the volume.
	// What a kind is, such as a state, is up to who makes volumes; there are few.
	Kinds []uint32
	// Sets are of numbers by which records are found; their meaning is up to who makes volumes.
	Sets []Numbers
	// Words are those of all records.
	Words Words
	// Records are the coded records, Apart the large payloads that they refer to.
	Records payload.Payload
	Apart   []payload.Payload
}

// What a volume takes in memory, in bytes: itself, and the handle of a payload.
const (
	volumeCost = 256
	handleCost = 128
)

// Size is the logical size in bytes, with all payloads.
func (v *Volume) Size() int64 {
	n := v.Counted() + int64(v.Records.Len())
	for _, p := range v.Apart {
		n += p.Uncounted()
	}
	return n
}

// Counted returns the part of Size that counts as memory. Records are on the disk whatever the node does, and what they take there has
// bounds of its own.
func (v *Volume) Counted() int64 {
	n := volumeCost + handleCost + int64(len(v.Words))
	for _, set := range v.Sets {
		n += int64(len(set))
	}
	for _, p := range v.Apart {
		n += handleCost + int64(p.Len()) - p.Uncounted()
	}
	return n
}

// Tally counts one more record of a kind in a volume that is being made.
func (v *Volume) Tally(kind int) {
	for len(v.Kinds) <= kind {
		v.Kinds = append(v.Kinds, 0)
	}
	v.Kinds[kind]++
}

// Has reports whether the volume has records of one of some kinds, given as the bits of their numbers.
func (v *Volume) Has(kinds uint32) bool {
	for kind, n := range v.Kinds {
		if n > 0 && kinds>>kind&1 != 0 {
			return true
		}
	}
	return false
}

// Keep puts the payloads of a volume that was read in the care of k, which may be nil.
func (v *Volume) Keep(k payload.Keeper) {
	v.Records = v.Records.Stored(k)
	for i := range v.Apart {
		v.Apart[i] = v.Apart[i].Stored(k)
	}
}

// Fields codes the value in its wire format. What is read aliases its source until Keep.
func (v *Volume) Fields(c *wire.Codec) {
	wire.Uint(c, &v.Count)
	c.Uvarint(&v.First)
	c.Uvarint(&v.Last)
	c.Varint(&v.From)
	c.Varint(&v.To)
	wire.Each(c, &v.Kinds, wire.Uint[uint32])
	wire.Each(c, &v.Sets, func(c *wire.Codec, n *Numbers) { c.String((*string)(n)) })
	c.String((*string)(&v.Words))
	v.Records.Field(c)
	wire.Each(c, &v.Apart, func(c *wire.Codec, p *payload.Payload) { p.Field(c) })
}

// Valid reports whether a volume that was read can be one.
func (v *Volume) Valid() bool {
	tallied := 0
	for _, n := range v.Kinds {
		tallied += int(n)
	}
	return v.Count > 0 && v.Count <= MaxRecords && len(v.Kinds) <= maxKinds && tallied == v.Count && v.First > 0 && v.First <= v.Last && v.From <= v.To && v.Records.Len() > 0 && len(v.Words)%8 == 0
}

// References are the large payloads that the records refer to, as a reader of them wants them.
func (v *Volume) References() *wire.References {
	list := make([]wire.Referable, len(v.Apart))
	for i, p := range v.Apart {
		list[i] = p
	}
	return wire.NewReferences(list)
}

// Refer has a volume that is being made refer to the payloads that its records name.
func (v *Volume) Refer(refs *wire.References) {
	for _, p := range refs.Take(nil) {
		v.Apart = append(v.Apart, p.(payload.Payload))
	}
}

// MaxRecords bounds the records of a volume, maxKinds their kinds: Has has a bit for each.
const (
	MaxRecords = 1 << 16
	maxKinds   = 32
)
