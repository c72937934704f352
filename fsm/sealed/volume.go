package sealed

import (
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Volume is a run of records in one payload. It is never modified.
type Volume struct {
	// First and Last are the numbers of the first and the last record; the numbers between them have records, too.
	First, Last uint64
	// From and To are the times of these, in unix milliseconds. Times of records do not go back.
	From, To int64
	// Marks are the bits of what the records are: a reader that wants others need not open it.
	Marks uint32
	// Numbers are those that the records tell of.
	Numbers Numbers
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

// Count returns the number of records.
func (v *Volume) Count() int { return int(v.Last-v.First) + 1 }

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
	n := volumeCost + handleCost + int64(len(v.Numbers)+len(v.Words))
	for _, p := range v.Apart {
		n += handleCost + int64(p.Len()) - p.Uncounted()
	}
	return n
}

// Keep puts the payloads of a volume that was read in the care of k, which may be nil.
func (v *Volume) Keep(k payload.Keeper) {
	v.Records = payload.New(v.Records.Bytes(), k)
	for i := range v.Apart {
		v.Apart[i] = payload.New(v.Apart[i].Bytes(), k)
	}
}

// Fields codes the value in its wire format. What is read aliases its source until Keep.
func (v *Volume) Fields(c *wire.Codec) {
	c.Uvarint(&v.First)
	c.Uvarint(&v.Last)
	c.Varint(&v.From)
	c.Varint(&v.To)
	wire.Uint(c, &v.Marks)
	c.String((*string)(&v.Numbers))
	c.String((*string)(&v.Words))
	v.Records.Field(c)
	wire.Each(c, &v.Apart, func(c *wire.Codec, p *payload.Payload) { p.Field(c) })
}

// Valid reports whether a volume that was read can be one.
func (v *Volume) Valid() bool {
	return v.First > 0 && v.First <= v.Last && v.Last-v.First < MaxRecords && v.From <= v.To && v.Records.Len() > 0 && len(v.Words)%8 == 0
}

// MaxRecords bounds the records of a volume.
const MaxRecords = 1 << 16
