package logstore

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	entryMark  = 0xC6
	valueMark  = 0xC7
	trailerLen = 9  // batch position, sum, mark
	headLen    = 49 // what entrySum sums before the data
	valueTail  = 5  // sum, mark
)

// entrySum covers everything that an entry says, and the lengths, so that bytes
// cannot move between Data and Extensions unseen. pos is the entry's place in
// the batch it was stored with. scratch gives room for headLen bytes.
func entrySum(scratch []byte, l *raft.Log, ext []byte, pos uint32) uint32 {
	le, h := binary.LittleEndian, scratch[:0]
	h = le.AppendUint64(h, l.Index)
	h = le.AppendUint64(h, l.Term)
	h = append(h, byte(l.Type))
	h = le.AppendUint64(h, uint64(len(l.Data)))
	h = le.AppendUint64(h, uint64(len(ext)))
	// Not UnixNano: it wraps, and the upper bits of the seconds would go free.
	h = le.AppendUint64(h, uint64(l.AppendedAt.Unix()))
	h = le.AppendUint32(h, uint32(l.AppendedAt.Nanosecond()))
	h = le.AppendUint32(h, pos)
	c := crc32.Update(0, castagnoli, h)
	c = crc32.Update(c, castagnoli, l.Data)
	return crc32.Update(c, castagnoli, ext)
}

// appendSealed appends to buf the Extensions that are stored for l: its own,
// then the trailer. The room behind them serves as scratch; sealedRoom says how
// much buf wants.
func appendSealed(buf []byte, l *raft.Log, pos uint32) []byte {
	buf = append(buf, l.Extensions...)
	sum := entrySum(buf[len(buf):], l, l.Extensions, pos)
	buf = binary.LittleEndian.AppendUint32(buf, pos)
	buf = binary.LittleEndian.AppendUint32(buf, sum)
	return append(buf, entryMark)
}

// sealedRoom is the capacity that appendSealed uses for one entry.
func sealedRoom(l *raft.Log) int { return len(l.Extensions) + headLen }

// unseal checks a stored entry and takes its trailer off.
func unseal(l *raft.Log) (pos uint32, ok bool) {
	n := len(l.Extensions) - trailerLen
	if n < 0 || l.Extensions[n+8] != entryMark {
		return 0, false
	}
	ext, tail := l.Extensions[:n:n], l.Extensions[n:]
	pos = binary.LittleEndian.Uint32(tail)
	if binary.LittleEndian.Uint32(tail[4:]) != entrySum(make([]byte, 0, headLen), l, ext, pos) {
		return 0, false
	}
	l.Extensions = ext
	if n == 0 {
		l.Extensions = nil
	}
	return pos, true
}

func valueSum(key, value []byte) uint32 {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(key)))
	c := crc32.Update(0, castagnoli, n[:])
	c = crc32.Update(c, castagnoli, key)
	return crc32.Update(c, castagnoli, value)
}

// sealValue is what is stored for a stable value: the value, then the sum of
// key and value.
func sealValue(key, value []byte) []byte {
	b := make([]byte, 0, len(value)+valueTail)
	b = append(b, value...)
	b = binary.LittleEndian.AppendUint32(b, valueSum(key, value))
	return append(b, valueMark)
}

// openValue checks a stored value and returns the caller's part of it.
func openValue(key, stored []byte) ([]byte, bool) {
	n := len(stored) - valueTail
	if n < 0 || stored[n+4] != valueMark {
		return nil, false
	}
	v := stored[:n:n]
	return v, binary.LittleEndian.Uint32(stored[n:]) == valueSum(key, v)
}
