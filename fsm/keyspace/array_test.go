package keyspace

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// TestArrayAgainstModel changes arrays and forks of them, and compares each with a map.
func TestArrayAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type pair struct {
			array *SparseArray
			model map[uint64]string
		}
		all := []pair{{NewSparseArray(), map[uint64]string{}}}
		index := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64Range(MaxIndex-5, MaxIndex))
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			p := all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
			i := index.Draw(t, "index")
			_, had := p.model[i]
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 5:
				value := rapid.String().Draw(t, "value")
				if p.array.Set(i, value) == had {
					t.Fatalf("Set(%d) of a slot that is used: %v", i, had)
				}
				p.model[i] = value
			case op < 8:
				if p.array.Delete(i) != had {
					t.Fatalf("Delete(%d) of a slot that is used: %v", i, had)
				}
				delete(p.model, i)
			case op < 9 && len(all) < 3:
				all = append(all, pair{p.array.Clone().(*SparseArray), maps.Clone(p.model)})
			default:
				p.array.Seek(i)
			}
		}
		for _, p := range all {
			low, high := index.Draw(t, "low"), index.Draw(t, "high")
			keys, size, between := slices.Sorted(maps.Keys(p.model)), int64(0), 0
			for _, i := range keys {
				size += slotCost + int64(len(p.model[i]))
				if low <= i && i <= high {
					between++
				}
			}
			var up, down []uint64
			p.array.Ascend(0, func(i uint64, v string) bool {
				up = append(up, i)
				return v == p.model[i]
			})
			p.array.Descend(MaxIndex, func(i uint64, v string) bool {
				down = append(down, i)
				return v == p.model[i]
			})
			slices.Reverse(down)
			if !slices.Equal(up, keys) || !slices.Equal(down, keys) || p.array.Size() != size || p.array.Len() != len(keys) || p.array.Between(low, high) != between {
				t.Fatalf("%v, %v of %v: %d of %d bytes, %d of %d between", up, down, keys, p.array.Size(), size, p.array.Between(low, high), between)
			}
			if len(keys) == 0 {
				continue
			}
			w := &wire.Writer{}
			p.array.Encode(w)
			again, ok := DecodeArray(w.B)
			if !ok || again.Size() != size || again.Next() != p.array.Next() || again.Span() != p.array.Span() {
				t.Fatalf("%v comes back otherwise", keys)
			}
			if len(keys) > 3 {
				continue
			}
			for cut := range w.B {
				if _, ok := DecodeArray(w.B[:cut]); ok {
					t.Fatalf("%d of %d bytes are read as an array", cut, len(w.B))
				}
			}
		}
	})
}
