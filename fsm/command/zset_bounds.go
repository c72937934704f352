package command

import (
	"math"
	"sort"
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errScoreRange = reply.Error("ERR min or max is not a float")
	errLexRange   = reply.Error("ERR min or max not valid string range item")
)

// zrangeOf is a range of a sorted set, however it is given.
type zrangeOf interface {
	// ranks are the first rank in the range and the first behind it.
	ranks(z *keyspace.ZSet) (from, to int)
}

// rankRange is a range of ranks, both included; negative ones count from the end.
type rankRange struct {
	start, end int64
	reverse    bool // counted from the highest score
}

func readRankRange(a *Args, reverse bool) zrangeOf {
	return rankRange{a.Int(), a.Int(), reverse}
}

func (r rankRange) ranks(z *keyspace.ZSet) (from, to int) {
	from, to = span(r.start, r.end, z.Len())
	if r.reverse {
		return z.Len() - to, z.Len() - from
	}
	return from, to
}

// scoreRange is a range of scores.
type scoreRange struct{ min, max scoreBound }

type scoreBound struct {
	score     float64
	exclusive bool
}

// readScoreRange reads two bounds, of which the greater stands first if reverse.
func readScoreRange(a *Args, reverse bool) zrangeOf {
	first, second := a.scoreBound(), a.scoreBound()
	if reverse {
		first, second = second, first
	}
	return scoreRange{first, second}
}

// scoreBound reads a bound: a number, behind a parenthesis if it is excluded. Like
// Redis it takes nothing for 0, and a number out of range for an infinity.
func (a *Args) scoreBound() (b scoreBound) {
	word := string(a.Bytes())
	if word != "" && word[0] == '(' {
		b.exclusive, word = true, word[1:]
	}
	word, none := strtodPrefix(word)
	if none {
		return b
	}
	var err error
	if b.score, err = readDouble(word); err != nil || math.IsNaN(b.score) {
		a.Fail(errScoreRange)
	}
	return b
}

// strtodPrefix returns the part of a word that C's strtod reads: after blanks, and up to a zero byte. none reports that the word is
// empty, which Redis reads as 0; blanks alone are no number.
func strtodPrefix(word string) (number string, none bool) {
	word, _, _ = strings.Cut(word, "\x00")
	number = strings.TrimLeft(word, " \t\n\v\f\r")
	return number, word == ""
}

func (r scoreRange) ranks(z *keyspace.ZSet) (from, to int) {
	from = z.Below(r.min.score, r.min.exclusive)
	to = z.Below(r.max.score, !r.max.exclusive)
	return from, max(from, to)
}

// lexRange is a range of members by their bytes. It means something in sets whose
// scores are all equal. In others it holds the members that a walk from one end meets,
// as in small sets of Redis: on every node the same.
type lexRange struct {
	min, max lexBound
	reverse  bool
}

type lexBound struct {
	member    string
	exclusive bool
	infinite  int // -1 below every member, 1 above
}

func readLexRange(a *Args, reverse bool) zrangeOf {
	first, second := a.lexBound(), a.lexBound()
	if reverse {
		first, second = second, first
	}
	return lexRange{first, second, reverse}
}

func (a *Args) lexBound() (b lexBound) {
	switch word := string(a.Bytes()); {
	case word == "-":
		return lexBound{infinite: -1, exclusive: true}
	case word == "+":
		return lexBound{infinite: 1, exclusive: true}
	case word != "" && word[0] == '(':
		return lexBound{member: word[1:], exclusive: true}
	case word != "" && word[0] == '[':
		return lexBound{member: word[1:]}
	}
	a.Fail(errLexRange)
	return b
}

// compare returns where the bound lies from a member: -1 before it, 0 at it, 1 behind.
func (b lexBound) compare(member string) int {
	switch {
	case b.infinite != 0:
		return b.infinite
	case b.member < member:
		return -1
	case b.member > member:
		return 1
	}
	return 0
}

// admitsFrom reports whether a member is not below the lower bound b.
func (b lexBound) admitsFrom(member string) bool {
	c := b.compare(member)
	return c < 0 || c == 0 && !b.exclusive
}

// admitsTo reports whether a member is not above the upper bound b.
func (b lexBound) admitsTo(member string) bool {
	c := b.compare(member)
	return c > 0 || c == 0 && !b.exclusive
}

// empty reports whether no member can lie in the range.
func (r lexRange) empty() bool {
	switch {
	case r.min.infinite != 0 || r.max.infinite != 0:
		return r.min.infinite == 1 || r.max.infinite == -1
	case r.min.member == r.max.member:
		return r.min.exclusive || r.max.exclusive
	}
	return r.min.member > r.max.member
}

// ranks finds the range in a set of equal scores by halving. In packed sets it looks
// at one member after the other, which in a set of unequal scores makes a difference.
func (r lexRange) ranks(z *keyspace.ZSet) (from, to int) {
	n := z.Len()
	if n == 0 || r.empty() || !r.min.admitsFrom(z.At(n-1).Member) || !r.max.admitsTo(z.At(0).Member) {
		return 0, 0
	}
	switch {
	case z.Loose():
		from = sort.Search(n, func(i int) bool { return r.min.admitsFrom(z.At(i).Member) })
		to = sort.Search(n, func(i int) bool { return !r.max.admitsTo(z.At(i).Member) })
		return from, max(from, to)
	case r.reverse:
		return r.walkBack(z.Range(0, n))
	}
	return r.walk(z.Range(0, n))
}

// walk finds the first member from the lower bound on, and goes on up to the upper.
func (r lexRange) walk(all []keyspace.Scored) (from, to int) {
	for from < len(all) && !r.min.admitsFrom(all[from].Member) {
		from++
	}
	for to = from; to < len(all) && r.max.admitsTo(all[to].Member); {
		to++
	}
	return from, to
}

// walkBack finds the last member up to the upper bound, and goes back to the lower.
func (r lexRange) walkBack(all []keyspace.Scored) (from, to int) {
	for to = len(all); to > 0 && !r.max.admitsTo(all[to-1].Member); {
		to--
	}
	for from = to; from > 0 && r.min.admitsFrom(all[from-1].Member); {
		from--
	}
	return from, to
}
