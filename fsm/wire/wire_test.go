package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// TestScalarsRoundTrip writes the edges of each kind of field and reads them back in order.
func TestScalarsRoundTrip(t *testing.T) {
	unsigned := []uint64{0, 1, 127, 128, 300, 1 << 32, math.MaxUint64}
	signed := []int64{0, 1, -1, 63, 64, -64, -65, math.MaxInt64, math.MinInt64}
	texts := []string{"", "a", "\x00", "Grüße", string(make([]byte, 200)), strings.Repeat("long", 1<<17), strings.Repeat("longer", 1<<17)}
	var w wire.Writer
	for _, v := range unsigned {
		w.Uvarint(v)
	}
	for _, v := range signed {
		w.Varint(v)
	}
	w.Bool(true)
	w.Bool(false)
	for _, v := range texts {
		w.String(v)
		w.Bytes([]byte(v))
	}
	w.Fixed([]byte{1, 2, 3})
	w.Texts(texts)
	w.Bool(true) // so that nothing above ends the input

	r := wire.NewReader(w.B)
	for _, want := range unsigned {
		if got := r.Uvarint(); got != want {
			t.Errorf("unsigned: got %d, want %d", got, want)
		}
	}
	for _, want := range signed {
		if got := r.Varint(); got != want {
			t.Errorf("signed: got %d, want %d", got, want)
		}
	}
	if !r.Bool() || r.Bool() {
		t.Error("true and false were read otherwise")
	}
	for _, want := range texts {
		if got := r.String(); got != want {
			t.Errorf("text: got %q, want %q", got, want)
		}
		if got := r.Bytes(); string(got) != want {
			t.Errorf("bytes: got %q, want %q", got, want)
		}
	}
	if got := r.Fixed(3); !bytes.Equal(got, []byte{1, 2, 3}) {
		t.Errorf("fixed: got %v", got)
	}
	if got := r.Texts(); !reflect.DeepEqual(got, texts) {
		t.Errorf("list of texts: got %q", got)
	}
	if !r.Bool() || r.Done() != nil || r.Len() != 0 {
		t.Errorf("at the end: %d bytes left, error %v", r.Len(), r.Done())
	}
}

// TestMissingFieldsReadAsZero: an older record ends before fields that came later.
func TestMissingFieldsReadAsZero(t *testing.T) {
	r := wire.NewReader(nil)
	switch {
	case r.Uvarint() != 0, r.Varint() != 0, r.Bool(), r.Bytes() != nil && len(r.Bytes()) > 0, r.String() != "", r.Alias() != "":
		t.Error("a missing field is not zero")
	case r.Texts() != nil, r.Count(1) != 0, !bytes.Equal(r.Fixed(4), make([]byte, 4)):
		t.Error("a missing list or fixed field is not zero")
	}
	if err := r.Done(); err != nil {
		t.Errorf("missing fields are an error: %v", err)
	}
}

// TestReaderRefusesDamage reads one field from bytes that can't be one.
func TestReaderRefusesDamage(t *testing.T) {
	overlong := bytes.Repeat([]byte{0xff}, 11)
	huge := binary.AppendUvarint(nil, math.MaxUint64)
	for _, c := range []struct {
		name string
		b    []byte
		read func(*wire.Reader)
	}{
		{"unsigned number without an end", []byte{0x80}, func(r *wire.Reader) { r.Uvarint() }},
		{"unsigned number above 64 bits", overlong, func(r *wire.Reader) { r.Uvarint() }},
		{"signed number without an end", []byte{0x80, 0x80}, func(r *wire.Reader) { r.Varint() }},
		{"signed number above 64 bits", overlong, func(r *wire.Reader) { r.Varint() }},
		{"truth value 2", []byte{2}, func(r *wire.Reader) { r.Bool() }},
		{"bytes shorter than their length", []byte{3, 'a', 'b'}, func(r *wire.Reader) { r.Bytes() }},
		{"text of a huge length", huge, func(r *wire.Reader) { _ = r.String() }},
		{"alias of a huge length", huge, func(r *wire.Reader) { r.Alias() }},
		{"fixed bytes that are too few", []byte{1, 2}, func(r *wire.Reader) { r.Fixed(3) }},
		{"more elements than bytes", []byte{4, 0, 0, 0}, func(r *wire.Reader) { r.Count(1) }},
		{"elements that are too large", []byte{2, 0, 0, 0}, func(r *wire.Reader) { r.Count(2) }},
		{"list of a huge length", huge, func(r *wire.Reader) { r.Texts() }},
		{"record shorter than its length", []byte{9, 1}, func(r *wire.Reader) { r.Record() }},
	} {
		r := wire.NewReader(c.b)
		c.read(r)
		if !errors.Is(r.Err(), wire.ErrTruncated) || !errors.Is(r.Done(), wire.ErrTruncated) {
			t.Errorf("%s: error %v", c.name, r.Err())
		}
		if r.Len() != 0 || r.Uvarint() != 0 || r.String() != "" || r.Bool() {
			t.Errorf("%s: fields after the error are not zero", c.name)
		}
	}
}

