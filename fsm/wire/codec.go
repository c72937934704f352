package wire

// Record is a struct that names its fields once, for both ways: Fields calls c for each of
// them in the order of the format. What c was made for decides whether that writes or reads.
//
// A field that came later is appended at the end, and reads as zero from older bytes.
type Record interface{ Fields(c *Codec) }

// Codec writes the fields that it is pointed to, or reads them: see Record.
type Codec struct {
	reading bool
	w       Writer
	r       Reader
}

// Encoder is a codec that writes; the bytes are those of B.
func Encoder(buffer []byte) *Codec { return &Codec{w: Writer{B: buffer}} }

// Decoder is a codec that reads from b, which it never changes.
func Decoder(b []byte) *Codec { return &Codec{reading: true, r: Reader{b: b}} }

// Put appends the fields of v.
func (w *Writer) Put(v Record) {
	c := codecs.Get().(*Codec)
	c.w = *w
	v.Fields(c)
	*w = c.w
	c.release()
}

// PutRecord appends the fields of v behind their length.
func (w *Writer) PutRecord(v Record) {
	start := len(w.B)
	w.Put(v)
	w.prefix(start)
}

// Get reads the fields of v, which may alias what r reads from.
func (r *Reader) Get(v Record) {
	c := codecs.Get().(*Codec)
	c.reading, c.r = true, *r
	v.Fields(c)
	*r = c.r
	c.release()
}

// GetRecord reads what PutRecord wrote.
func (r *Reader) GetRecord(v Record) {
	c := Codec{reading: true, r: *r}
	c.Record(v.Fields)
	*r = c.r
}

// Marshal is v in its format.
func Marshal(v Record) []byte {
	c := Encoder(nil)
	v.Fields(c)
	return c.w.B
}

// Unmarshal reads v from all of b, which v may alias afterwards.
func Unmarshal(b []byte, v Record) error {
	c := Decoder(b)
	v.Fields(c)
	return c.r.Done()
}

// Unmarshal is the function of that name with a codec that is used again. It holds nothing of b afterwards.
func (c *Codec) Unmarshal(b []byte, v Record) error {
	*c = Codec{reading: true, r: Reader{b: b}}
	v.Fields(c)
	err := c.r.Done()
	*c = Codec{}
	return err
}

// Copy makes to, which is zero, a copy of from that shares nothing with it but its own bytes.
func Copy(to, from Record) {
	b := Marshal(from)
	to.Fields(Decoder(append(make([]byte, 0, len(b)), b...)))
}

// Reading reports whether the codec reads.
func (c *Codec) Reading() bool { return c.reading }

// B returns the bytes written so far.
func (c *Codec) B() []byte { return c.w.B }

// Writer returns the codec's writer, for formats that Fields can't describe.
func (c *Codec) Writer() *Writer { return &c.w }

// Reader returns the codec's reader, for formats that Fields can't describe.
func (c *Codec) Reader() *Reader { return &c.r }

// Done is the first error met, or ErrLeftover if anything is unread.
func (c *Codec) Done() error { return c.r.Done() }

// Fail makes err what Done reports, unless there was an error before; nil does nothing.
func (c *Codec) Fail(err error) {
	if err != nil && c.r.err == nil {
		c.r.err, c.r.b = err, nil
	}
}

// More reports whether the fields that follow are there: written only if some of them is
// set, read only if there are bytes left. It stands before the last fields of a record.
func (c *Codec) More(set bool) bool {
	if c.reading {
		return c.r.Len() > 0
	}
	return set
}

// Grow makes place for about n bytes, if nothing was written yet.
func (c *Codec) Grow(n int) {
	if c.w.B == nil {
		c.w.B = make([]byte, 0, n)
	}
}

// Uvarint is an unsigned number.
func (c *Codec) Uvarint(v *uint64) {
	if c.reading {
		*v = c.r.Uvarint()
	} else {
		c.w.Uvarint(*v)
	}
}

// Varint is a signed number.
func (c *Codec) Varint(v *int64) {
	if c.reading {
		*v = c.r.Varint()
	} else {
		c.w.Varint(*v)
	}
}

// Int is a signed number.
func (c *Codec) Int(v *int) {
	if c.reading {
		*v = int(c.r.Varint())
	} else {
		c.w.Varint(int64(*v))
	}
}

// Bool is a truth value.
func (c *Codec) Bool(v *bool) {
	if c.reading {
		*v = c.r.Bool()
	} else {
		c.w.Bool(*v)
	}
}

