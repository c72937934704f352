package wal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

// The layout of a segment, all numbers little-endian:
//
//	segment: header, one block of 4096 bytes; records without gaps
//	header:  magic (8), number of the segment (8), salt (8), sum (4)
//	record:  magic (4), body length (4), number of the record (8), sum of the record before (4), sum of the items' heads (4),
//	         sum (4), body
//	body:    items: kind (1), log (4), index (8), term (8), type (1), seconds (8), nanoseconds (4), data length (4),
//	         extensions length (4), sum (4), data, extensions
//
// A segment's salt is drawn anew each time the file is used, and every sum begins with it. So nothing that a former use or a
// client's value left in the file passes for a record, although records begin anywhere.
const (
	headerRoom  = 4096
	headerMagic = "TRIWAL01"
	headerLen   = 28
	recordMagic = 0x52575254
	recordHead  = 28
	itemHead    = 46
)

// kind says what an item of a record does.
type kind uint8

const (
	entry  kind = iota + 1 // an entry of a log
	cut                    // the log ends before the index
	trim                   // the log begins at the index
	closed                 // the files were closed in order
)

// copiedData is the largest data that is copied into the record's own memory; larger data is written from its own memory.
const copiedData = 16 << 10

// keptMemory bounds the memory that is kept for the next record.
const keptMemory = 4 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// saltSum returns the sum with which the checksums of a segment's records begin.
func saltSum(salt uint64) uint32 {
	return crc32.Checksum(binary.LittleEndian.AppendUint64(nil, salt), castagnoli)
}

// record is a record that is being made. Its memory is used again.
type record struct {
	memory []byte   // the heads and small data
	parts  [][]byte // all bytes in order, in memory or where their owner has them
	from   int      // of memory, what parts has not
	length int64    // of all parts and what they have not
	seed   uint32
	heads  uint32 // sum of the items' heads
	sum    uint32 // of the record
}

// room returns the most bytes that a record of these batches takes.
func room(batches []Batch) int64 {
	n := int64(recordHead)
	for _, b := range batches {
		for _, l := range b.Entries {
			n += itemHead + int64(len(l.Data)) + int64(len(l.Extensions))
		}
	}
	return n
}

// begin makes an empty record for a segment. Its memory must have room for everything that is copied, because parts point into it.
func (r *record) begin(copied int, salt uint64) {
	if cap(r.memory) < copied || cap(r.memory) > keptMemory {
		r.memory = make([]byte, 0, max(copied, 4096))
	}
	clear(r.parts)
	r.memory, r.parts = r.memory[:recordHead], r.parts[:0]
	r.from, r.length, r.seed = 0, recordHead, saltSum(salt)
	r.heads = r.seed
}

// copied counts the bytes that a record of entries copies into its own memory.
func copied(batches []Batch) int {
	n := recordHead
	for _, b := range batches {
		for _, l := range b.Entries {
			n += itemHead
			for _, data := range [][]byte{l.Data, l.Extensions} {
				if len(data) <= copiedData {
					n += len(data)
				}
			}
		}
	}
	return n
}

// add appends an item, and returns where in the record it begins and how long it is.
func (r *record) add(k kind, log uint32, l *raft.Log) (at int64, length uint32) {
	at, from, le := r.length, len(r.memory), binary.LittleEndian
	b := append(r.memory, byte(k))
	b = le.AppendUint32(b, log)
	b = le.AppendUint64(b, l.Index)
	b = le.AppendUint64(b, l.Term)
	b = append(b, byte(l.Type))
	b = le.AppendUint64(b, uint64(l.AppendedAt.Unix()))
	b = le.AppendUint32(b, uint32(l.AppendedAt.Nanosecond()))
	b = le.AppendUint32(b, uint32(len(l.Data)))
	b = le.AppendUint32(b, uint32(len(l.Extensions)))
	sum := crc32.Update(r.seed, castagnoli, b[from:])
	sum = crc32.Update(crc32.Update(sum, castagnoli, l.Data), castagnoli, l.Extensions)
	b = le.AppendUint32(b, sum)
	r.heads = crc32.Update(r.heads, castagnoli, b[from:])
	r.memory = b
	r.put(l.Data)
	r.put(l.Extensions)
	n := itemHead + len(l.Data) + len(l.Extensions)
	r.length += int64(n)
	return at, uint32(n)
}