// TestFirstErrorStays: what comes after a failure must not hide it.
func TestFirstErrorStays(t *testing.T) {
	c := wire.Decoder([]byte{9, 1})
	var b []byte
	c.Bytes(&b)
	c.Fail(errors.New("second"))
	if !errors.Is(c.Done(), wire.ErrTruncated) {
		t.Errorf("error %v", c.Done())
	}
	own := errors.New("own")
	c = wire.Decoder([]byte{1, 2, 3})
	c.Fail(nil)
	c.Fail(own)
	var n uint64
	if c.Uvarint(&n); n != 0 || !errors.Is(c.Done(), own) {
		t.Errorf("after Fail: read %d, error %v", n, c.Done())
	}
}

// TestLeftoverBytes: a record of a newer version has fields that this binary does not know.
func TestLeftoverBytes(t *testing.T) {
	r := wire.NewReader([]byte{1, 2})
	r.Uvarint()
	if err := r.Done(); !errors.Is(err, wire.ErrLeftover) || r.Err() != nil {
		t.Errorf("done %v, error %v", err, r.Err())
	}
	if rest := r.Rest(); !bytes.Equal(rest, []byte{2}) || r.Done() != nil {
		t.Errorf("rest %v, then %v", rest, r.Done())
	}
}

// TestBytesDoNotGrowIntoTheInput: appending to a field must not write over the next one.
func TestBytesDoNotGrowIntoTheInput(t *testing.T) {
	in := []byte{1, 'a', 1, 'b', 'c', 'd'}
	r := wire.NewReader(in)
	_ = append(r.Bytes(), 'X')
	_ = r.Bytes()
	_ = append(r.Fixed(1), 'Y')
	if !bytes.Equal(in, []byte{1, 'a', 1, 'b', 'c', 'd'}) {
		t.Errorf("the input became %q", in)
	}
}

// TestNestedRecords writes records within records, of lengths around those where the prefix grows.
func TestNestedRecords(t *testing.T) {
	for _, n := range []int{0, 1, 126, 127, 128, 129, 16383, 16384} {
		body := bytes.Repeat([]byte{7}, n)
		var w wire.Writer
		w.Uvarint(42)
		w.Record(func(w *wire.Writer) {
			w.Record(func(w *wire.Writer) { w.Fixed(body) })
			w.Bool(true)
		})
		w.Uvarint(43)
		r := wire.NewReader(w.B)
		if v := r.Uvarint(); v != 42 {
			t.Fatalf("%d bytes: before the record %d", n, v)
		}
		outer := r.Record()
		inner := outer.Record()
		if got := inner.Rest(); !bytes.Equal(got, body) {
			t.Errorf("%d bytes: inner record has %d", n, len(got))
		}
		if !outer.Bool() || outer.Done() != nil {
			t.Errorf("%d bytes: outer record ends with %v", n, outer.Done())
		}
		if v := r.Uvarint(); v != 43 || r.Done() != nil {
			t.Errorf("%d bytes: after the record %d, error %v", n, v, r.Done())
		}
	}
}

// point and shape are records with every kind of field.
type point struct{ X, Y int64 }

