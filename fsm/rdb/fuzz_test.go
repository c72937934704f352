package rdb

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/listpack"
)

func packedOf(entries []string) []byte {
	var p listpack.Builder
	for _, e := range entries {
		p.Add(e)
	}
	return p.Bytes()
}

// FuzzDecode reads any bytes as a value. What is taken comes back the same through a
// dump, and takes no more room than was given.
func FuzzDecode(f *testing.F) {
	for _, draw := range values {
		for seed := range 4 {
			payload, err := Dump(stored(rapid.Custom(draw).Example(seed)), env.At(now))
			if err != nil {
				f.Fatal(err)
			}
			if len(payload) < 4096 {
				f.Add(payload[:len(payload)-footerSize])
			}
		}
	}
	f.Add([]byte("\x0a\x15\x15\x00\x00\x00\x12\x00\x00\x00\x03\x00\x00\xc0\xe8\x03\x04\xfe\x80\x03\x01a\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		const space = 1 << 20
		before := bytes.Clone(b)
		v, err := Decode(b, now, space)
		if !bytes.Equal(b, before) {
			t.Fatal("reading changes what is read")
		}
		if err != nil || v.Data != nil && v.Data.Size() == 0 {
			return
		}
		o := stored(v)
		if o == nil {
			return // every field was past its deadline
		}
		if reloaded(v) != content(v) {
			t.Fatalf("%x is a value that no snapshot holds", b)
		}
		if o.Size() > 8*space {
			t.Fatalf("%d bytes grew to %d", len(b), o.Size())
		}
		payload, err := Dump(o, env.At(now))
		if err != nil {
			t.Fatal(err)
		}
		again, err := restore(payload, now, 16*space)
		if err != nil || content(again) != content(v) && v.Data != nil && v.Data.Type() != keyspace.SortedSet && v.Data.Type() != keyspace.Stream {
			t.Fatalf("%x came back through %x as %q: %v", b, payload, content(again), err)
		}
	})
}
