package wire

// Referable is a large byte string that a record may name instead of holding it.
type Referable interface {
	// Bytes are the bytes, which must not be changed.
	Bytes() []byte
	Len() int
	// Digest is the SHA-256 of the bytes.
	Digest() [32]byte
}

// References are the byte strings that records name, in the order in which they name them. The record itself has only the
// length; whoever writes the records writes the digests beside them.
type References struct {
	// All has every large byte string be named, whether it has a handle or not: what is written doesn't depend on the node then.
	All  bool
	list []Referable
}

// NewReferences are references to those strings.
func NewReferences(list []Referable) *References { return &References{list: list} }

// Add appends a string.
func (re *References) Add(v Referable) { re.list = append(re.list, v) }

// Take appends all strings to list, and forgets them.
func (re *References) Take(list []Referable) []Referable {
	list = append(list, re.list...)
	clear(re.list)
	re.list = re.list[:0]
	return list
}

// Len returns the number of strings that were not taken yet.
func (re *References) Len() int { return len(re.list) }

// next takes the first string. It returns nil if there is none, or if that has another length.
func (re *References) next(length uint64) Referable {
	if len(re.list) == 0 || uint64(re.list[0].Len()) != length {
		return nil
	}
	v := re.list[0]
	re.list = re.list[1:]
	return v
}

// Refer has r read large byte strings in the form in which a Writer with References writes them, and takes those that are
// named from rs. Nil reads the plain form.
func (r *Reader) Refer(rs *References) { r.references = rs }

// Refers reports whether large byte strings are read in that form.
func (r *Reader) Refers() bool { return r.references != nil }

// Large writes a byte string of which k is the handle, nil if it has none; b returns its bytes. A writer with References
// names one that has a handle.
func (w *Writer) Large(k Referable, b func() []byte) {
	switch {
	case w.References == nil:
		w.Bytes(b())
	case k == nil:
		v := b()
		w.Uvarint(uint64(len(v)) << 1)
		w.Fixed(v)
	default:
		w.Uvarint(uint64(k.Len())<<1 | 1)
		w.References.Add(k)
	}
}

// Large reads what Writer.Large wrote: the handle if it was named, the bytes otherwise, which alias the input.
func (r *Reader) Large() (Referable, []byte) {
	if r.references == nil {
		return nil, r.Bytes()
	}
	v := r.Uvarint()
	n := v >> 1
	if v&1 == 0 {
		if n > uint64(len(r.b)) {
			r.fail()
			return nil, nil
		}
		return nil, r.take(int(n))
	}
	k := r.references.next(n)
	if k == nil {
		r.fail()
	}
	return k, nil
}
