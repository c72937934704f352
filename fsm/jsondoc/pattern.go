package jsondoc

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

var (
	errPattern     = errors.New("not a regular expression")
	errPatternSize = errors.New("a regular expression is too large")
)

// compilePattern compiles a regular expression, which finds its matches in linear time,
// if its program has no more than limit instructions, about; it returns their number.
func compilePattern(text string, limit int) (re *regexp.Regexp, size int, err error) {
	if len(text) > limit {
		return nil, 0, errPatternSize
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, errPattern
	}
	if size = instructions(tree, limit); size > limit {
		return nil, 0, errPatternSize
	}
	re, err = regexp.Compile(text)
	if err != nil {
		return nil, 0, errPattern
	}
	return re, size, nil
}

// instructions is about the size of the program of a regular expression, limit+1 at most.
func instructions(re *syntax.Regexp, limit int) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+instructions(sub, limit), limit+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, limit+1)
}
