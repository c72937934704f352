package load

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// alphabet has 64 characters, so that six random bits choose one; none of them
// needs escaping in JSON, in a URL path or (but for '_') in base64.
const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// Template is a text with placeholders, cut once and filled for every request:
//
//	{key}  a random key number below Keys, twelve digits (which are valid
//	       base64 of nine bytes, so etcd's gateway takes them as they are)
//	{seq}  the number of this request or row on its connection
//	{val}  ValueSize random characters
//	{val64} the same as valid base64, ValueSize characters
type Template struct {
	text  []string
	holes []byte
}

// holeNames maps a placeholder to its one-letter code in Template.holes.
var holeNames = []struct {
	name string
	code byte
}{{"{key}", 'k'}, {"{seq}", 's'}, {"{val}", 'v'}, {"{val64}", '6'}}

// Parse cuts s at its placeholders. Unknown names in braces stay text.
func Parse(s string) Template {
	var t Template
	for {
		at, code, width := nextHole(s)
		if code == 0 {
			t.text = append(t.text, s)
			return t
		}
		t.text = append(t.text, s[:at])
		t.holes = append(t.holes, code)
		s = s[at+width:]
	}
}

// nextHole finds the first placeholder of s; code is 0 when there is none.
func nextHole(s string) (at int, code byte, width int) {
	at = len(s)
	for _, h := range holeNames {
		if i := strings.Index(s, h.name); i >= 0 && i < at {
			at, code, width = i, h.code, len(h.name)
		}
	}
	return at, code, width
}

// filler holds what the placeholders of one connection draw from.
type filler struct {
	rng   *rand.Rand
	keys  int
	value int
	seq   uint64
	fill  bool // {key} counts up with seq instead of being random
}

// append writes t with its placeholders filled and returns the longer b.
func (f *filler) append(b []byte, t *Template) []byte {
	for i, s := range t.text {
		b = append(b, s...)
		if i == len(t.holes) {
			break
		}
		switch t.holes[i] {
		case 'k':
			b = appendKey(b, f.key())
		case 's':
			b = strconv.AppendUint(b, f.seq, 10)
		case 'v':
			b = f.appendValue(b, alphabet)
		case '6':
			b = f.appendValue(b, alphabet[:62]+"+/")
		}
	}
	f.seq++
	return b
}

// key is the number for {key}.
func (f *filler) key() uint64 {
	if f.fill {
		return f.seq
	}
	return f.rng.Uint64N(uint64(f.keys))
}

// appendKey writes n as twelve digits.
func appendKey(b []byte, n uint64) []byte {
	var digits [12]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, digits[:]...)
}

// appendValue writes f.value random characters, ten for each random word.
func (f *filler) appendValue(b []byte, letters string) []byte {
	for n := f.value; n > 0; n -= 10 {
		r := f.rng.Uint64()
		for range min(n, 10) {
			b = append(b, letters[r&63])
			r >>= 6
		}
	}
	return b
}

// Bodies makes bodies from a template for a Caller.
type Bodies struct {
	template Template
	fill     filler
	buffer   []byte
}

// NewBodies fills template with random keys below keys and values of value
// characters.
func NewBodies(template string, keys, value int) *Bodies {
	return &Bodies{template: Parse(template), fill: filler{rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), keys: keys, value: value}}
}

// Next is the next body.
func (b *Bodies) Next() string {
	b.buffer = b.fill.append(b.buffer[:0], &b.template)
	return string(b.buffer)
}
