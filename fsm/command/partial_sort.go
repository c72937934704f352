package command

// sortFirst brings the first n of items, of those sorted by compare, to the front. Equal items come in the order that Redis
// leaves them in, which shows in replies: the quicksort of Bentley and McIlroy, as BSD has it, without the parts that are not
// asked for.
func sortFirst[T any](items []T, n int, compare func(a, b T) int) {
	for n > 0 && len(items) > 0 {
		if len(items) < smallSort {
			insertionSort(items, compare)
			return
		}
		i := pivot(items, compare)
		items[0], items[i] = items[i], items[0]
		below, above := partition(items, compare)
		if below > 1 {
			sortFirst(items[:below], n, compare)
		}
		first := len(items) - above
		if above <= 1 || n <= first {
			return
		}
		items, n = items[first:], n-first
	}
}

// Below smallSort items are inserted one by one; above manyItems the pivot is a median of medians.
const (
	smallSort = 7
	manyItems = 40
)

func insertionSort[T any](items []T, compare func(a, b T) int) {
	for i := 1; i < len(items); i++ {
		for j := i; j > 0 && compare(items[j-1], items[j]) > 0; j-- {
			items[j], items[j-1] = items[j-1], items[j]
		}
	}
}

// pivot is the place of the item that the others are compared with.
func pivot[T any](items []T, compare func(a, b T) int) int {
	median := func(a, b, c int) int {
		if compare(items[a], items[b]) < 0 {
			if compare(items[b], items[c]) < 0 {
				return b
			}
			if compare(items[a], items[c]) < 0 {
				return c
			}
			return a
		}
		if compare(items[b], items[c]) > 0 {
			return b
		}
		if compare(items[a], items[c]) < 0 {
			return a
		}
		return c
	}
	low, middle, high := 0, len(items)/2, len(items)-1
	if len(items) <= smallSort {
		return middle
	}
	if len(items) > manyItems {
		d := len(items) / 8
		low = median(low, low+d, low+2*d)
		middle = median(middle-d, middle, middle+d)
		high = median(high-2*d, high-d, high)
	}
	return median(low, middle, high)
}

// partition moves items that come before the first one to the front and those behind it to the end, and returns how many
// each are. Those that are equal to it end in between.
func partition[T any](items []T, compare func(a, b T) int) (below, above int) {
	swap := func(i, j int) { items[i], items[j] = items[j], items[i] }
	// Equal items gather at both ends at first: before a, and behind d.
	a, b := 1, 1
	c, d := len(items)-1, len(items)-1
	for {
		for b <= c {
			order := compare(items[b], items[0])
			if order > 0 {
				break
			}
			if order == 0 {
				swap(a, b)
				a++
			}
			b++
		}
		for b <= c {
			order := compare(items[c], items[0])
			if order < 0 {
				break
			}
			if order == 0 {
				swap(c, d)
				d--
			}
			c--
		}
		if b > c {
			break
		}
		swap(b, c)
		b, c = b+1, c-1
	}
	for i, n := 0, min(a, b-a); i < n; i++ {
		swap(i, b-n+i)
	}
	for i, n := 0, min(d-c, len(items)-1-d); i < n; i++ {
		swap(b+i, len(items)-n+i)
	}
	return b - a, d - c
}
