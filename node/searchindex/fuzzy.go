package searchindex

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// fuzzy says which terms are near a word.
type fuzzy struct {
	word     []rune
	distance int
	// swaps count as one change, not as two.
	swaps bool
	// prefix also takes terms that begin with something near.
	prefix bool
}

// walk calls fn for every term that is near, in order. It goes along the sorted terms and keeps a row of distances for
// each letter of the one before, and jumps over all terms that begin with letters which are too far already.
// spend receives the work of each term before the next, and ends the walk by returning false.
func (f *fuzzy) walk(terms *cow.BTree[string, *term], spend func(steps int64) bool, fn func(t *term)) {
	w := newFuzzyWalk(f)
	from := ""
	for more := true; more; {
		more = false
		terms.Ascend(from, func(text string, t *term) bool {
			cells := w.cells
			near, hopeless := w.visit(text)
			switch {
			case !spend(1 + (w.cells-cells)/cellsPerStep):
				return false
			case hopeless:
				from = after(w.last)
				more = from != ""
			case near:
				fn(t)
			}
			return !hopeless
		})
	}
}

// fuzzyWalk is the state of a walk over sorted terms: the rows of edit distances for the previous term, whose common
// prefix with the next term is not computed again.
type fuzzyWalk struct {
	*fuzzy
	last    string  // of the term before, as much as was looked at
	letters []rune  // of last
	ends    []int   // where they end in last
	rows    [][]int // of distances: the first, and one for each letter
	cells   int64   // of all rows that were computed
}

func newFuzzyWalk(z *fuzzy) *fuzzyWalk {
	first := make([]int, len(z.word)+1)
	for i := range first {
		first[i] = i
	}
	return &fuzzyWalk{fuzzy: z, rows: [][]int{first}}
}

// visit reports whether a term is near, or whether none can be that begins with w.last.
func (w *fuzzyWalk) visit(text string) (near, hopeless bool) {
	at := w.back(text)
	near = w.prefix && w.begunNear()
	for at < len(text) && !near {
		r, n := utf8.DecodeRuneInString(text[at:])
		at += n
		row := w.next(w.rows, w.letters, r)
		w.cells += int64(len(row))
		w.rows, w.letters, w.ends = append(w.rows, row), append(w.letters, r), append(w.ends, at)
		if w.prefix && row[len(w.word)] <= w.distance {
			near = true
		} else if w.fuzzy.hopeless(w.rows) {
			w.last = text[:at]
			return false, true
		}
	}
	w.last = text[:at]
	return near || w.rows[len(w.rows)-1][len(w.word)] <= w.distance && at == len(text), false
}

// back drops the letters that the term before does not share with text, and returns where the first other letter is.
func (w *fuzzyWalk) back(text string) int {
	common := 0
	for common < len(w.last) && common < len(text) && w.last[common] == text[common] {
		common++
	}
	depth := 0
	for depth < len(w.ends) && w.ends[depth] <= common {
		depth++
	}
	w.rows, w.letters, w.ends = w.rows[:depth+1], w.letters[:depth], w.ends[:depth]
	if depth == 0 {
		return 0
	}
	return w.ends[depth-1]
}

// begunNear reports whether the letters so far have a beginning that is near.
func (w *fuzzyWalk) begunNear() bool {
	return slices.ContainsFunc(w.rows, func(row []int) bool { return row[len(w.word)] <= w.distance })
}

// after is the first text behind all that begin with prefix.
func after(prefix string) string { return prefix + strings.Repeat("\xff", 4) }

// next is the row of one more letter.
func (f *fuzzy) next(rows [][]int, letters []rune, r rune) []int {
	before := rows[len(rows)-1]
	row := make([]int, len(before))
	row[0] = before[0] + 1
	for j, w := range f.word {
		cost := 1
		if w == r {
			cost = 0
		}
		d := min(before[j]+cost, before[j+1]+1, row[j]+1)
		if f.swaps && j > 0 && len(letters) > 0 && w == letters[len(letters)-1] && f.word[j-1] == r {
			d = min(d, rows[len(rows)-2][j-1]+1)
		}
		row[j+1] = d
	}
	return row
}

// hopeless reports whether no further letters can come near.
func (f *fuzzy) hopeless(rows [][]int) bool {
	return slices.Min(rows[len(rows)-1]) > f.distance && slices.Min(rows[len(rows)-2]) >= f.distance
}
