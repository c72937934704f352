package jsondoc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naive is Find by the book: lists of places, one after the other, without sharing.
func naive(root Value, p *Path) []*Match {
	all := []*Match{{Value: root, index: noIndex}}
	for _, st := range p.steps {
		var next []*Match
		for _, m := range all {
			for _, from := range within(m, st.deep) {
				for _, sel := range st.selectors {
					next = append(next, selected(root, from, sel)...)
				}
			}
		}
		seen := map[string]bool{}
		all = slices.DeleteFunc(next, func(m *Match) bool {
			key := location(m)
			again := seen[key]
			seen[key] = true
			return again
		})
	}
	return all
}

// within is m, or all in it with m last.
func within(m *Match, deep bool) (all []*Match) {
	if deep {
		for _, kid := range children(m) {
			all = append(all, within(kid, true)...)
		}
	}
	return append(all, m)
}

func children(m *Match) (kids []*Match) {
	switch v := m.Value.(type) {
	case *Array:
		v.All(func(i int, e Value) bool { kids = append(kids, m.child("", i, e)); return true })
	case *Object:
		v.All(func(key string, e Value) bool { kids = append(kids, m.child(key, noIndex, e)); return true })
	}
	return kids
}

// selected are the children that a selector names. Slices are counted out by the
// definition of RFC 9535.
func selected(root Value, m *Match, sel selector) (out []*Match) {
	kids := children(m)
	n := len(kids)
	_, isArray := m.Value.(*Array)
	switch sel := sel.(type) {
	case named:
		for _, k := range kids {
			if k.index == noIndex && k.key == string(sel) {
				out = append(out, k)
			}
		}
	case indexed:
		for i, k := range kids {
			if isArray && (i == int(sel) || i-n == int(sel)) {
				out = append(out, k)
			}
		}
	case every:
		out = kids
	case sliced:
		if !isArray || sel.step == 0 {
			return nil
		}
		lower, upper := sel.bounds(n)
		for i := range kids {
			in := sel.step > 0 && lower <= i && i < upper && (i-lower)%sel.step == 0
			in = in || sel.step < 0 && upper < i && i <= lower && (lower-i)%-sel.step == 0
			if in {
				out = append(out, kids[i])
			}
		}
		if sel.step < 0 {
			slices.Reverse(out)
		}
	case filtered:
		for _, k := range kids {
			if sel.holds(newSearch(root, NewWork()), k.Value) {
				out = append(out, k)
			}
		}
	}
	return out
}

func location(m *Match) string {
	if m.parent == nil {
		return "$"
	}
	if m.index != noIndex {
		return fmt.Sprintf("%s[%d]", location(m.parent), m.index)
	}
	return fmt.Sprintf("%s[%q]", location(m.parent), m.key)
}

// parts are the steps that random paths are built from.
var parts = []string{".a", ".b", "..a", "..b", "..*", ".*", "[0]", "[-1]", "[*]", "[1:3]", "[::-1]", "[-2:]", "[2:0:-1]", "['a','b','a']", "[0,-1,0:2]",
	"..[0]", "..['b','a']", "[?(@.a)]", "[?(@==1||@.a<$.b)]", "..[?(@..a)]", "[?!(@.a && @.b)]", "[?@=~'a']"}

// TestFindAgainstModel compares places and their order with the naive evaluation.
func TestFindAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := draw(t, 4)
		source := "$" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 4).Draw(t, "parts"), "")
		p, err := ParsePath(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		found, err := Find(root, p, NewWork())
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		var got, want []string
		for _, m := range found {
			got = append(got, location(m))
		}
		for _, m := range naive(root, p) {
			want = append(want, location(m))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s on %s:\ngot  %v\nwant %v", source, text(t, root), got, want)
		}
		first, err := First(root, p, NewWork())
		if err != nil || (first == nil) != (len(found) == 0) || first != nil && text(t, first) != text(t, found[0].Value) {
			t.Fatalf("%s: first %v, %v", source, first, err)
		}
		if p.Single() && len(found) > 1 {
			t.Fatalf("%s is single and finds %d", source, len(found))
		}
		nestedFirst(t, found)
	})
}

// nestedFirst fails if a place stands before one that is in it.
func nestedFirst(t *rapid.T, found []*Match) {
	seen := map[*Match]bool{}
	for _, m := range found {
		for up := m.parent; up != nil; up = up.parent {
			if seen[up] {
				t.Fatalf("%s comes after %s", location(m), location(up))
			}
		}
		seen[m] = true
	}
}

