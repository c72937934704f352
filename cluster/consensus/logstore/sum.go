package logstore

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	valueMark = 0xC7
	valueTail = 5 // sum, mark
)

func valueSum(key, value []byte) uint32 {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(key)))
	c := crc32.Update(0, castagnoli, n[:])
	c = crc32.Update(c, castagnoli, key)
	return crc32.Update(c, castagnoli, value)
}

// sealValue returns the bytes to store for a stable value: the value, then the sum of key and value.
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
