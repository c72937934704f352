package glob

import (
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "", false}, {"*", "", true}, {"**", "", true}, {"*", "abc", true},
		{"abc", "abc", true}, {"abc", "abd", false}, {"ABC", "abc", false}, {"ab", "abc", false}, {"abc", "ab", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"?", "", false}, {"?", "\xff", true}, {"?", "é", false}, {"??", "é", true},
		{"h*llo", "hllo", true}, {"h*llo", "heeello", true}, {"h*llo", "hell", false}, {"*a*b*", "xaxbx", true}, {"*a*b", "ab", true}, {"*a*b", "ba", false},
		{"h[ae]llo", "hallo", true}, {"h[ae]llo", "hillo", false}, {"h[^e]llo", "hallo", true}, {"h[^e]llo", "hello", false},
		{"h[a-c]llo", "hbllo", true}, {"h[a-c]llo", "hdllo", false}, {"h[c-a]llo", "hbllo", true}, {"[^a-c]", "d", true}, {"[^a-c]", "b", false},
		{"[a-]", "-", false}, {"[-a]", "-", true}, {"[a^]", "^", true}, {"[^]", "a", true}, {"[]", "a", false}, {"[]a]", "]a]", false},
		{"[\\]]", "]", true}, {"[\\a-c]", "b", false}, {"[\\-]", "-", true}, {"[a-\\]", "]", true},
		{"[abc", "a", true}, {"[abc", "d", false}, {"[a-c", "b", true}, {"[", "[", false}, {"[^", "x", true}, {"[abc", "ab", false},
		{"\\*", "*", true}, {"\\*", "a", false}, {"\\?x", "?x", true}, {"\\\\", "\\", true}, {"\\", "\\", true}, {"a\\", "a\\", true}, {"\\a", "a", true},
		{"*\\", "x\\", true}, {"a*[0-9]", "axx7", true}, {"a*[0-9]", "axx", false}, {"\x00*\xff", "\x00\n\xff", true},
	} {
		if got := Match(c.pattern, c.text); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}

// TestMatchIsNotExponential runs a pattern that would take a naive matcher years.
func TestMatchIsNotExponential(t *testing.T) {
	start := time.Now()
	if Match(strings.Repeat("*a", 1000)+"*b", strings.Repeat("a", 20000)) {
		t.Fatal("matched")
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Fatalf("took %v", took)
	}
}

// slow is the plain recursive definition of a match.
func slow(pattern, text string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '*':
		return slow(pattern[1:], text) || text != "" && slow(pattern, text[1:])
	case text == "":
		return false
	}
	n, ok := one(pattern, text[0])
	return ok && slow(pattern[n:], text[1:])
}

func FuzzMatch(f *testing.F) {
	f.Add("a*[b-d]?\\*", "axxc*")
	f.Add("[", "[")
	f.Add("*a*a*b", "aaaaaaab")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		got := Match(pattern, text)
		if len(pattern) < 12 && len(text) < 12 && got != slow(pattern, text) {
			t.Fatalf("Match(%q, %q) = %v", pattern, text, got)
		}
		if Literal(pattern) && got != (pattern == text) {
			t.Fatalf("Match(%q, %q) = %v of a literal", pattern, text, got)
		}
	})
}
