package listpack

import (
	"encoding/binary"
	"strconv"
)

// Entry is one entry: bytes, which alias the listpack, or an integer.
type Entry struct {
	text  []byte
	num   int64
	isInt bool
}

// IntEntry is an entry that holds an integer, TextEntry one that holds bytes, which it
// aliases: other formats are read as entries too.
func IntEntry(n int64) Entry { return Entry{num: n, isInt: true} }

// TextEntry is an entry of bytes; see IntEntry.
func TextEntry(b []byte) Entry { return Entry{text: b} }

// Int is the entry as an integer; ok is false if it is none.
func (e Entry) Int() (n int64, ok bool) {
	if e.isInt {
		return e.num, true
	}
	return ParseInt(string(e.text))
}

// Len is the length of the entry as text.
func (e Entry) Len() int {
	if !e.isInt {
		return len(e.text)
	}
	var buf [maxIntText]byte
	return len(strconv.AppendInt(buf[:0], e.num, 10))
}

// String is a copy of the entry as text.
func (e Entry) String() string {
	if e.isInt {
		return strconv.FormatInt(e.num, 10)
	}
	return string(e.text)
}

// Reader reads the entries of a listpack in order.
type Reader struct {
	b    []byte
	at   int
	left int // entries that the header still promises, -1 if it doesn't count them
}

// NewReader checks the header of b. Entries are checked as they are read.
func NewReader(b []byte) (*Reader, error) {
	if len(b) < EmptySize || uint64(binary.LittleEndian.Uint32(b)) != uint64(len(b)) || b[len(b)-1] != end {
		return nil, ErrCorrupt
	}
	r := &Reader{b: b, at: headerSize, left: int(binary.LittleEndian.Uint16(b[4:]))}
	if r.left == manyEntries {
		r.left = -1
	}
	return r, nil
}

// More reports whether there are entries left.
func (r *Reader) More() bool { return r.at < len(r.b)-1 }

// Next is the next entry. Behind the last it is ErrCorrupt, as for an entry that is cut
// or has a wrong length behind it.
func (r *Reader) Next() (e Entry, err error) {
	body := r.b[r.at : len(r.b)-1]
	if len(body) == 0 || r.left == 0 {
		return e, ErrCorrupt
	}
	n, err := e.decode(body)
	if err != nil {
		return e, err
	}
	back := backSize(n)
	if len(body)-n < back || !backMatches(body[n:n+back], n) {
		return e, ErrCorrupt
	}
	r.at += n + back
	if r.left > 0 {
		r.left--
	}
	return e, nil
}

// Done is ErrCorrupt if entries were promised that are not there, or are there and
// were not read.
func (r *Reader) Done() error {
	if r.More() || r.left > 0 {
		return ErrCorrupt
	}
	return nil
}

// backMatches reports whether back is the length n as it stands behind an entry.
func backMatches(back []byte, n int) bool {
	got := 0
	for i, c := range back {
		if (i > 0) != (c&0x80 != 0) {
			return false
		}
		got = got<<7 | int(c&0x7F)
	}
	return got == n
}

// decode reads the entry at the start of b and returns its length without the length that
// stands behind it.
func (e *Entry) decode(b []byte) (n int, err error) {
	first := b[0]
	switch {
	case first&0x80 == 0:
		e.isInt, e.num = true, int64(first)
		return 1, nil
	case first&0xC0 == 0x80:
		return e.bytes(b, 1, uint64(first&0x3F))
	case len(b) < 2:
		return 0, ErrCorrupt
	case first&0xE0 == 0xC0:
		u := uint16(first&0x1F)<<8 | uint16(b[1])
		e.isInt, e.num = true, int64(int16(u<<3)>>3)
		return 2, nil
	case first&0xF0 == 0xE0:
		return e.bytes(b, 2, uint64(first&0x0F)<<8|uint64(b[1]))
	case first == text32 && len(b) >= 5:
		return e.bytes(b, 5, uint64(binary.LittleEndian.Uint32(b[1:])))
	}
	return e.integer(b)
}

// integer reads an entry of two, three, four or eight bytes behind the first.
func (e *Entry) integer(b []byte) (n int, err error) {
	width := 0
	switch b[0] {
	case int16s:
		width = 2
	case int24s:
		width = 3
	case int32s:
		width = 4
	case int64s:
		width = 8
	}
	if width == 0 || len(b) < 1+width {
		return 0, ErrCorrupt
	}
	u := uint64(0)
	for i := width; i > 0; i-- {
		u = u<<8 | uint64(b[i])
	}
	shift := 64 - 8*width
	e.isInt, e.num = true, int64(u<<shift)>>shift
	return 1 + width, nil
}

func (e *Entry) bytes(b []byte, head int, size uint64) (n int, err error) {
	if size > uint64(len(b)-head) {
		return 0, ErrCorrupt
	}
	e.text = b[head : head+int(size)]
	return head + int(size), nil
}