func (p *point) Fields(c *wire.Codec) {
	c.Varint(&p.X)
	c.Varint(&p.Y)
}

type color uint8

const colors color = 3

type shape struct {
	Number uint64
	Count  int
	Flag   bool
	Raw    []byte
	Name   string
	Alias  string
	Tags   []string
	Key    [4]byte
	Kind   byte
	Small  uint16
	Color  color
	Center *point
	Corner *point
	List   []point
	Boxes  []point
	Sizes  []uint64
	// Later came with a newer version.
	Later string
}

func (s *shape) Fields(c *wire.Codec) {
	c.Grow(64)
	c.Uvarint(&s.Number)
	c.Int(&s.Count)
	c.Bool(&s.Flag)
	c.Bytes(&s.Raw)
	c.String(&s.Name)
	c.Text(&s.Alias)
	c.Texts(&s.Tags)
	c.Fixed(s.Key[:])
	c.Byte(&s.Kind)
	c.Skip()
	wire.Uint(c, &s.Small)
	wire.Enum(c, &s.Color, colors)
	wire.Optional(c, &s.Center)
	wire.Optional(c, &s.Corner)
	wire.List(c, &s.List, 2)
	wire.Records(c, &s.Boxes)
	wire.Each(c, &s.Sizes, func(c *wire.Codec, v *uint64) { c.Uvarint(v) })
	if c.More(s.Later != "") {
		c.String(&s.Later)
	}
}

func fullShape() shape {
	return shape{
		Number: 9, Count: -3, Flag: true, Raw: []byte("raw"), Name: "name", Alias: "alias", Tags: []string{"a", ""}, Key: [4]byte{1, 2, 3, 4},
		Kind: 'k', Small: 65535, Color: 2, Center: &point{1, -2}, List: []point{{3, 4}, {5, 6}}, Boxes: []point{{0, 0}, {-7, 8}}, Sizes: []uint64{0, 300}, Later: "later",
	}
}

// TestRecordRoundTrip: what Marshal writes Unmarshal reads, for a full record, an empty one and each one without its last field.
func TestRecordRoundTrip(t *testing.T) {
	full, older := fullShape(), fullShape()
	older.Later = ""
	for _, want := range []shape{{}, full, older} {
		var got shape
		if err := wire.Unmarshal(wire.Marshal(&want), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, error %v, want %+v", got, err, want)
		}
	}
	if a, b := wire.Marshal(&full), wire.Marshal(&older); !bytes.HasPrefix(a, b) || len(a) == len(b) {
		t.Error("the later field is not an addition at the end")
	}
}

// TestRecordCutAnywhere: no prefix of a record panics, and none but those that end at a field is accepted as another record of
// full length.
func TestRecordCutAnywhere(t *testing.T) {
	full := fullShape()
	b := wire.Marshal(&full)
	for n := range b {
		var got shape
		if err := wire.Unmarshal(b[:n], &got); err == nil && reflect.DeepEqual(got, full) {
			t.Errorf("%d of %d bytes read as the whole record", n, len(b))
		}
	}
	var got shape
	if err := wire.Unmarshal(append(b, 0), &got); !errors.Is(err, wire.ErrLeftover) {
		t.Errorf("a byte too many: %v", err)
	}
}

// TestEnumOfTheFuture: an unknown value reads as the limit, never as one that is known.
func TestEnumOfTheFuture(t *testing.T) {
	for v, want := range map[uint64]color{0: 0, 2: 2, 3: colors, 4: colors, 255: colors, 256: colors, 1 << 40: colors} {
		var got color
		c := wire.Decoder(binary.AppendUvarint(nil, v))
		if wire.Enum(c, &got, colors); got != want || c.Done() != nil {
			t.Errorf("%d: got %d, error %v, want %d", v, got, c.Done(), want)
		}
	}
}

