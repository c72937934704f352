package rdb

import (
	"encoding/binary"

	"github.com/trireme-dev/trireme/fsm/listpack"
)

// entries iterates over a packed list, in order.
type entries interface {
	More() bool
	Next() (listpack.Entry, error)
	Done() error
}

// opener opens packed lists of one format.
type opener func(b []byte) (entries, error)

func listpacks(b []byte) (entries, error) { return listpack.NewReader(b) }

func ziplists(b []byte) (entries, error) { return newZiplist(b) }

// packedTexts calls f for the entries of a packed list, of which there is at least one.
func (r *reader) packedTexts(open opener, f func(string) error) error {
	b, err := r.blob()
	if err != nil {
		return err
	}
	list, err := open(b)
	if err != nil || !list.More() {
		return ErrFormat
	}
	for list.More() {
		e, err := list.Next()
		if err != nil {
			return ErrFormat
		}
		if err := r.take(e.Len()); err != nil {
			return err
		}
		if err := f(e.String()); err != nil {
			return err
		}
	}
	if list.Done() != nil {
		return ErrFormat
	}
	return nil
}

// ziplist reads the format that came before listpacks.
type ziplist struct {
	b    []byte // from the next entry to the end mark, which is left out
	left int    // entries that the header promises, -1 if it doesn't count them
}

const (
	ziplistHead = 10
	ziplistEnd  = 0xFF
	ziplistMany = 0xFFFF
	// longPrevious says that the length of the entry before follows in four more bytes.
	longPrevious = 0xFE
)

func newZiplist(b []byte) (*ziplist, error) {
	if len(b) < ziplistHead+1 || uint64(binary.LittleEndian.Uint32(b)) != uint64(len(b)) || b[len(b)-1] != ziplistEnd {
		return nil, ErrFormat
	}
	z := &ziplist{b: b[ziplistHead : len(b)-1], left: int(binary.LittleEndian.Uint16(b[8:]))}
	if z.left == ziplistMany {
		z.left = -1
	}
	return z, nil
}

// More reports whether there are entries left.
func (z *ziplist) More() bool { return len(z.b) > 0 }

// Done is ErrFormat if the header promised another number of entries.
func (z *ziplist) Done() error {
	if z.More() || z.left > 0 {
		return ErrFormat
	}
	return nil
}

// Next is the next entry.
func (z *ziplist) Next() (e listpack.Entry, err error) {
	r := reader{b: z.b}
	previous, err := r.bytes(1)
	if err != nil || z.left == 0 {
		return e, ErrFormat
	}
	if previous[0] == longPrevious {
		if _, err := r.bytes(4); err != nil {
			return e, err
		}
	}
	first, err := r.bytes(1)
	if err != nil {
		return e, err
	}
	if e, err = r.ziplistEntry(first[0]); err != nil {
		return e, err
	}
	if z.b = r.b; z.left > 0 {
		z.left--
	}
	return e, nil
}

// ziplistEntry reads what stands behind the first byte of an entry, or in it.
func (r *reader) ziplistEntry(first byte) (e listpack.Entry, err error) {
	var more []byte
	switch {
	case first < 0x40:
		return r.ziplistText(uint64(first))
	case first < 0x80:
		if more, err = r.bytes(1); err != nil {
			return e, err
		}
		return r.ziplistText(uint64(first&0x3F)<<8 | uint64(more[0]))
	case first == 0x80:
		if more, err = r.bytes(4); err != nil {
			return e, err
		}
		return r.ziplistText(uint64(binary.BigEndian.Uint32(more)))
	case first > 0xF0 && first < 0xFE:
		return listpack.IntEntry(int64(first&0x0F) - 1), nil
	}
	width := uint64(0)
	switch first {
	case 0xFE:
		width = 1
	case 0xC0:
		width = 2
	case 0xF0:
		width = 3
	case 0xD0:
		width = 4
	case 0xE0:
		width = 8
	default:
		return e, ErrFormat
	}
	if more, err = r.bytes(width); err != nil {
		return e, err
	}
	return listpack.IntEntry(signed(more)), nil
}

func (r *reader) ziplistText(n uint64) (listpack.Entry, error) {
	b, err := r.bytes(n)
	return listpack.TextEntry(b), err
}

// signed is an integer of up to eight bytes, the lowest first.
func signed(b []byte) int64 {
	var whole [8]byte
	copy(whole[:], b)
	shift := 64 - 8*len(b)
	return int64(binary.LittleEndian.Uint64(whole[:])<<shift) >> shift
}
