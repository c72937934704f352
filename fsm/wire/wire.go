package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrTruncated says that a field ends before its length says so.
var ErrTruncated = errors.New("wire: truncated field")

// ErrLeftover says that a record holds fields this binary doesn't know.
var ErrLeftover = errors.New("wire: unknown fields at the end of a record")

// Writer appends fields to B.
type Writer struct {
	B []byte
	// Digests asks for the digests of large byte strings in place of their bytes: what is written is hashed, and never read.
	Digests bool
	// References, if it is set, collects the large byte strings that are named in place of their bytes: see Large.
	References *References
}

// Uvarint appends an unsigned number.
func (w *Writer) Uvarint(v uint64) { w.B = binary.AppendUvarint(w.B, v) }

// Varint appends a signed number.
func (w *Writer) Varint(v int64) { w.B = binary.AppendVarint(w.B, v) }

// SizeOf returns the number of bytes that Uvarint appends for v.
func SizeOf(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// Bool appends a truth value.
func (w *Writer) Bool(v bool) {
	if v {
		w.B = append(w.B, 1)
	} else {
		w.B = append(w.B, 0)
	}
}

// Bytes appends a length and the bytes.
func (w *Writer) Bytes(v []byte) {
	w.Uvarint(uint64(len(v)))
	w.B = appendParts(w.B, v)
}

// String appends a length and the bytes of v.
func (w *Writer) String(v string) {
	w.Uvarint(uint64(len(v)))
	w.B = appendParts(w.B, v)
}

// Fixed appends v as it is, without a length.
func (w *Writer) Fixed(v []byte) { w.B = appendParts(w.B, v) }

// copyStep bytes are copied at a time: a copy can't be interrupted, and the whole process waits for its end when the collector
// begins a cycle.
const copyStep = 128 << 10

// appendParts is append in steps.
func appendParts[T []byte | string](b []byte, v T) []byte {
	if len(v) > copyStep {
		b = slices.Grow(b, len(v))
		for ; len(v) > copyStep; v = v[copyStep:] {
			b = appendPart(b, v[:copyStep])
		}
	}
	return append(b, v...)
}

// appendPart is a call of its own, at which the goroutine can be stopped.
//
//go:noinline
func appendPart[T []byte | string](b []byte, v T) []byte { return append(b, v...) }

// Record appends what f writes behind its length.
func (w *Writer) Record(f func(*Writer)) {
	start := len(w.B)
	f(w)
	w.prefix(start)
}

// prefix puts the length of what was written since start before it.
func (w *Writer) prefix(start int) {
	n := len(w.B) - start
	var head [binary.MaxVarintLen64]byte
	h := binary.PutUvarint(head[:], uint64(n))
	w.B = append(w.B, head[:h]...)
	copy(w.B[start+h:], w.B[start:start+n])
	copy(w.B[start:], head[:h])
}

// Reader reads fields in the order they were written. Its error is sticky: after
// the first one every field reads as zero, and Err or Done report it.
type Reader struct {
	b   []byte
	err error
	// references are what the records name, nil if large byte strings are read in the plain form.
	references *References
}

// NewReader reads from b, which it never changes. Byte fields alias b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err is the first error met.
func (r *Reader) Err() error { return r.err }

// Len is the number of bytes not read yet.
func (r *Reader) Len() int { return len(r.b) }

// Rest reads and returns the bytes that are not read yet.
func (r *Reader) Rest() []byte {
	b := r.b
	r.b = nil
	return b
}

// Done is Err, or ErrLeftover if anything is unread.
func (r *Reader) Done() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("%w: %d bytes", ErrLeftover, len(r.b))
	}
	return r.err
}

func (r *Reader) fail() {
	if r.err == nil {
		r.err = ErrTruncated
	}
	r.b = nil
}

// Uvarint reads an unsigned number.
func (r *Reader) Uvarint() uint64 {
	if len(r.b) == 0 {
		return 0
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Varint reads a signed number.
func (r *Reader) Varint() int64 {
	if len(r.b) == 0 {
		return 0
	}
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Bool reads a truth value; any byte but 0 and 1 is an error.
func (r *Reader) Bool() bool {
	if len(r.b) == 0 {
		return false
	}
	v := r.b[0]
	if v > 1 {
		r.fail()
		return false
	}
	r.b = r.b[1:]
	return v == 1
}

// Bytes reads a length and that many bytes; the result aliases the input.
func (r *Reader) Bytes() []byte {
	n := r.Uvarint()
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	return r.take(int(n))
}

// take returns the next n bytes, which must be there.
func (r *Reader) take(n int) []byte {
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// String reads a length and copies that many bytes.
func (r *Reader) String() string { return string(r.Bytes()) }

// Fixed reads n bytes without a length; the result aliases the input.
func (r *Reader) Fixed(n int) []byte {
	if len(r.b) == 0 && r.err == nil {
		return make([]byte, n)
	}
	if n > len(r.b) {
		r.fail()
		return make([]byte, n)
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// Count reads the number of elements that follow, of which each takes at least
// min bytes (1 or more): a larger claim than the input can hold is an error, so
// that a damaged length allocates nothing.
func (r *Reader) Count(min int) int {
	n := r.Uvarint()
	if n > uint64(len(r.b)/max(min, 1)) {
		r.fail()
		return 0
	}
	return int(n)
}

// Record reads a length and gives a Reader of that many bytes.
func (r *Reader) Record() *Reader {
	b := r.Bytes()
	return &Reader{b: b, err: r.err, references: r.references}
}
