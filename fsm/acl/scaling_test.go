package acl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/internal/testcpu"
)

// manyRules are lists of n rules of every kind that a client can make many of.
var manyRules = map[string]func(n int) []string{
	"keys":      func(n int) []string { return each(n, "~key:%d") },
	"prefixes":  func(n int) []string { return each(n, "%%R~key:%d:*") },
	"globs":     func(n int) []string { return each(n, "~*key:%d") },
	"channels":  func(n int) []string { return each(n, "&news:%d") },
	"selectors": func(n int) []string { return each(n, "(~key:%d +get)") },
	"selector":  func(n int) []string { return []string{"(" + strings.Join(each(n, "~key:%d"), " ") + ")"} },
	"commands":  func(n int) []string { return alternate(n, "+get", "-get") },
	"containers": func(n int) []string {
		return alternate(n, "+config|get", "-config|set", "-config")
	},
	"resets": func(n int) []string {
		return append(each(n, "&news:%d"), alternate(n, "resetkeys", "~a", "+get", "nocommands")...)
	},
}

func each(n int, format string) (rules []string) {
	for i := range n {
		rules = append(rules, fmt.Sprintf(format, i))
	}
	return rules
}

func alternate(n int, rules ...string) (list []string) {
	for i := range n {
		list = append(list, rules[i%len(rules)])
	}
	return list
}

// TestSetUserIsLinear: four times the rules take four times as long, of every kind, added at once to a user that has
// few or many. What is quadratic takes sixteen times as long.
func TestSetUserIsLinear(t *testing.T) {
	for kind, rules := range manyRules {
		t.Run(kind, func(t *testing.T) {
			const most = 10
			n := testcpu.Scale(4000)
			factor := 0.0
			for range 8 { // a busy machine may disturb some
				small, large := setTime(t, rules(n)), setTime(t, rules(4*n))
				if factor = float64(large) / float64(small); factor < most {
					return
				}
			}
			t.Fatalf("four times the rules take %.1f times as long", factor)
		})
	}
}

// setLarge gives a user rules beyond MaxRules, as former versions did.
func setLarge(t *testing.T, s *Store, rules []string) {
	t.Helper()
	u := &User{Name: "u"}
	for _, rule := range rules {
		if reason := s.apply(u, rule); reason != "" {
			t.Fatalf("%.40s: %s", rule, reason)
		}
		u.exceeds()
	}
	s.put(u)
}

func setTime(t *testing.T, rules []string) time.Duration {
	t.Helper()
	best := time.Hour
	for range 3 {
		s := NewStore(catalog(), 0)
		began := testcpu.Used(t)
		setLarge(t, s, rules)
		best = min(best, testcpu.Used(t)-began)
	}
	return best
}

// TestUsersAreBounded: rules that make a user larger than allowed are refused as a whole, in one call or in several.
// What a user of a former version has beyond that can still be taken away.
func TestUsersAreBounded(t *testing.T) {
	for kind, rules := range manyRules {
		if kind == "commands" || kind == "containers" || kind == "resets" {
			continue // each replaces the one before
		}
		t.Run(kind, func(t *testing.T) {
			s := NewStore(catalog(), 0)
			var refused *RuleError
			if err := s.SetUser("u", rules(MaxRules+1)); !errors.As(err, &refused) || refused.Reason != tooManyRules || s.User("u") != nil {
				t.Fatalf("%v", err)
			}
			setLarge(t, s, rules(MaxRules+1))
			if err := s.SetUser("u", []string{"(~one)"}); !errors.As(err, &refused) {
				t.Fatalf("a large user has grown: %v", err)
			}
			if err := s.SetUser("u", []string{"off", "resetkeys", "resetchannels", "clearselectors", "~one"}); err != nil {
				t.Fatalf("a large user can't be made smaller: %v", err)
			}
		})
	}
	s := NewStore(catalog(), 0)
	for i := range MaxPasswords {
		if err := s.SetUser("u", []string{"#" + DigestOf(fmt.Sprint(i)).Hex()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetUser("u", []string{"#" + DigestOf("one more").Hex()}); err == nil {
		t.Fatal("more passwords than allowed")
	}
}

// TestRulesArePriced: the price of rules, of reading a user and of checking a call grows with what there is, and names and
// prefixes cost a check nothing.
func TestRulesArePriced(t *testing.T) {
	for kind, rules := range manyRules {
		s := NewStore(catalog(), 0)
		before := s.WorkOfRules("u", 1, 4)
		few, many := 0, 0
		for _, r := range rules(100) {
			few += len(r)
		}
		for _, r := range rules(1000) {
			many += len(r)
		}
		if a, b := s.WorkOfRules("u", len(rules(100)), few), s.WorkOfRules("u", len(rules(1000)), many); b < 5*a || b < 1000 {
			t.Errorf("%s: 100 rules cost %d, 1000 cost %d", kind, a, b)
		}
		if kind == "commands" || kind == "containers" || kind == "resets" {
			continue
		}
		if err := s.SetUser("u", rules(1000)); err != nil {
			t.Fatal(err)
		}
		if after := s.WorkOfRules("u", 1, 4); after < before+5*1000 || s.User("u").Work() < 1000 || s.Work() < 1000 {
			t.Errorf("%s: a rule more costs %d, reading costs %d", kind, after, s.User("u").Work())
		}
		walks := kind == "globs" || kind == "selectors"
		if got := s.User("u").CheckWork(10, 1000); walks != (got >= 10*1000) || !walks && got != 0 && kind != "selector" {
			t.Errorf("%s: ten keys cost %d", kind, got)
		}
		if size := s.Size(); size < 60*1000 {
			t.Errorf("%s: 1000 count as %d bytes", kind, size)
		}
	}
}

// TestPatternSets: look-ups find what matching with one pattern after the other finds.
func TestPatternSets(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune(`aab*?[]\`)), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		patterns := rapid.SliceOfN(letters, 0, 12).Draw(t, "patterns")
		var set patternSet
		for _, p := range patterns {
			set.add(p)
		}
		set.sort()
		for range 20 {
			name, want := letters.Draw(t, "name"), false
			for _, p := range patterns {
				want = want || glob.Match(p, name)
			}
			if got := set.matches(name); got != want {
				t.Fatalf("%q in %q: %t", name, patterns, got)
			}
		}
	})
}