func (r *record) put(data []byte) {
	if len(data) <= copiedData {
		r.memory = append(r.memory, data...)
		return
	}
	r.parts = append(r.parts, r.memory[r.from:], data)
	r.from = len(r.memory)
}

// finish completes the record with its number and the sum of the one before.
func (r *record) finish(number uint64, before uint32) {
	if r.from < len(r.memory) {
		r.parts = append(r.parts, r.memory[r.from:])
	}
	le, h := binary.LittleEndian, r.memory[:recordHead]
	le.PutUint32(h, recordMagic)
	le.PutUint32(h[4:], uint32(r.length-recordHead))
	le.PutUint64(h[8:], number)
	le.PutUint32(h[16:], before)
	le.PutUint32(h[20:], r.heads)
	r.sum = crc32.Update(r.seed, castagnoli, h[:24])
	le.PutUint32(h[24:], r.sum)
}

// head is the head of a record in a file.
type head struct {
	number uint64
	before uint32 // sum of the record before
	heads  uint32 // sum of its items' heads
	sum    uint32
	length int64 // of the body
}

// readHead reads the head at the beginning of b, if a record begins there.
func readHead(b []byte, seed uint32) (h head, ok bool) {
	le := binary.LittleEndian
	if len(b) < recordHead || le.Uint32(b) != recordMagic {
		return head{}, false
	}
	h = head{number: le.Uint64(b[8:]), before: le.Uint32(b[16:]), heads: le.Uint32(b[20:]), sum: le.Uint32(b[24:]), length: int64(le.Uint32(b[4:]))}
	return h, h.sum == crc32.Update(seed, castagnoli, b[:24])
}

// item holds the fields of an item of a record, except an entry's data.
type item struct {
	kind   kind
	log    uint32
	index  uint64
	term   uint64
	length int64
}

// errItem says that an item does not fit.
var errItem = errors.New("an item of it does not fit its checksum")

// readItems calls visit with each item of a body and its place there. It reports whether the body belongs to the head.
func readItems(h head, body []byte, seed uint32, visit func(i item, at int64)) error {
	heads := seed
	for at := int64(0); at < int64(len(body)); {
		var l raft.Log
		i, err := readItem(body[at:], seed, &l)
		if err != nil {
			return err
		}
		heads = crc32.Update(heads, castagnoli, body[at:at+itemHead])
		visit(i, at)
		at += i.length
	}
	if heads != h.heads {
		return errItem
	}
	return nil
}

// readItem reads the item at the beginning of b. The entry has b's memory.
func readItem(b []byte, seed uint32, l *raft.Log) (item, error) {
	if len(b) < itemHead {
		return item{}, errItem
	}
	le := binary.LittleEndian
	data, ext := int64(le.Uint32(b[34:])), int64(le.Uint32(b[38:]))
	if data+ext > int64(len(b)-itemHead) {
		return item{}, errItem
	}
	i := item{kind: kind(b[0]), log: le.Uint32(b[1:]), index: le.Uint64(b[5:]), term: le.Uint64(b[13:]), length: itemHead + data + ext}
	sum := crc32.Update(crc32.Update(seed, castagnoli, b[:42]), castagnoli, b[itemHead:i.length])
	if sum != le.Uint32(b[42:]) {
		return item{}, errItem
	}
	*l = raft.Log{
		Index: i.index, Term: i.term, Type: raft.LogType(b[21]),
		AppendedAt: time.Unix(int64(le.Uint64(b[22:])), int64(le.Uint32(b[30:]))).UTC(),
	}
	if b = b[itemHead:]; data > 0 {
		l.Data = b[:data:data]
	}
	if ext > 0 {
		l.Extensions = b[data : data+ext : data+ext]
	}
	return i, nil
}