// TestListsAreNotAllocatedByDamagedLengths: the length of a list is checked against the bytes that are there.
func TestListsAreNotAllocatedByDamagedLengths(t *testing.T) {
	b := binary.AppendUvarint(nil, 1<<40)
	for name, read := range map[string]func(*wire.Codec) int{
		"list":    func(c *wire.Codec) int { var l []point; wire.List(c, &l, 2); return len(l) },
		"records": func(c *wire.Codec) int { var l []point; wire.Records(c, &l); return len(l) },
		"each": func(c *wire.Codec) int {
			var l []uint64
			wire.Each(c, &l, func(c *wire.Codec, v *uint64) { c.Uvarint(v) })
			return len(l)
		},
	} {
		c := wire.Decoder(b)
		if n := read(c); n != 0 || !errors.Is(c.Done(), wire.ErrTruncated) {
			t.Errorf("%s: %d elements, error %v", name, n, c.Done())
		}
	}
}

// TestRecordWithinARecord: a damaged inner record fails the outer one, and an unknown field of the inner one is not skipped.
func TestRecordWithinARecord(t *testing.T) {
	write := func(inner []byte) []byte {
		var w wire.Writer
		w.Bytes(inner)
		w.Uvarint(5)
		return w.B
	}
	read := func(b []byte) (p point, after uint64, err error) {
		c := wire.Decoder(b)
		c.Record(p.Fields)
		c.Uvarint(&after)
		return p, after, c.Done()
	}
	if p, after, err := read(write([]byte{2, 4})); p != (point{1, 2}) || after != 5 || err != nil {
		t.Errorf("whole: %v, %d, %v", p, after, err)
	}
	if p, after, err := read(write([]byte{2})); p != (point{X: 1}) || after != 5 || err != nil {
		t.Errorf("without its last field: %v, %d, %v", p, after, err)
	}
	if _, after, err := read(write([]byte{2, 4, 6})); after != 0 || !errors.Is(err, wire.ErrLeftover) {
		t.Errorf("with an unknown field: %d, %v", after, err)
	}
	if _, after, err := read(write([]byte{0x80})); after != 0 || !errors.Is(err, wire.ErrTruncated) {
		t.Errorf("damaged: %d, %v", after, err)
	}
}

// TestRecordMethodsAgree: Put and PutRecord write what Fields writes, and Get and GetRecord read it.
func TestRecordMethodsAgree(t *testing.T) {
	p := point{5, -6}
	var w wire.Writer
	w.Put(&p)
	if !bytes.Equal(w.B, wire.Marshal(&p)) {
		t.Errorf("Put writes %v, Marshal %v", w.B, wire.Marshal(&p))
	}
	w.PutRecord(&p)
	r := wire.NewReader(w.B)
	var plain, framed point
	r.Get(&plain)
	r.GetRecord(&framed)
	if plain != p || framed != p || r.Done() != nil {
		t.Errorf("got %v and %v, error %v", plain, framed, r.Done())
	}
	c := wire.Encoder([]byte("head"))
	if p.Fields(c); !bytes.Equal(c.B(), append([]byte("head"), wire.Marshal(&p)...)) || c.Reading() || !bytes.Equal(c.Writer().B, c.B()) {
		t.Errorf("an encoder with a buffer wrote %q", c.B())
	}
	if d := wire.Decoder([]byte{2}); !d.Reading() || d.Reader().Len() != 1 {
		t.Error("a decoder does not read")
	}
}

// TestCopySharesNothing: a change of the original's bytes does not reach the copy.
func TestCopySharesNothing(t *testing.T) {
	from := fullShape()
	var to shape
	wire.Copy(&to, &from)
	from.Raw[0], from.Tags[0], from.Center.X, from.List[0].X = 'X', "changed", 99, 99
	if want := fullShape(); !reflect.DeepEqual(to, want) {
		t.Errorf("the copy became %+v", to)
	}
}

// FuzzReader reads arbitrary bytes as a record: it must not panic, and what it accepts must be written and read again alike.
func FuzzReader(f *testing.F) {
	full := fullShape()
	f.Add(wire.Marshal(&full))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second shape
		if wire.Unmarshal(bytes.Clone(b), &first) != nil {
			return
		}
		if err := wire.Unmarshal(wire.Marshal(&first), &second); err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("%v reads as %+v, which reads as %+v, error %v", b, first, second, err)
		}
	})
}
