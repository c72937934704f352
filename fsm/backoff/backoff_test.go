package backoff

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var host = Math{Exp: math.Exp, Pow: math.Pow}

func TestDelay(t *testing.T) {
	for _, c := range []struct {
		text    string
		retried int
		want    int64
	}{
		{"5000", 3, 5000}, {" 1.5 ", 0, 2}, {".5", 0, 1}, {"1.", 0, 1}, {"1.4", 0, 1},
		{"1000 * (1 + retried)", 2, 3000}, {"pow(2, retried) * 1000", 5, 32000},
		{"1 + 2 * 3", 0, 7}, {"10 - 2 - 3", 0, 5}, {"100 / 5 / 2", 0, 10}, {"2 * -3 + 10", 0, 4}, {"10--2", 0, 12}, {"+-+-7", 0, 7},
		{"sqrt(16) + abs(-3)", 0, 7}, {"floor(2.9)+ceil(2.1)+round(2.5)", 0, 8}, {"round(-2.5) + 10", 0, 7},
		{"min(5,3,9)", 0, 3}, {"max(5,3,9)", 0, 9}, {"max(retried)", 4, 4}, {"max(1, min(retried, 3), 2)", 9, 3},
		{"exp(0)*7", 0, 7}, {"pow(10,1+1)", 0, 100}, {"retried", 0, 0},
		{"-5", 0, 0}, {"86400001", 0, MaxDelay}, {"1/0", 0, MaxDelay}, {"-1/0", 0, 0}, {"exp(1000)", 0, MaxDelay},
		{strings.Repeat("9", MaxLength), 0, MaxDelay},
	} {
		x, err := Parse(c.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.text, err)
			continue
		}
		if got, ok := x.Delay(c.retried, host); got != c.want || !ok {
			t.Errorf("%q after %d retries: %d, %v; want %d", c.text, c.retried, got, ok, c.want)
		}
	}
}

func TestDelayOfWhatIsNoNumber(t *testing.T) {
	for _, text := range []string{"0/0", "sqrt(-1)", "min(1, 0/0)", "1/0 - 1/0"} {
		x, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if ms, ok := x.Delay(0, host); ok {
			t.Errorf("%q: %d", text, ms)
		}
	}
}

// TestDefault: the specification, publish, rule 1: min(86400, e^(2n)) seconds.
func TestDefault(t *testing.T) {
	x, err := Parse(Default)
	if err != nil {
		t.Fatal(err)
	}
	for retried, want := range []int64{1000, 7389, 54598, 403429, 2980958, 22026466, 86400000, 86400000} {
		if got, ok := x.Delay(retried, host); got != want || !ok {
			t.Errorf("before retry %d: %d; want %d", retried, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "(", ")", "()", "1 2", "1 +", "* 1", "1e3", "0x10", "1.2.3", ".", "..", "1,000", "retried retried", "Retried", "x", "retried2",
		"pow(1)", "pow(1,2,3)", "pow()", "sqrt(1,2)", "sqrt", "sqrt 4", "min()", "max(1,)", "min(,1)", "1 % 2", "2^3", "2**3", "1 // 2",
		"\"a\"", "[1]", "1 ? 2 : 3", "a=1", "1;2", "max(1", "(1", "1)", "true", "pow(2,3", "log(2)", "1\n", "é", "\x00", "−1",
		strings.Repeat("1", MaxLength+1), strings.Repeat("(", 40) + "1" + strings.Repeat(")", 40), strings.Repeat("-", 200) + "1",
	} {
		if _, err := Parse(text); !errors.Is(err, ErrExpression) {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

// tree draws an expression and what it is worth when retried is 3, by Go's own
// arithmetic on the tree and not on the text.
func tree(depth int) *rapid.Generator[node] {
	return rapid.Custom(func(t *rapid.T) node {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if depth == 0 {
			kind %= 2
		}
		sub := func() node { return tree(depth-1).Draw(t, "sub") }
		switch kind {
		case 0:
			v := rapid.IntRange(0, 99).Draw(t, "number")
			return node{fmt.Sprint(v), float64(v)}
		case 1:
			return node{"retried", 3}
		case 2, 3, 4, 5:
			a, b := sub(), sub()
			op := "+-*/"[kind-2]
			v := map[byte]float64{'+': a.value + b.value, '-': a.value - b.value, '*': a.value * b.value, '/': a.value / b.value}[op]
			return node{fmt.Sprintf("(%s) %c (%s)", a.text, op, b.text), v}
		case 6:
			a, b, c := sub(), sub(), sub()
			return node{fmt.Sprintf("min(%s, %s,%s)", a.text, b.text, c.text), math.Min(math.Min(a.value, b.value), c.value)}
		case 7:
			a := sub()
			return node{"floor(" + a.text + ")", math.Floor(a.value)}
		case 8:
			a, b := sub(), sub()
			return node{fmt.Sprintf("pow(%s,%s)", a.text, b.text), math.Pow(a.value, b.value)}
		}
		a := sub()
		return node{"-(" + a.text + ")", -a.value}
	})
}

type node struct {
	text  string
	value float64
}

func TestEvalAgainstTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := tree(3).Draw(t, "tree")
		if len(n.text) > MaxLength {
			t.Skip("too long")
		}
		x, err := Parse(n.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.eval(3, host); got != n.value && !(math.IsNaN(got) && math.IsNaN(n.value)) {
			t.Fatalf("%s = %v; want %v", n.text, got, n.value)
		}
	})
}

// FuzzParse: no text makes Parse or Delay panic, a delay is in its bounds, and the
// program is no longer than the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{Default, "pow(2, retried)*1000", "max(1,2,3)-(-4)/.5", "((1", "1e5", "min(retried"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, retried int) {
		x, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrExpression) {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			return
		}
		if len(x.steps) > len(text) {
			t.Fatalf("%q has %d steps", text, len(x.steps))
		}
		if ms, _ := x.Delay(retried, host); ms < 0 || ms > MaxDelay {
			t.Fatalf("%q after %d retries: %d", text, retried, ms)
		}
	})
}
