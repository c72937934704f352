package command

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/trireme-dev/trireme/fsm/glob"
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
	prices                  []int64 // of the expressions and patterns: bytes looked at for one of a value
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
		test, price := g.test(a, g.predicates[i])
		g.tests, g.prices = append(g.tests, test), append(g.prices, price)
	}
	return g
}

// test is a predicate as a function, and how much it looks at for each byte of a value, in bytes. With NOCASE it is given values in lower case, but for
// regular expressions, which ignore case by themselves.
func (g *grep) test(a *Args, p predicate) (test func(value string) bool, price int64) {
	if p.kind == "RE" {
		re, size, bad := g.compile(p.text)
		if bad != nil {
			a.Fail(*bad)
			return nil, 0
		}
		return re.MatchString, int64(size) * bytesPerWork / expressionPerWork
	}
	text := p.text
	if g.noCase {
		text = lowerText(text)
	}
	switch p.kind {
	case "EXACT":
		return func(value string) bool { return value == text }, 1
	case "MATCH":
		return func(value string) bool { return strings.Contains(value, text) }, 2
	}
	return func(value string) bool { return glob.Match(text, value) }, glob.PerByte(text)
}

// lowerText is a text with the letters of ASCII in lower case.
func lowerText(s string) string { return string(lower(nil, []byte(s))) }

// compile makes an automaton of a regular expression, whose size is judged before.
func (g *grep) compile(text string) (re *regexp.Regexp, size int, bad *reply.Value) {
	switch {
	case text == "":
		return nil, 0, &errRegexpEmpty
	case len(text) > maxExpression:
		return nil, 0, &errRegexpLong
	case refersBack(text):
		return nil, 0, &errRegexpBackward
	}
	tree, err := syntax.Parse(text, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, 0, ptr(badRegexp(err))
	}
	if size = regexpSize(tree); size > maxRegexpSize {
		return nil, 0, &errRegexpLarge
	}
	flags := "(?s)"
	if g.noCase {
		flags = "(?is)"
	}
	re, err = regexp.Compile(flags + text)
	if err != nil {
		return nil, 0, ptr(badRegexp(err))
	}
	return re, size, nil
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

// regexpSize returns the number of elements of an expression when its repetitions are written out.
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
		if !tx.spendFound(g.work(len(value))) {
			return false
		}
		if g.matches(value) {
			v := shownIndex(i)
			if g.withValues {
				v = reply.Array(v, reply.Bulk(value))
			}
			found = append(found, v)
		}
		return int64(len(found)) < g.limit
	})
	return reply.Array(found...)
}

// matchWork is the cost of matching a value, in 1/64 of a step, in addition to that of its bytes.
const matchWork = 16

// work returns the most steps that comparing a value of n bytes with all predicates may take.
func (g *grep) work(n int) int64 {
	looks := int64(len(g.prices)) * matchWork
	if g.noCase {
		looks += 4 * int64(n)
	}
	for _, price := range g.prices {
		looks += price * int64(n)
	}
	return 1 + looks/bytesPerWork
}

// arrayGrepWork counts compiling the expressions. Comparing counts value by value, because it is the range and the limit that
// say how many there are.
func arrayGrepWork(_ *Tx, argv [][]byte) int64 {
	steps, expressions := int64(0), 0
	for i := 4; i+1 < len(argv); i++ {
		if !EqualFold(argv[i], "RE") {
			continue
		}
		i++
		steps += int64(len(argv[i])) // to read it
		if expressions++; expressions > maxPredicates || len(argv[i]) > maxExpression {
			continue
		}
		if tree, err := syntax.Parse(string(argv[i]), syntax.Perl|syntax.DotNL); err == nil {
			steps += compileWork * int64(regexpSize(tree))
		}
	}
	return steps
}
