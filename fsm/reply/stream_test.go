package reply

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/wire"
	"pgregory.net/rapid"
)

// values draws a reply of any kind, at most depth levels deep.
func values(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		text := rapid.StringN(0, 60, 200).Draw(t, "text")
		scalars := []Value{Nil(), NilArray(), Status("OK"), Error("ERR no"), Int(-7), Bool(true), Double(1.5, "1.5"), BigNumber("123"), Bulk(text), Verbatim(text)}
		kind := rapid.IntRange(0, len(scalars)+6).Draw(t, "kind")
		if kind < len(scalars) || depth == 0 {
			return scalars[kind%len(scalars)]
		}
		elems := rapid.SliceOfN(values(depth-1), 0, 8).Draw(t, "elems")
		even := elems[:len(elems)/2*2]
		forms := Forms(Bulk(text), Array(elems...))
		return []Value{Array(elems...), Set(elems...), Push(elems...), Map(even...), Pairs(even...), Keyed(even...), forms}[kind-len(scalars)]
	})
}

// TestStream: parts of any size make the same bytes as one buffer, and no part is longer than
// the size and the longest indivisible piece.
func TestStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, resp3, size := values(3).Draw(t, "value"), rapid.Bool().Draw(t, "resp3"), rapid.IntRange(1, 200).Draw(t, "size")
		var got strings.Builder
		rest := Stream(nil, v, resp3, size, func(b []byte) []byte {
			if len(b) > 2*size+32 {
				t.Fatalf("a part has %d bytes", len(b))
			}
			got.Write(b)
			return b[:0]
		})
		got.Write(rest)
		want := AppendRESP2(nil, v)
		if resp3 {
			want = AppendRESP3(nil, v)
		}
		if got.String() != string(want) {
			t.Fatalf("%q, want %q", got.String(), want)
		}
	})
}

// TestCodec: every reply comes back from the form that travels between nodes as it was.
func TestCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		var w wire.Writer
		Append(&w, v)
		got, err := Decode(wire.NewReader(w.B))
		if err != nil || !got.Equal(v) {
			t.Fatalf("%v, %v, want %v", got, err, v)
		}
	})
	var w wire.Writer
	Append(&w, Value{kind: KindForms, elems: []Value{Nil()}})
	if _, err := Decode(wire.NewReader(w.B)); err == nil {
		t.Error("one form alone is decoded")
	}
}

func TestSize(t *testing.T) {
	list := []Value{Bulk("0123456789"), Array(Bulk("0123456789"), Int(1))}
	const size = 4*valueSize + 20
	for limit, want := range map[int]int{size + 1: size, size: size, size - 1: size - 1, 1: 1, 1 << 30: size} {
		if got := Size(list, limit); got != want {
			t.Errorf("%d within %d, want %d", got, limit, want)
		}
	}
}
