package logstore

import (
	"bytes"
	"testing"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// coded holds one entry as raft-boltdb codes it.
type coded struct {
	backend
	b []byte
}

func (c *coded) GetLog(_ uint64, l *raft.Log) error {
	return codec.NewDecoderBytes(c.b, &codec.MsgpackHandle{}).Decode(l)
}

func encode(t *testing.T, l *raft.Log) []byte {
	t.Helper()
	var b []byte
	h := &codec.MsgpackHandle{BasicHandle: codec.BasicHandle{TimeNotBuiltin: true}}
	if err := codec.NewEncoderBytes(&b, h).Encode(l); err != nil {
		t.Fatal(err)
	}
	return b
}

// Every bit of a coded entry: an error, or the entry as it was.
func TestEveryBitOfAnEntry(t *testing.T) {
	for _, index := range []uint64{1, 3, 70_000} {
		want := entry(index, 5)
		sealed := *want
		sealed.Extensions = appendSealed(nil, want, 2)
		c := &coded{b: encode(t, &sealed)}
		s := &Store{inner: c, path: "raft.db"}
		if l, pos, err := s.read(index); err != nil || pos != 2 || !sameEntry(&l, want) {
			t.Fatalf("unbroken: %+v %d %v", l, pos, err)
		}
		for bit := range 8 * len(c.b) {
			c.b[bit/8] ^= 1 << (bit % 8)
			if l, _, err := s.read(index); err == nil && !sameEntry(&l, want) {
				t.Fatalf("bit %d of byte %d: SILENT: %+v", bit%8, bit/8, l)
			}
			c.b[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// Whatever is sealed comes back, and no other entry passes under its sum.
func TestSealAndUnseal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := raft.Log{
			Index: rapid.Uint64().Draw(t, "index"), Term: rapid.Uint64().Draw(t, "term"),
			Type: raft.LogType(rapid.Byte().Draw(t, "type")), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
			Extensions: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "extensions"),
		}
		pos := rapid.Uint32().Draw(t, "pos")
		stored := l
		stored.Extensions = appendSealed(nil, &l, pos)
		moved := stored
		if got, ok := unseal(&stored); !ok || got != pos || !bytes.Equal(stored.Extensions, l.Extensions) {
			t.Fatalf("%+v came back as %+v, place %d, %v", l, stored, got, ok)
		}
		if len(l.Data) > 0 { // a byte that wanders over the border
			moved.Extensions = append([]byte{l.Data[len(l.Data)-1]}, moved.Extensions...)
			moved.Data = l.Data[:len(l.Data)-1]
			if _, ok := unseal(&moved); ok {
				t.Fatal("a byte moved from the data to the extensions unseen")
			}
		}
	})
}
