package scripttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// Print writes a reply as redis-cli shows it to a person, with the types of RESP3.
// The null array of RESP2 is told from the null string.
func Print(v reply.Value) string {
	v = v.RESP3()
	switch v.Kind() {
	case reply.KindNil:
		return "(nil)"
	case reply.KindNilArray:
		return "(nil array)"
	case reply.KindStatus:
		return v.Text()
	case reply.KindError:
		return "(error) " + v.Text()
	case reply.KindInt:
		return fmt.Sprintf("(integer) %d", v.Int())
	case reply.KindDouble:
		return "(double) " + v.Text()
	case reply.KindBool:
		return map[int64]string{0: "(false)", 1: "(true)"}[v.Int()]
	case reply.KindBigNumber:
		return "(big number) " + v.Text()
	case reply.KindVerbatim:
		return "(verbatim) " + Quote(v.Text())
	case reply.KindBulk:
		return Quote(v.Text())
	case reply.KindMap, reply.KindKeyed:
		return pairs(v)
	case reply.KindPairs:
		return list(nested(v))
	}
	return list(v)
}

var (
	marks = map[reply.Kind]string{reply.KindArray: ")", reply.KindSet: "~", reply.KindPush: ">", reply.KindMap: "#", reply.KindKeyed: "#"}
	names = map[reply.Kind]string{reply.KindArray: "array", reply.KindSet: "set", reply.KindPush: "push", reply.KindMap: "hash", reply.KindKeyed: "hash"}
)

// list prints elements one a line, numbered, those of a nested one indented.
func list(v reply.Value) string {
	elems := v.Elems()
	if len(elems) == 0 {
		return "(empty " + names[v.Kind()] + ")"
	}
	width := len(fmt.Sprint(len(elems)))
	lines := make([]string, len(elems))
	for i, e := range elems {
		head := fmt.Sprintf("%*d%s ", width, i+1, marks[v.Kind()])
		lines[i] = head + indent(Print(e), len(head))
	}
	return strings.Join(lines, "\n")
}

// nested is a list of pairs as RESP3 has it.
func nested(v reply.Value) reply.Value {
	elems := v.Elems()
	arrays := make([]reply.Value, len(elems)/2)
	for i := range arrays {
		arrays[i] = reply.Array(elems[2*i : 2*i+2]...)
	}
	return reply.Array(arrays...)
}

func pairs(v reply.Value) string {
	elems := v.Elems()
	if len(elems) == 0 {
		return "(empty " + names[v.Kind()] + ")"
	}
	width := len(fmt.Sprint(len(elems) / 2))
	lines := make([]string, len(elems)/2)
	for i := range lines {
		head := fmt.Sprintf("%*d%s ", width, i+1, marks[v.Kind()])
		lines[i] = head + Print(elems[2*i]) + " => " + indent(Print(elems[2*i+1]), len(head))
	}
	return strings.Join(lines, "\n")
}

func indent(s string, n int) string {
	return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n))
}

// Sorted is v with the elements of every set, the pairs of every map, and the elements
// of every array that holds only strings or only pairs of strings in order.
func Sorted(v reply.Value) reply.Value {
	v = v.RESP3()
	switch v.Kind() {
	case reply.KindPairs:
		return Sorted(nested(v))
	case reply.KindMap:
		return reply.Map(flat(byText(nested(v).Elems()))...)
	case reply.KindSet:
		return reply.Set(byText(v.Elems())...)
	case reply.KindArray:
		if all(v.Elems(), isText) || all(v.Elems(), isPair) {
			return reply.Array(byText(v.Elems())...)
		}
		elems := slices.Clone(v.Elems())
		for i := range elems {
			elems[i] = Sorted(elems[i])
		}
		return reply.Array(elems...)
	}
	return v
}

// byText is elems in the order of what they print as.
func byText(elems []reply.Value) []reply.Value {
	return slices.SortedFunc(slices.Values(elems), func(a, b reply.Value) int { return strings.Compare(Print(a), Print(b)) })
}

// flat is the elements of arrays one after the other.
func flat(arrays []reply.Value) (elems []reply.Value) {
	for _, a := range arrays {
		elems = append(elems, a.Elems()...)
	}
	return elems
}

func isText(v reply.Value) bool { return v.Kind() == reply.KindBulk }

func isPair(v reply.Value) bool {
	return v.Kind() == reply.KindArray && len(v.Elems()) == 2 && all(v.Elems(), isText)
}

func all(elems []reply.Value, is func(reply.Value) bool) bool {
	return !slices.ContainsFunc(elems, func(v reply.Value) bool { return !is(v) })
}

// Shown is the reply of a step in the form of its Want.
func (s *Step) Shown(v reply.Value) string {
	if s.Unordered {
		v = Sorted(v)
	}
	return Print(v)
}
