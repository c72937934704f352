package glob

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		if got := matchParts(c.pattern, c.text); got != c.want {
			t.Errorf("matchParts(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}

// TestParts lets both ways match what is drawn from few bytes, so that they often match.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "?", "[ab]", "[^a]", "\\a", "[a-b", "\\", "aab", "*a?b*"}), 0, 40).Draw(t, "pattern"), "")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "aab", "-"}), 0, 40).Draw(t, "text"), "")
		if got, want := matchParts(pattern, text), matchSmall(pattern, text); got != want {
			t.Fatalf("matchParts(%q, %q) = %v", pattern, text, got)
		}
	})
}

// TestLongParts has parts of more elements than a word has bits.
func TestLongParts(t *testing.T) {
	for _, n := range []int{17, 63, 64, 65, 129, 2000} {
		long := strings.Repeat("[ab]?", n)
		text := strings.Repeat("c", 500) + strings.Repeat("ax", n) + "d"
		for pattern, want := range map[string]bool{
			"*" + long + "*": true, "*" + long + "d*": true, "*" + long + "?e*": false, "*" + long + "[ab]*": false, "*x" + long + "*": false, "*c" + long + "d": true, "ccc*" + long + "d": true, "*" + long: false, "*" + long + "?": true,
		} {
			if matchParts(pattern, text) != want || Match(pattern, text) != want {
				t.Errorf("%d elements: Match(%.20q…, …) is not %v", 2*n, pattern, want)
			}
			if inside := pattern[len(pattern)-1] == '*' && 2*n > MaxSearched; Costly(pattern) != inside {
				t.Errorf("%d elements: Costly(%.20q…) is not %v", 2*n, pattern, inside)
			}
		}
	}
	if Costly(strings.Repeat("a", 5000) + "*" + strings.Repeat("b", 5000) + "*?" + strings.Repeat("?", 5000)) {
		t.Error("long texts and a long end are costly")
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
		if parts := matchParts(pattern, text); parts != got {
			t.Fatalf("matchParts(%q, %q) = %v", pattern, text, parts)
		}
		if Literal(pattern) && got != (pattern == text) {
			t.Fatalf("Match(%q, %q) = %v of a literal", pattern, text, got)
		}
	})
}
