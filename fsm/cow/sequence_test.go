package cow

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// elements are all elements of q, read both ways and one by one.
func elements(t *rapid.T, q *Sequence[int]) []int {
	up, down, each := []int{}, []int{}, []int{}
	q.Ascend(0, func(i, v int) bool {
		if i != len(up) {
			t.Fatalf("ascending met position %d as number %d", i, len(up))
		}
		up = append(up, v)
		return true
	})
	q.Descend(q.Len()-1, func(i, v int) bool {
		if i != q.Len()-1-len(down) {
			t.Fatalf("descending met position %d as number %d", i, len(down))
		}
		down = append(down, v)
		return true
	})
	for i := range q.Len() {
		each = append(each, q.At(i))
	}
	slices.Reverse(down)
	if !slices.Equal(up, down) || !slices.Equal(up, each) {
		t.Fatalf("ascending %v, descending %v, one by one %v", up, down, each)
	}
	return up
}

// check fails if a count is wrong, a node too full, or a leaf at another depth.
func (se *Sequence[T]) check(t *rapid.T) {
	leaf := -1
	var walk func(n *chunk[T], depth int) int
	walk = func(n *chunk[T], depth int) int {
		if n.width() > maxLeaf || n.width() == 0 && depth > 0 || len(n.items) > 0 && len(n.kids) > 0 {
			t.Fatalf("a node of %d items and %d children", len(n.items), len(n.kids))
		}
		if len(n.kids) == 0 {
			if leaf >= 0 && leaf != depth {
				t.Fatalf("leaves at depths %d and %d", leaf, depth)
			}
			leaf = depth
			return len(n.items)
		}
		sum := 0
		for _, k := range n.kids {
			size := walk(k.node, depth+1)
			if size != k.size {
				t.Fatalf("a child counts %d of %d", k.size, size)
			}
			sum += size
		}
		return sum
	}
	if size := walk(se.root, 0); size != se.Len() {
		t.Fatalf("length %d of %d", se.Len(), size)
	}
}

// TestSequence changes a sequence and a slice alike, in bursts that make it deep, and
// keeps snapshots that must not change.
func TestSequence(t *testing.T) {
	type kept struct {
		q    *Sequence[int]
		want []int
	}
	rapid.Check(t, func(t *rapid.T) {
		q, model, next := NewSequence[int](), []int{}, 0
		var snapshots []kept
		for range rapid.IntRange(1, 25).Draw(t, "bursts") {
			burst := rapid.IntRange(1, 400).Draw(t, "burst")
			op := rapid.IntRange(0, 9).Draw(t, "op")
			place := rapid.IntRange(0, 1<<20).Draw(t, "place")
			for range burst {
				next++
				place = (place*31 + 7) & (1<<20 - 1)
				n := len(model)
				switch {
				case op <= 1:
					q.Insert(n, next)
					model = append(model, next)
				case op == 2:
					q.Insert(0, next)
					model = slices.Insert(model, 0, next)
				case op == 3:
					q.Insert(place%(n+1), next)
					model = slices.Insert(model, place%(n+1), next)
				case n == 0:
				case op == 4:
					q.Set(place%n, next)
					model[place%n] = next
				case op == 5:
					q.Delete(n - 1)
					model = model[:n-1]
				case op == 6:
					q.Delete(0)
					model = slices.Delete(model, 0, 1)
				case op == 7:
					if got := q.Delete(place % n); got != model[place%n] {
						t.Fatalf("deleted %d of %d", got, model[place%n])
					}
					model = slices.Delete(model, place%n, place%n+1)
				}
			}
			switch op {
			case 8:
				from := rapid.IntRange(0, len(model)).Draw(t, "from")
				to := rapid.IntRange(from, len(model)).Draw(t, "to")
				q.Keep(from, to)
				model = slices.Clone(model[from:to])
			case 9:
				snapshots = append(snapshots, kept{q.Snapshot(), slices.Clone(model)})
				if burst%2 == 0 { // the snapshot goes on, the original stays
					last := &snapshots[len(snapshots)-1]
					q, last.q = last.q, q
				}
			}
			q.check(t)
		}
		if got := elements(t, q); !slices.Equal(got, model) {
			t.Fatalf("got %v, want %v", got, model)
		}
		at := 0 // positions are found by any split, whatever the elements are
		for want := range q.Len() + 1 {
			first := map[int]bool{}
			for _, v := range model[:want] {
				first[v] = true
			}
			if at = q.Search(func(v int) bool { return first[v] }); at != want {
				t.Fatalf("found position %d, want %d", at, want)
			}
			if want > 300 {
				break
			}
		}
		for _, s := range snapshots {
			s.q.check(t)
			if got := elements(t, s.q); !slices.Equal(got, s.want) {
				t.Fatalf("a snapshot has %v, want %v", got, s.want)
			}
		}
	})
}

// TestSequenceFrom reads from every position, both ways, and stops.
func TestSequenceFrom(t *testing.T) {
	q := NewSequence[int]()
	for i := range 5000 {
		q.Insert(i, i)
	}
	for from := range 5000 {
		want := from
		q.Ascend(from, func(i, v int) bool {
			if i != want || v != want {
				t.Fatalf("from %d: position %d holds %d, want %d", from, i, v, want)
			}
			want++
			return want < from+70
		})
		if want != min(from+70, 5000) {
			t.Fatalf("from %d: stopped before %d", from, want)
		}
		want = from
		q.Descend(from, func(i, v int) bool {
			if i != want || v != want {
				t.Fatalf("down from %d: position %d holds %d, want %d", from, i, v, want)
			}
			want--
			return want > from-70
		})
		if want != max(from-70, -1) {
			t.Fatalf("down from %d: stopped at %d", from, want)
		}
	}
}
