package command

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

const (
	maxPredicates = 250
	maxExpression = 2048   // bytes of a regular expression
	maxRegexpSize = 10_000 // elements of one, repetitions counted as often as they are repeated
)

var (
	errManyPredicates = reply.Error("ERR too many predicates, maximum is 250")
	errRegexpLong     = reply.Error("ERR regular expression is too long, maximum is 2048 bytes")
	errRegexpBackward = reply.Error("ERR regular expression backreferences are not supported")
	errRegexpEmpty    = reply.Error("ERR regular expression is empty")
	errRegexpLarge    = reply.Error(fmt.Sprintf("ERR invalid regular expression: it repeats more than %d elements", maxRegexpSize))
)

// grep is the words of ARGREP after the range.
type grep struct {
	predicates              []predicate
	all, noCase, withValues bool
	limit                   int64
	tests                   []func(value string) bool
}

// predicate is a kind of test and what it compares with.
type predicate struct {
	kind string
	text string
}

func readGrep(a *Args) (g grep) {
	g.limit = math.MaxInt64
	for a.Left() > 0 && !a.bad {
		switch more := a.Left() > 1; {
		case a.Word("AND"):
			g.all = true
		case a.Word("OR"):
			g.all = false
		case a.Word("NOCASE"):
			g.noCase = true
		case a.Word("WITHVALUES"):
			g.withValues = true
		case more && a.Word("LIMIT"):
			g.limit = a.positiveLimit()
		case more && a.Word("EXACT"):
			g.predicates = append(g.predicates, predicate{"EXACT", a.String()})
		case more && a.Word("MATCH"):
			g.predicates = append(g.predicates, predicate{"MATCH", a.String()})
		case more && a.Word("GLOB"):
			g.predicates = append(g.predicates, predicate{"GLOB", a.Pattern()})
		case more && a.Word("RE"):
			g.predicates = append(g.predicates, predicate{"RE", a.String()})
		default:
			a.Fail(ErrSyntax)
		}
	}
	switch {
	case len(g.predicates) > maxPredicates:
		a.Fail(errManyPredicates)
	case len(g.predicates) == 0:
		a.Fail(ErrSyntax)
	}
	for i := 0; i < len(g.predicates) && !a.bad; i++ {
		g.tests = append(g.tests, g.test(a, g.predicates[i]))
	}
	return g
}

// test is a predicate as a function. With NOCASE it is given values in lower case, but for
// regular expressions, which ignore case by themselves.
func (g *grep) test(a *Args, p predicate) func(value string) bool {
	if p.kind == "RE" {
		re, bad := g.compile(p.text)
		if bad != nil {
			a.Fail(*bad)
			return nil
		}
		return re.MatchString
	}
	text := p.text
	if g.noCase {
		text = lowerText(text)
	}
	switch p.kind {
	case "EXACT":
		return func(value string) bool { return value == text }
	case "MATCH":
		return func(value string) bool { return strings.Contains(value, text) }
	}
	return func(value string) bool { return glob.Match(text, value) }
}

// lowerText is a text with the letters of ASCII in lower case.
func lowerText(s string) string { return string(lower(nil, []byte(s))) }

// compile makes an automaton of a regular expression, whose size is judged before.
func (g *grep) compile(text string) (*regexp.Regexp, *reply.Value) {
	switch {
	case text == "":
		return nil, &errRegexpEmpty
	case len(text) > maxExpression:
		return nil, &errRegexpLong
	case refersBack(text):
		return nil, &errRegexpBackward
	}
	tree, err := syntax.Parse(text, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, ptr(badRegexp(err))
	}
	if regexpSize(tree) > maxRegexpSize {
		return nil, &errRegexpLarge
	}
	flags := "(?s)"
	if g.noCase {
		flags = "(?is)"
	}
	re, err := regexp.Compile(flags + text)
	if err != nil {
		return nil, ptr(badRegexp(err))
	}
	return re, nil
}

// badRegexp says what is wrong in the words of the code alone: they name no part of the
// expression and are the same in every version of the engine.
func badRegexp(err error) reply.Value {
	var e *syntax.Error
	if errors.As(err, &e) {
		return reply.Error("ERR invalid regular expression: " + string(e.Code))
	}
	return reply.Error("ERR invalid regular expression")
}

// refersBack reports whether an expression has a backslash with a digit but 0.
func refersBack(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; text[i] >= '1' && text[i] <= '9' {
			return true
		}
	}
	return false
}

// regexpSize is how many elements an expression has when its repetitions are written out.
func regexpSize(tree *syntax.Regexp) int {
	size := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		size = min(size+regexpSize(sub), maxRegexpSize+1)
	}
	if tree.Op == syntax.OpRepeat {
		size = min(size*max(tree.Min, tree.Max, 1), maxRegexpSize+1)
	}
	return size
}

// matches reports whether a value meets the predicates.
func (g *grep) matches(value string) bool {
	folded := value
	if g.noCase {
		folded = lowerText(value)
	}
	for i, test := range g.tests {
		subject := folded
		if g.predicates[i].kind == "RE" {
			subject = value
		}
		if test(subject) != g.all {
			return !g.all
		}
	}
	return g.all
}

// bound reads an end of ARGREP's range: an index, - for 0 or + for the greatest used index.
func (a *Args) bound() (i uint64, greatest bool) {
	switch {
	case a.Word("-"):
		return 0, false
	case a.Word("+"):
		return 0, true
	}
	return a.slotIndex(), false
}

func arGrep(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	from, fromEnd := a.bound()
	to, toEnd := a.bound()
	g := readGrep(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case s.Len() == 0:
		return reply.Array()
	}
	if fromEnd {
		from = s.Span() - 1
	}
	if toEnd {
		to = s.Span() - 1
	}
	found := []reply.Value{}
	indexRange{from, to}.each(s, func(i uint64, value string) bool {
		if g.matches(value) {
			v := shownIndex(i)
			if g.withValues {
				v = reply.Array(v, reply.Bulk(value))
			}
			found = append(found, v)
		}
		return int64(len(found)) < g.limit && !tx.Charge(grepSteps(value, len(g.tests)))
	})
	return reply.Array(found...)
}

// grepSteps is what comparing a value costs a read.
func grepSteps(value string, predicates int) int64 {
	return stepsPerMatch + int64(predicates)*int64(1+len(value)/textPerStep)
}

// regexpWork is how much more a byte costs that a regular expression looks at, for each
// maxExpression bytes of it.
const regexpWork = 64

// arrayGrepWork compares every value with every predicate. An expression takes time in
// proportion to its own length too.
func arrayGrepWork(tx *Tx, argv [][]byte) int64 {
	volume, steps := tx.volume(argv[1]), int64(0)
	for i := 4; i+1 < len(argv); i++ {
		switch {
		case EqualFold(argv[i], "RE"):
			steps += volume * (2 + regexpWork*int64(min(len(argv[i+1]), maxExpression))/maxExpression)
			i++
		case EqualFold(argv[i], "GLOB"), EqualFold(argv[i], "MATCH"), EqualFold(argv[i], "EXACT"):
			steps += volume * int64(glob.Cost(keyspace.Alias(argv[i+1])))
			i++
		}
	}
	return steps
}
