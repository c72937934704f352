package rdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
)

// fileOf is a file of values, in two databases, with everything that may stand between.
func fileOf(bodies [][]byte) []byte {
	w := writer{b: []byte("REDIS0012\xfa\x09redis-ver\x057.4.0\xfa\x0aredis-bits\xc0\x40\xf5\x09#!lua abc")}
	w.b = append(w.b, "\xf7"...)
	w.length(moduleID("scdtype00", 1))
	w.b = append(w.b, "\x02\x02\x01\x05\x02\x06\x03\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x05\x01x\x00"...)
	w.b = append(w.b, "\xfe\x00\xfb\x05\x02\xf4\x01\x02\x03"...)
	for i, body := range bodies {
		switch i % 4 {
		case 0:
			w.b = append(w.b, "\xfc\x00\x00\x00\x00\x00\x00\x01\x00"...)
		case 1:
			w.b = append(w.b, "\xf8\x05"...)
		case 2:
			w.b = append(w.b, "\xf9\x07\xfe\x05"...)
		}
		w.kind(Type(body[0]))
		w.text(fmt.Sprint("key number ", i))
		w.b = append(w.b, body[1:]...)
	}
	w.b = append(w.b, opEnd)
	sum := Checksum(0, w.b)
	for i := range 8 {
		w.b = append(w.b, byte(sum>>(8*i)))
	}
	return w.b
}

// TestFile reads back a file of values of all types.
func TestFile(t *testing.T) {
	for _, draw := range values {
		rapid.Check(t, func(t *rapid.T) {
			var bodies [][]byte
			for range rapid.IntRange(0, 5).Draw(t, "n") {
				payload, err := Dump(stored(draw(t)), env.At(now))
				if err != nil {
					t.Fatal(err)
				}
				bodies = append(bodies, payload[:len(payload)-footerSize])
			}
			text := fileOf(bodies)
			f, err := OpenFile(iotest.OneByteReader(bytes.NewReader(text)), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]byte
			kinds := map[ItemKind]int{}
			for {
				item, err := f.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if kinds[item.Kind]++; item.Kind != ItemKey {
					continue
				}
				i := len(got)
				if string(item.Name) != fmt.Sprint("key number ", i) || (item.Expire == 1<<48) != (i%4 == 0) || (item.DB == 5) != (i >= 2) {
					t.Fatalf("%d: %+v", i, item)
				}
				got = append(got, bytes.Clone(item.Value))
			}
			if fmt.Sprint(got) != fmt.Sprint(bodies) || kinds[ItemAux] != 2 || kinds[ItemFunctions] != 1 || kinds[ItemModule] != 1 || f.Offset() != int64(len(text)) {
				t.Fatalf("%d values of %d, %v, at byte %d of %d", len(got), len(bodies), kinds, f.Offset(), len(text))
			}
		})
	}
}

// readFile reads a file to its end and counts its keys.
func readFile(b []byte, most int) (keys int, err error) {
	f, err := OpenFile(bytes.NewReader(b), most)
	for err == nil {
		var item Item
		if item, err = f.Next(); err == nil && item.Kind == ItemKey {
			keys++
		}
		if len(item.Value) > most {
			return keys, fmt.Errorf("a value of %d bytes was kept", len(item.Value))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return keys, err
}

// TestDamagedFiles cuts a file and turns its bits over: the checksum finds what nothing
// else does.
func TestDamagedFiles(t *testing.T) {
	b := fileOf([][]byte{[]byte("\x00\x05hello"), []byte("\x12\x01\x02\x0c\x0c\x00\x00\x00\x02\x00\x81a\x02\x01\x01\xff")})
	if n, err := readFile(b, 1000); n != 2 || err != nil {
		t.Fatalf("%d keys: %v", n, err)
	}
	for i := range b {
		if _, err := readFile(b[:i], 1000); !errors.Is(err, ErrFormat) {
			t.Errorf("cut at %d: %v", i, err)
		}
		if i >= len(magic) && i < magicSize {
			continue // an old version, without a checksum
		}
		bad := bytes.Clone(b)
		bad[i] ^= 1 << rand.IntN(8)
		if _, err := readFile(bad, 1000); !errors.Is(err, ErrFormat) && !errors.Is(err, ErrRoom) {
			t.Errorf("byte %d of %d changed: %v", i, len(b), err)
		}
	}
}

// FuzzFile reads any bytes as a file: no more is kept than is allowed.
func FuzzFile(f *testing.F) {
	f.Add(fileOf([][]byte{[]byte("\x00\x05hello"), []byte("\x12\x01\x02\x0c\x0c\x00\x00\x00\x02\x00\x81a\x02\x01\x01\xff")}))
	f.Add([]byte("REDIS0009\x00\x01k\x81\x7f\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		const most = 1000
		if _, err := readFile(b, most); err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrRoom) {
			t.Fatal(err)
		}
	})
}
