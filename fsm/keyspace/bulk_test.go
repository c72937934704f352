package keyspace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// names are n different names in a random order, of which the last drawn is long if asked.
func names(r *rand.Rand, n int, long bool) []string {
	all := make([]string, n)
	for i, k := range r.Perm(n) {
		all[i] = fmt.Sprintf("name:%d", k)
	}
	if long && n > 0 {
		all[n-1] += strings.Repeat("x", packedMember)
	}
	return all
}

// sizes are around the bounds of the forms.
var sizes = []int{1, 2, smallMax - 1, smallMax, smallMax + 1, packedMembers, packedMembers + 1, 3000}

func encoded(c Container) string {
	var w wire.Writer
	c.Encode(&w)
	return string(w.B)
}

// A set made at once is the one made member by member, and goes on as that does.
func TestMembersOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range append(sizes, 0) {
		all := names(r, n, false)
		want := NewMembers()
		for _, m := range all {
			want.Add(m)
		}
		got := MembersOf(all)
		for range 2 {
			if encoded(got) != encoded(want) || got.Size() != want.Size() || got.Len() != want.Len() {
				t.Fatalf("%d members: got %d of %d bytes, want %d of %d, or another form or order", n, got.Len(), got.Size(), want.Len(), want.Size())
			}
			for _, m := range names(r, n/2+2, true) {
				got.Add(m)
				want.Add(m)
			}
		}
	}
}

// The same of a sorted set, whose form can be seen too.
func TestZSetOf(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	scores := []float64{math.Copysign(0, -1), 0, 1, -1, 0.5, math.Inf(1), math.Inf(-1), 1e300}
	for i := range 4 * len(sizes) {
		n, long := sizes[i%len(sizes)], i%3 == 0
		all := make([]Scored, n)
		for j, m := range names(r, n, long) {
			all[j] = Scored{scores[r.IntN(len(scores))], m}
		}
		longest := 0
		for _, s := range all {
			longest = max(longest, len(s.Member))
		}
		want := NewZSet(n, longest)
		for _, s := range all {
			want.Put([]byte(s.Member), s.Score)
		}
		got := ZSetOf(all)
		for range 2 {
			if encoded(got) != encoded(want) || got.Size() != want.Size() || got.Loose() != want.Loose() {
				t.Fatalf("%d members: got %d bytes, loose %v, want %d, %v, or another order", n, got.Size(), got.Loose(), want.Size(), want.Loose())
			}
			for _, m := range names(r, n/2+2, false) {
				got.Put([]byte(m), 2)
				want.Put([]byte(m), 2)
			}
		}
	}
}
