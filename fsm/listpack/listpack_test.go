package listpack

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func build(entries ...string) ([]byte, int) {
	var p Builder
	for _, e := range entries {
		p.Add(e)
	}
	size := p.Size()
	return p.Bytes(), size
}

func read(t interface{ Fatalf(string, ...any) }, b []byte) (out []string) {
	r, err := NewReader(b)
	if err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	for r.More() {
		e, err := r.Next()
		if err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		if s := e.String(); len(s) != e.Len() {
			t.Fatalf("%q has length %d", s, e.Len())
		} else {
			out = append(out, s)
		}
	}
	if err := r.Done(); err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	return out
}

// TestBytes compares with lists that a redis-server made.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		entries []string
		want    string
	}{
		{nil, "070000000000ff"},
		{[]string{"a", "1"}, "0c000000020081610201" + "01ff"},
		{[]string{"-1", "128", "4096"}, "11000000" + "0300" + "dfff02" + "c08002" + "f1001003" + "ff"},
	} {
		b, size := build(c.entries...)
		if hex.EncodeToString(b) != c.want || size != len(b) {
			t.Errorf("%q: %x, size %d", c.entries, b, size)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	number := rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) })
	edge := rapid.SampledFrom([]string{"127", "128", "4095", "4096", "-4096", "-4097", "32767", "32768", "-32769", "8388607", "8388608", "-8388609",
		"2147483647", "2147483648", strconv.Itoa(math.MinInt64), strconv.Itoa(math.MaxInt64), "9223372036854775808", "-0", "007", "", "+1",
		strings.Repeat("x", 63), strings.Repeat("x", 64), strings.Repeat("x", 4095), strings.Repeat("x", 4096), strings.Repeat("x", 16380), strings.Repeat("x", 16379)})
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.OneOf(number, edge, rapid.String()), 0, 60).Draw(t, "entries")
		b, size := build(entries...)
		sum := EmptySize
		for _, e := range entries {
			sum += EntrySize(e)
		}
		if size != len(b) || sum != len(b) {
			t.Fatalf("%d bytes, %d told, %d added up", len(b), size, sum)
		}
		if got := read(t, b); !slices.Equal(got, entries) {
			t.Fatalf("%q came back as %q", entries, got)
		}
	})
}

// TestManyEntries has more than the header can count.
func TestManyEntries(t *testing.T) {
	entries := slices.Repeat([]string{"1"}, 70_000)
	b, _ := build(entries...)
	if got := read(t, b); len(got) != len(entries) {
		t.Errorf("%d entries came back", len(got))
	}
}

func TestCorrupt(t *testing.T) {
	good, _ := build("a", "1000000", strings.Repeat("x", 100))
	for i := range good {
		if _, err := entriesOf(good[:i]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	for _, one := range []string{
		"0b00000002008161020101",                                         // no end
		"0c0000000300816102" + "0101ff", "0c0000000100816102" + "0101ff", // counts
		"0c0000000200816103" + "0101ff", // length behind an entry
		"0c0000000200bf6102" + "0101ff", // longer than what is there
		"08000000" + "0100" + "f5" + "ff", "0d000000" + "0100" + "f0ffffffff05" + "ff",
	} {
		b, err := hex.DecodeString(one)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entriesOf(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", one, err)
		}
	}
}

func entriesOf(b []byte) (out []string, err error) {
	r, err := NewReader(b)
	if err != nil {
		return nil, err
	}
	for r.More() {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		out = append(out, e.String())
	}
	return out, r.Done()
}

// FuzzRead reads any bytes: entries that are no more than the bytes can hold, and the
// same again once they are written anew.
func FuzzRead(f *testing.F) {
	for _, entries := range [][]string{nil, {"a", "1"}, {"-1", "128", "4096", strings.Repeat("x", 100)}} {
		b, _ := build(entries...)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		entries, err := entriesOf(b)
		if !bytes.Equal(b, before) {
			t.Fatal("reading changes what is read")
		}
		if err != nil {
			return
		}
		if 2*len(entries) > len(b) {
			t.Fatalf("%d entries in %d bytes", len(entries), len(b))
		}
		again, _ := build(entries...)
		if got := read(t, again); !slices.Equal(got, entries) {
			t.Fatalf("%q came back as %q", entries, got)
		}
	})
}
