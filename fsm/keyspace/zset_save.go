package keyspace

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Encode writes the members in order, each behind the bits of its score.
func (zs *ZSet) Encode(w *wire.Writer) {
	w.Bool(zs.loose)
	w.Uvarint(uint64(zs.Len()))
	zs.Each(0, func(s Scored) bool {
		w.B = binary.LittleEndian.AppendUint64(w.B, math.Float64bits(s.Score))
		w.String(s.Member)
		return true
	})
}

// decodeZSet reads what Encode wrote. It is not ok if members are repeated, out of
// order or none, or a score is no number.
func decodeZSet(r *wire.Reader) (Container, bool) {
	z := &ZSet{loose: r.Bool()}
	n := r.Count(9) // a score and a length
	z.small = make([]Scored, 0, n)
	for range n {
		s := Scored{math.Float64frombits(binary.LittleEndian.Uint64(r.Fixed(8))), r.String()}
		if math.IsNaN(s.Score) || len(z.small) > 0 && compareScored(z.small[len(z.small)-1], s) >= 0 {
			return nil, false
		}
		z.small = append(z.small, s)
		z.size += scoredCost + int64(len(s.Member))
	}
	if r.Err() != nil || n == 0 {
		return nil, false
	}
	return z, z.index()
}

// index builds the form for so many members, and reports whether each stands there
// once.
func (zs *ZSet) index() bool {
	members := cow.NewBuilder[string, float64](hashOf, strings.Compare)
	for _, m := range byHash(zs.small) {
		if !members.Add(m.Member, m.Score) {
			return false
		}
	}
	if len(zs.small) <= smallZSet {
		return true
	}
	ranked := cow.NewBuilder[Scored, struct{}](headOfScore, compareScored)
	for _, s := range zs.small {
		ranked.Add(s, struct{}{})
	}
	zs.members, zs.ranked, zs.small = members.Tree(), ranked.Tree(), nil
	return true
}

type hashed struct {
	Scored
	hash uint64
}

// byHash is the members in the order of their hashes, then of their bytes.
func byHash(members []Scored) []hashed {
	out := make([]hashed, len(members))
	for i, s := range members {
		out[i] = hashed{s, hashOf(s.Member)}
	}
	slices.SortFunc(out, func(a, b hashed) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), strings.Compare(a.Member, b.Member))
	})
	return out
}