func TestParsePath(t *testing.T) {
	for source, want := range map[string]string{
		"$": "$", "$.a": "$.a", ".": "$", "": "expected a name", "a": "$.a", ".a": "$.a", "..a": "$..a", "[0]": "$[0]", `.["a"]`: `$["a"]`, "a.b[1]": "$.a.b[1]",
		"$.a-b_c:d/é": "$.a-b_c:d/é", `$["\u0041\n\"]"]`: `$["\u0041\n\"]"]`, `$['it\'s "q"']`: `$['it\'s "q"']`, "$[ 'a' , 1 , : , ::-1 , -3:4 ]": "$[ 'a' , 1 , : , ::-1 , -3:4 ]",
		"$.": "expected a name", "$..": "expected a name", "$[": "expected a key", "$['a": "a quote is not closed", "$[1": "expected a comma",
		"$[-]": "expected a digit", "$[a]": "expected a key", "$.a ": "a step begins", "$[?(@.a]": "closing parenthesis", "$[?(@.a==)]": "a path or a constant",
		"$[?(@.a=~'[')]": "not a regular", "$[?(@.a=~'(((a{1000}){1000}){1000})')]": "regular expression", `$["\x"]`: "not a string", "$[?(@.a==1.2.3)]": "not a number",
		"$[?@.a=='(' || @['?']==\"a\"]": "$[?@.a=='(' || @['?']==\"a\"]", "$[?(@.a=~'" + strings.Repeat("a", MaxProgram) + "')]": "too large",
		"$[?" + strings.Repeat("(", 70) + "@" + strings.Repeat(")", 70) + "]": "too deeply", "$[?" + strings.Repeat("!", 70) + "@]": "too deeply",
		"$[?(" + strings.Repeat("@[?", 70) + "@" + strings.Repeat("]", 70) + ")]": "too deeply",
	} {
		p, err := ParsePath(source)
		switch {
		case err != nil && (!strings.Contains(err.Error(), want) || strings.HasPrefix(want, "$")):
			t.Errorf("%s: %v, want %s", source, err, want)
		case err == nil && p.Text != want:
			t.Errorf("%s: %s, want %s", source, p.Text, want)
		case err == nil && p.Legacy == strings.HasPrefix(source, "$"):
			t.Errorf("%s: legacy %v", source, p.Legacy)
		}
	}
	var bad *PathError
	if _, err := ParsePath("$.a[?(@.b=~')')]"); !errors.As(err, &bad) || bad.Position != 14 {
		t.Errorf("position %v", err)
	}
	if _, err := ParsePath("$.\xff"); !errors.Is(err, ErrUTF8) {
		t.Errorf("invalid UTF-8: %v", err)
	}
}

// hostile are documents and paths that ask for more than they should.
func hostile() map[string]Value {
	deep := Value(Int(1))
	for range MaxDepth - 1 {
		deep = ObjectOf(Member{"a", deep}, Member{"b", deep})
	}
	wide := make([]Value, 5_000)
	for i := range wide {
		wide[i] = String(strings.Repeat("a", 20))
	}
	chain := Value(Int(1))
	for range MaxDepth - 1 {
		chain = NewArray(chain, Int(2), Int(3))
	}
	return map[string]Value{"deep": deep, "wide": NewArray(wide...), "chain": chain}
}

// littleWork makes the bound quick to reach.
const littleWork = 250_000

// TestWorkIsBounded runs paths that multiply the places they look at: each ends with the
// matches or with ErrWork, and never with more than the work allowed.
func TestWorkIsBounded(t *testing.T) {
	docs := hostile()
	for _, c := range []struct {
		doc, path string
		stops     bool
	}{
		{"deep", "$..*", true}, // as many places as there are ways, though few values
		{"deep", "$..a..a..a", true},
		{"wide", "$..*", false},
		{"wide", "$[" + strings.Repeat("*,", 200) + "*]", true},
		{"wide", "$[?(@==$[0])]", false},
		{"wide", "$[?($..[?(@=='b')])]", true},
		{"wide", "$[?(@=~'(a+)+$')]", false},
		{"wide", "$[?(@=~'" + strings.Repeat("(a|aa)*", 500) + "')]", true},
		{"chain", "$" + strings.Repeat("..*", 20_000), false}, // nothing is that deep
		{"chain", "$..[?(@..[?(@..[?(@..[?(@==4)])])])]", true},
		{"wide", "$" + strings.Repeat("[0]", 100_000), false},
	} {
		p, err := ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Find(docs[c.doc], p, &Work{littleWork})
		if stopped := errors.Is(err, ErrWork); stopped != c.stops || len(found) > littleWork {
			t.Errorf("%s, %.40s: %d places, %v", c.doc, c.path, len(found), err)
		}
	}
}

// FuzzPath parses anything as a path and evaluates it: no panic, places found once, and
// those of the naive evaluation if there are few.
func FuzzPath(f *testing.F) {
	for _, p := range append(slices.Clone(parts), "$", ".", "a.b", "$.a[?(@.b=='x' && @['c']>=-1.5e3)]", "$[?(@.a=~\"(?i)x\")]", "$[0:1:2,'k',?(@)]") {
		f.Add("$" + p)
		f.Add(p)
	}
	root, err := Parse([]byte(`{"a":{"a":[1,2,{"b":"xyz","c":-1.5}],"b":true},"b":[[],[null],[1,[2]]],"k":7,"c":"a"}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source string) {
		p, err := ParsePath(source)
		if err != nil {
			return
		}
		again, err := ParsePath(p.Text)
		if err != nil || again.Legacy {
			t.Fatalf("%q as %q: %v", source, p.Text, err)
		}
		found, err := Find(root, p, NewWork())
		if err != nil || len(p.steps) > 8 {
			return
		}
		var got, want []string
		for _, m := range found {
			got = append(got, location(m))
		}
		for _, m := range naive(root, p) {
			want = append(want, location(m))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q finds %v, want %v", source, got, want)
		}
	})
}
