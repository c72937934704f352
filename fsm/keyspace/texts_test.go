package keyspace

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTextsAgainstModel changes a list of texts of all lengths at random places, with copies taken in between, and compares it with a slice.
func TestTextsAgainstModel(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		n := rapid.SampledFrom([]int{0, 1, 7, 100, 127, 128, longText - 1, longText, 600}).Draw(t, "length")
		return strings.Repeat(rapid.StringMatching("[a-z]").Draw(t, "letter"), n)
	})
	rapid.Check(t, func(t *rapid.T) {
		list, want := newTexts(), []string{}
		kept, was := list.clone(), []string{}
		for range rapid.IntRange(1, 200).Draw(t, "changes") {
			n := len(want)
			switch turn := rapid.IntRange(0, 11).Draw(t, "turn"); {
			case turn < 6 || n == 0:
				i := rapid.SampledFrom([]int{0, n, rapid.IntRange(0, n).Draw(t, "at")}).Draw(t, "place")
				v := text.Draw(t, "text")
				for range rapid.SampledFrom([]int{1, 1, 40}).Draw(t, "times") {
					list.insert(i, v)
					want = slices.Insert(want, i, v)
				}
			case turn < 8:
				i := rapid.IntRange(0, n-1).Draw(t, "at")
				if v := list.remove(i); v != want[i] {
					t.Fatalf("removed %q, want %q", v, want[i])
				}
				want = slices.Delete(want, i, i+1)
			case turn == 8:
				i, v := rapid.IntRange(0, n-1).Draw(t, "at"), text.Draw(t, "text")
				list.set(i, v)
				want[i] = v
			case turn == 9:
				from := rapid.IntRange(0, n).Draw(t, "from")
				to := rapid.IntRange(from, n).Draw(t, "to")
				list.keep(from, to)
				want = slices.Clone(want[from:to])
			case turn == 10:
				out := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, func(i int) int { return i }).Draw(t, "out")
				slices.Sort(out)
				slices.Reverse(out)
				bytes := int64(0)
				for _, i := range out {
					bytes += int64(len(want[i]))
					want = slices.Delete(want, i, i+1)
				}
				if got := list.removeEach(out); got != bytes {
					t.Fatalf("removed %d bytes, want %d", got, bytes)
				}
			default:
				kept, was = list.clone(), slices.Clone(want)
			}
			equalTexts(t, &list, want)
			equalTexts(t, &kept, was)
		}
	})
}

func equalTexts(t *rapid.T, list *texts, want []string) {
	t.Helper()
	up, down := []string{}, []string{}
	list.ascend(0, func(i int, v string) bool {
		if i != len(up) || list.at(i) != v {
			t.Fatalf("%q at %d, or %q", v, i, list.at(i))
		}
		up = append(up, v)
		return true
	})
	list.descend(list.len()-1, func(_ int, v string) bool {
		down = append(down, v)
		return true
	})
	slices.Reverse(down)
	if list.len() != len(want) || !slices.Equal(up, want) || !slices.Equal(down, want) {
		t.Fatalf("%d texts:\n%q\n%q\nwant:\n%q", list.len(), up, down, want)
	}
}