// Bytes is a length and the bytes. What is read aliases the input, and is nil if it is empty.
func (c *Codec) Bytes(v *[]byte) {
	if !c.reading {
		c.w.Bytes(*v)
		return
	}
	if *v = c.r.Bytes(); len(*v) == 0 {
		*v = nil
	}
}

// String is a length and the bytes of a text, which is copied when it is read.
func (c *Codec) String(v *string) {
	if c.reading {
		*v = c.r.String()
	} else {
		c.w.String(*v)
	}
}

// Text is String, but what is read aliases the input, as Reader.Alias does.
func (c *Codec) Text(v *string) {
	if c.reading {
		*v = c.r.Alias()
	} else {
		c.w.String(*v)
	}
}

// Texts is a list of Text.
func (c *Codec) Texts(v *[]string) {
	if c.reading {
		*v = c.r.Texts()
	} else {
		c.w.Texts(*v)
	}
}

// Fixed is bytes of a length that both sides know.
func (c *Codec) Fixed(v []byte) {
	if c.reading {
		copy(v, c.r.Fixed(len(v)))
	} else {
		c.w.Fixed(v)
	}
}

// Byte is a single byte.
func (c *Codec) Byte(v *byte) {
	if c.reading {
		*v = c.r.Fixed(1)[0]
	} else {
		c.w.B = append(c.w.B, *v)
	}
}

// Record codes the values that fields names, after their length. Fields missing at the end read as
// zero; fields left over are an error.
func (c *Codec) Record(fields func(*Codec)) {
	if c.reading {
		c.in(c.r.Bytes(), fields)
		return
	}
	start := len(c.w.B)
	fields(c)
	c.w.prefix(start)
}

// in reads fields from b.
func (c *Codec) in(b []byte, fields func(*Codec)) {
	rest := c.r.b
	c.r.b = b
	fields(c)
	if c.r.err = c.r.Done(); c.r.err != nil {
		rest = nil
	}
	c.r.b = rest
}

// Skip is a record that is empty when it is written, and passed over when it is read.
func (c *Codec) Skip() {
	if c.reading {
		c.r.Bytes()
	} else {
		c.w.Uvarint(0)
	}
}

// Uint is an unsigned number of another type than uint64.
func Uint[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int | ~int64](c *Codec, v *T) {
	if c.reading {
		*v = T(c.r.Uvarint())
	} else {
		c.w.Uvarint(uint64(*v))
	}
}

// Enum is one of the values below limit. What is read is at most limit itself: a value that
// this binary doesn't know is told apart from those that it knows.
func Enum[T ~uint8](c *Codec, v *T, limit T) {
	if c.reading {
		*v = T(min(c.r.Uvarint(), uint64(limit)))
	} else {
		c.w.Uvarint(uint64(*v))
	}
}

// record is a pointer to a T that is a Record.
type record[T any] interface {
	*T
	Record
}

// Optional is a record that may be missing: one without bytes.
func Optional[T any, P record[T]](c *Codec, v **T) {
	if !c.reading {
		c.Record(func(c *Codec) {
			if *v != nil {
				P(*v).Fields(c)
			}
		})
		return
	}
	if b := c.r.Bytes(); len(b) > 0 {
		*v = new(T)
		c.in(b, P(*v).Fields)
	} else {
		*v = nil
	}
}

// List is the number of elements and the fields of each, which take at least least bytes
// (see Reader.Count); nil if it is empty.
func List[T any, P record[T]](c *Codec, v *[]T, least int) {
	length(c, v, least)
	for i := range *v {
		P(&(*v)[i]).Fields(c)
	}
}

// Records is the number of elements and each of them as a record; nil if it is empty.
func Records[T any, P record[T]](c *Codec, v *[]T) {
	length(c, v, 1)
	for i := range *v {
		c.Record(P(&(*v)[i]).Fields)
	}
}

// Each is the number of elements, of which each takes at least a byte, and what field makes
// of each; nil if it is empty.
func Each[T any](c *Codec, v *[]T, field func(*Codec, *T)) {
	length(c, v, 1)
	for i := range *v {
		field(c, &(*v)[i])
	}
}

// length writes how long a list is, or reads that and makes the list.
func length[T any](c *Codec, v *[]T, least int) {
	if !c.reading {
		c.w.Uvarint(uint64(len(*v)))
		return
	}
	if *v = nil; c.r.err == nil {
		if n := c.r.Count(least); n > 0 {
			*v = make([]T, n)
		}
	}
}
