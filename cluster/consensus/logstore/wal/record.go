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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// saltSum returns the sum with which the checksums of a segment's records begin.
func saltSum(salt uint64) uint32 {
	return crc32.Checksum(binary.LittleEndian.AppendUint64(nil, salt), castagnoli)
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
