package logstore

import (
	"crypto/rand"
	"encoding/binary"
	"hash/crc32"
	"os"
	"time"

	"github.com/hashicorp/raft"
)

// The journal's layout, all numbers little-endian. Headers and records begin at
// multiples of journalBlock, so that no write touches a block that holds something
// acknowledged already: a write torn by a power cut damages only itself.
//
//	half:   header, the same header again in the next block, records
//	header: magic, epoch (8), salt (8), sum (4)
//	record: magic (4), body length (4), salt (8), number within the half (4), sum (4), body
//	body:   entries: index (8), term (8), type (1), seconds (8), nanoseconds (4),
//	        data length (4), extensions length (4), data, extensions
//
// A half's salt is drawn anew with every epoch and is in each record, so that nothing
// that an earlier epoch or a client's value left in the file passes for a record.
const (
	journalBlock = 4096
	headerMagic  = "TRIJRNL1"
	headerLen    = 28
	headerRoom   = 2 * journalBlock
	recordMagic  = 0x4c4a5254
	recordHead   = 24
	entryHead    = 37
)

func newSalt() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

func blocks(n int64) int64 { return (n + journalBlock - 1) / journalBlock * journalBlock }

// recordRoom is how many bytes of the file a batch takes.
func recordRoom(logs []*raft.Log) int64 {
	n := int64(recordHead)
	for _, l := range logs {
		n += entryHead + int64(len(l.Data)) + int64(len(l.Extensions))
	}
	return blocks(n)
}

// appendRecord appends the next record of h, with its padding, and says where in the
// file its entries lie.
func appendRecord(b []byte, h *half, logs []*raft.Log) ([]byte, []span) {
	le, spans := binary.LittleEndian, make([]span, len(logs))
	b = append(b, make([]byte, recordHead)...)
	for i, l := range logs {
		from := len(b)
		b = le.AppendUint64(b, l.Index)
		b = le.AppendUint64(b, l.Term)
		b = append(b, byte(l.Type))
		b = le.AppendUint64(b, uint64(l.AppendedAt.Unix()))
		b = le.AppendUint32(b, uint32(l.AppendedAt.Nanosecond()))
		b = le.AppendUint32(b, uint32(len(l.Data)))
		b = le.AppendUint32(b, uint32(len(l.Extensions)))
		b = append(append(b, l.Data...), l.Extensions...)
		spans[i] = span{h.end + int64(from), uint32(len(b) - from)}
	}
	le.PutUint32(b, recordMagic)
	le.PutUint32(b[4:], uint32(len(b)-recordHead))
	le.PutUint64(b[8:], h.salt)
	le.PutUint32(b[16:], h.seq)
	le.PutUint32(b[20:], recordSum(b))
	return append(b, make([]byte, blocks(int64(len(b)))-int64(len(b)))...), spans
}

// recordSum is over head and body but for the sum's own place.
func recordSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:20], castagnoli), castagnoli, b[recordHead:])
}

// record finds the record of a salt at the beginning of b.
func record(b []byte, salt uint64) (seq uint32, body []byte, ok bool) {
	le := binary.LittleEndian
	if len(b) < recordHead || le.Uint32(b) != recordMagic || le.Uint64(b[8:]) != salt {
		return 0, nil, false
	}
	n := int64(le.Uint32(b[4:]))
	if n > int64(len(b))-recordHead {
		return 0, nil, false
	}
	b = b[:recordHead+n]
	return le.Uint32(b[16:]), b[recordHead:], le.Uint32(b[20:]) == recordSum(b)
}

// decodeEntry reads one entry and returns what is behind it.
func decodeEntry(b []byte, l *raft.Log) (rest []byte, ok bool) {
	if len(b) < entryHead {
		return nil, false
	}
	le := binary.LittleEndian
	data, ext := int64(le.Uint32(b[29:])), int64(le.Uint32(b[33:]))
	if data+ext > int64(len(b)-entryHead) {
		return nil, false
	}
	*l = raft.Log{
		Index: le.Uint64(b), Term: le.Uint64(b[8:]), Type: raft.LogType(b[16]),
		AppendedAt: time.Unix(int64(le.Uint64(b[17:])), int64(le.Uint32(b[25:]))).UTC(),
	}
	b = b[entryHead:]
	if data > 0 {
		l.Data = b[:data:data]
	}
	if ext > 0 {
		l.Extensions = b[data : data+ext : data+ext]
	}
	return b[data+ext:], true
}

// writeHeader writes both copies of a half's header, without a sync, and puts the half
// before its first record.
func writeHeader(f *os.File, h *half) error {
	b := make([]byte, headerRoom)
	for _, at := range []int{0, journalBlock} {
		c := append(b[at:at], headerMagic...)
		c = binary.LittleEndian.AppendUint64(c, h.epoch)
		c = binary.LittleEndian.AppendUint64(c, h.salt)
		binary.LittleEndian.AppendUint32(c, crc32.Checksum(c, castagnoli))
	}
	h.end = h.base + headerRoom
	_, err := f.WriteAt(b, h.base)
	return err
}

// header reads the newer of a half's two headers.
func header(b []byte) (epoch, salt uint64, ok bool) {
	for _, at := range []int{0, journalBlock} {
		c := b[at:]
		if string(c[:8]) != headerMagic || binary.LittleEndian.Uint32(c[24:]) != crc32.Checksum(c[:24], castagnoli) {
			continue
		}
		if e := binary.LittleEndian.Uint64(c[8:]); !ok || e > epoch {
			epoch, salt, ok = e, binary.LittleEndian.Uint64(c[16:]), true
		}
	}
	return epoch, salt, ok
}
