package glob

import "strings"

// Shape says how a pattern is best looked up.
type Shape uint8

// The shapes.
const (
	// Exact patterns match one text.
	Exact Shape = iota
	// Prefix patterns match every text that begins with one.
	Prefix
	// Walked patterns must be matched with the text.
	Walked
)

// ShapeOf returns the shape of a pattern, and the text or the prefix that it stands for. Of a walked pattern that is the
// pattern.
func ShapeOf(pattern string) (Shape, string) {
	if !strings.ContainsAny(pattern, special) {
		return Exact, pattern
	}
	p, rest, more := firstPart(pattern)
	switch {
	case !p.literal || strings.Trim(rest, "*") != "":
		return Walked, pattern
	case more:
		return Prefix, p.text
	}
	return Exact, p.text
}

// setupWork is the cost of the search for a part with classes or question marks, for each byte of the text and in addition to Cost:
// it makes a table of the part, which is no longer than the text.
const setupWork = 32

// special are the bytes that stand for something else in a pattern.
const special = `*?[\`

// readWork is the cost of reading a pattern, for each of its bytes, in addition to the comparisons.
const readWork = 4

// PerByte returns about how many bytes a match looks at for each byte of a long text.
func PerByte(pattern string) int64 {
	n := int64(Cost(pattern))
	if len(pattern) > tried && strings.ContainsAny(pattern, "?[") && strings.Contains(pattern, "*") {
		n += setupWork
	}
	return n
}

// Work returns about how many bytes a match of the pattern with a text of n bytes looks at.
func Work(pattern string, n int) int64 {
	shape, _ := ShapeOf(pattern)
	return work(shape, pattern, n) + int64(len(pattern))*readWork
}

func work(shape Shape, pattern string, n int) int64 {
	switch {
	case shape != Walked:
		return int64(min(len(pattern), n)) + 1
	case len(pattern)*n <= smallProduct:
		return int64(len(pattern)*n) + 1
	}
	return int64(n)*PerByte(pattern) + int64(len(pattern)) // which is read once
}
