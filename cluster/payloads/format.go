package payloads

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// A segment begins with its salt, twice, so that one of them may be damaged. Each checksum in the segment begins with the salt.
// Clients don't know it: no payload has the form of a head or a list in it.
const (
	saltMagic = "TPSALT01"
	saltSize  = len(saltMagic) + 8 + 4
	beginSize = 2 * saltSize
)

// A head precedes each payload of a segment: magic number, length, stored length with packedBit, digest, checksum.
const (
	headMagic = "TPH1"
	headSize  = 4 + 4 + 4 + len(payload.Digest{}) + 4
	packedBit = 1 << 31
)

// A list ends a segment that is full: an item for each payload, then their number, a checksum and a magic number.
const (
	listMagic = "TPLIST01"
	itemSize  = 4 + 4 + len(payload.Digest{})
	listEnd   = 4 + 4 + len(listMagic)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// salt is the random number of a segment.
type salt uint64

func (s salt) sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(binary.LittleEndian.AppendUint64(nil, uint64(s)), castagnoli), castagnoli, b)
}

// begin returns the beginning of a segment.
func (s salt) begin() (b []byte) {
	for range 2 {
		start := len(b)
		b = binary.LittleEndian.AppendUint64(append(b, saltMagic...), uint64(s))
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
	}
	return b
}

// saltOf returns the salt of the segment that begins with b; ok is false if both are damaged.
func saltOf(b []byte) (s salt, ok bool) {
	for ; len(b) >= saltSize; b = b[saltSize:] {
		sum := saltSize - 4
		if string(b[:len(saltMagic)]) == saltMagic && crc32.Checksum(b[:sum], castagnoli) == binary.LittleEndian.Uint32(b[sum:]) {
			return salt(binary.LittleEndian.Uint64(b[len(saltMagic):])), true
		}
	}
	return 0, false
}

// head describes a payload in a segment.
type head struct {
	length, stored int // in bytes, before and after it was compressed
	packed         bool
	digest         payload.Digest
}

func (h *head) append(b []byte, s salt) []byte {
	start := len(b)
	b = append(b, headMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.length))
	stored := uint32(h.stored)
	if h.packed {
		stored |= packedBit
	}
	b = binary.LittleEndian.AppendUint32(b, stored)
	b = append(b, h.digest[:]...)
	return binary.LittleEndian.AppendUint32(b, s.sum(b[start:]))
}

// parseHead reads the head at the beginning of b; ok is false if there is no sound one.
func parseHead(b []byte, s salt) (h head, ok bool) {
	if len(b) < headSize || string(b[:4]) != headMagic {
		return h, false
	}
	sum := headSize - 4
	if s.sum(b[:sum]) != binary.LittleEndian.Uint32(b[sum:]) {
		return h, false
	}
	stored := binary.LittleEndian.Uint32(b[8:])
	h = head{length: int(binary.LittleEndian.Uint32(b[4:])), stored: int(stored &^ packedBit), packed: stored&packedBit != 0}
	copy(h.digest[:], b[12:])
	return h, true
}

// item is a payload in the list of a segment.
type item struct {
	position uint32
	length   uint32
	digest   payload.Digest
}

func appendList(b []byte, items []item, s salt) []byte {
	start := len(b)
	for i := range items {
		b = binary.LittleEndian.AppendUint32(b, items[i].position)
		b = binary.LittleEndian.AppendUint32(b, items[i].length)
		b = append(b, items[i].digest[:]...)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(items)))
	b = binary.LittleEndian.AppendUint32(b, s.sum(b[start:]))
	return append(b, listMagic...)
}

// listSize returns the size of the list that ends with end, 0 if that ends none.
func listSize(end []byte) int64 {
	if len(end) != listEnd || string(end[8:]) != listMagic {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(end))*int64(itemSize) + int64(listEnd)
}

// parseList reads a list; ok is false if it is not sound.
func parseList(b []byte, s salt) (items []item, ok bool) {
	n := len(b) - listEnd
	if n < 0 || listSize(b[n:]) != int64(len(b)) || s.sum(b[:n+4]) != binary.LittleEndian.Uint32(b[n+4:]) {
		return nil, false
	}
	items = make([]item, n/itemSize)
	for i := range items {
		at := b[i*itemSize:]
		items[i].position, items[i].length = binary.LittleEndian.Uint32(at), binary.LittleEndian.Uint32(at[4:])
		copy(items[i].digest[:], at[8:])
	}
	return items, true
}

// packer compresses payloads that become smaller by that.
type packer struct {
	zstd *zstd.Encoder
	dull int // payloads in a row that did not become smaller
}

const (
	// worth is the part by which a payload has to become smaller, as a divisor.
	worth = 8
	// After dullRow payloads in a row that don't, one in dullTry is tried.
	dullRow, dullTry = 8, 16
)

// pack returns the bytes to store for b, and whether they are compressed.
func (pa *packer) pack(b []byte) ([]byte, bool) {
	if pa.dull++; pa.dull > dullRow && pa.dull%dullTry != 0 {
		return b, false
	}
	small := pa.zstd.EncodeAll(b, nil)
	if len(small) > len(b)-len(b)/worth {
		return b, false
	}
	pa.dull = 0
	return small, true
}

// unpacker has no state: any goroutine may use it.
var unpacker = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic("payloads: " + err.Error()) // the options are wrong
	}
	return d
}()

// unpack returns the payload that b is the content of. b begins with a sound head and may have more bytes than the payload.
func (h *head) unpack(b []byte) ([]byte, bool) {
	if len(b) < headSize+h.stored {
		return nil, false
	}
	b = b[headSize : headSize+h.stored : headSize+h.stored]
	if h.packed {
		var frame zstd.Header
		if frame.Decode(b) != nil || !frame.HasFCS || frame.FrameContentSize != uint64(h.length) {
			return nil, false
		}
		var err error
		if b, err = unpacker.DecodeAll(b, make([]byte, 0, h.length)); err != nil {
			return nil, false
		}
	}
	return b, len(b) == h.length && payload.DigestOf(b) == h.digest
}
