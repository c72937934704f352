package search

import (
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
func (z *fuzzy) walk(terms *cow.BTree[string, *term], fn func(t *term)) {
	m := len(z.word)
	first := make([]int, m+1)
	for i := range first {
		first[i] = i
	}
	rows, letters, ends := [][]int{first}, []rune{}, []int{}
	last := ""
	from := ""
	for more := true; more; {
		more = false
		terms.Ascend(from, func(text string, t *term) bool {
			common := 0
			for common < len(last) && common < len(text) && last[common] == text[common] {
				common++
			}
			depth := 0
			for depth < len(ends) && ends[depth] <= common {
				depth++
			}
			rows, letters, ends = rows[:depth+1], letters[:depth], ends[:depth]
			near := false
			if z.prefix {
				for _, row := range rows {
					near = near || row[m] <= z.distance
				}
			}
			at := 0
			if depth > 0 {
				at = ends[depth-1]
			}
			for at < len(text) && !near {
				r, n := utf8.DecodeRuneInString(text[at:])
				at += n
				row := z.next(rows, letters, r)
				rows, letters, ends = append(rows, row), append(letters, r), append(ends, at)
				if z.prefix && row[m] <= z.distance {
					near = true
				} else if z.hopeless(rows) {
					last, from = text[:at], after(text[:at])
					more = from != ""
					return false
				}
			}
			last = text[:at]
			if near || rows[len(rows)-1][m] <= z.distance && at == len(text) {
				fn(t)
			}
			return true
		})
	}
}

// after is the first text behind all that begin with prefix.
func after(prefix string) string { return prefix + strings.Repeat("\xff", 4) }

// next is the row of one more letter.
func (z *fuzzy) next(rows [][]int, letters []rune, r rune) []int {
	before := rows[len(rows)-1]
	row := make([]int, len(before))
	row[0] = before[0] + 1
	for j, w := range z.word {
		cost := 1
		if w == r {
			cost = 0
		}
		d := min(before[j]+cost, before[j+1]+1, row[j]+1)
		if z.swaps && j > 0 && len(letters) > 0 && w == letters[len(letters)-1] && z.word[j-1] == r {
			d = min(d, rows[len(rows)-2][j-1]+1)
		}
		row[j+1] = d
	}
	return row
}

// hopeless reports whether no further letters can come near.
func (z *fuzzy) hopeless(rows [][]int) bool {
	least := func(row []int) int {
		l := row[0]
		for _, d := range row {
			l = min(l, d)
		}
		return l
	}
	return least(rows[len(rows)-1]) > z.distance && least(rows[len(rows)-2]) >= z.distance
}
