package acl

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// catalog has a few commands of every kind that rules tell apart.
func catalog() *Catalog {
	return NewCatalog([]Command{
		{Name: "get", Categories: Read | String | ReadOnlyCategory}, {Name: "set", Categories: Write | String},
		{Name: "keys", Categories: Read | Dangerous}, {Name: "config|get", Categories: AdminCategory}, {Name: "config|set", Categories: AdminCategory | Dangerous},
		{Name: "publish", Categories: PubSub},
	})
}

var ruleGenerator = rapid.SampledFrom([]string{
	"on", "off", "nopass", "resetpass", "reset", "clearselectors", "allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands", "nocommands",
	"~a*", "%R~b", "%W~b", "%RW~c*", "&x*", "&y", "+get", "-get", "+set", "+config", "-config|set", "+config|get", "+@read", "-@dangerous", "+@string",
	"+@all", "-@all", "(~z +get)", "(+@read %W~w &q)", "#" + DigestOf("one").Hex(), "#" + DigestOf("two").Hex(), "!" + DigestOf("one").Hex(),
	"+nosuch", "~a b", "%~x", "zzz", "",
})

// TestLineMakesTheSameUser: what ACL LIST shows are rules that make the user again, and
// the record of a snapshot restores it.
func TestLineMakesTheSameUser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(catalog(), 0)
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			rules := rapid.SliceOfN(ruleGenerator, 1, 4).Draw(t, "rules")
			before := s.User("u")
			if err := s.SetUser("u", rules); err != nil {
				var refused *RuleError
				if !errors.As(err, &refused) || s.User("u") != before {
					t.Fatalf("%v left another user", err)
				}
			}
		}
		u := s.User("u")
		if u == nil {
			return
		}
		again := NewStore(catalog(), 0)
		if err := again.SetUser("u", rulesOf(u.Line())); err != nil {
			t.Fatalf("%s: %v", u.Line(), err)
		}
		same(t, u, again.User("u"))
		loaded := NewStore(catalog(), s.Serial())
		after := ""
		if err := s.Save(func(record []byte) (err error) { after, err = loaded.Load(record, after); return err }); err != nil {
			t.Fatal(err)
		}
		same(t, u, loaded.User("u"))
		if loaded.Size() != s.Size() {
			t.Fatalf("%d bytes, loaded %d", s.Size(), loaded.Size())
		}
	})
}

// rulesOf takes a line of ACL LIST apart; a selector is one rule.
func rulesOf(line string) (rules []string) {
	for _, word := range strings.Fields(line)[2:] {
		if n := len(rules); n > 0 && strings.HasPrefix(rules[n-1], "(") && !strings.HasSuffix(rules[n-1], ")") {
			rules[n-1] += " " + word
			continue
		}
		rules = append(rules, word)
	}
	return rules
}

func same(t *rapid.T, a, b *User) {
	if a.Line() != b.Line() {
		t.Fatalf("%s\n%s", a.Line(), b.Line())
	}
	for command := range 6 {
		for _, key := range []string{"a1", "b", "c1", "w", "z", "none"} {
			for access := ReadKey; access <= ReadKey|WriteKey; access++ {
				call := &Call{Command: command, Keys: []Key{{key, access}}, Channels: []string{"x1"}}
				da, _ := a.Permit(call)
				db, _ := b.Permit(call)
				if da != db {
					t.Fatalf("%s: %+v: %d and %d", a.Line(), call, da, db)
				}
			}
		}
	}
}

// TestOrderOfRules replays rules against the plainest reading of them.
func TestOrderOfRules(t *testing.T) {
	names := []string{"get", "set", "keys", "config|get", "config|set", "publish"}
	rapid.Check(t, func(t *rapid.T) {
		s, open := NewStore(catalog(), 0), map[string]bool{}
		for _, rule := range rapid.SliceOfN(rapid.SampledFrom([]string{
			"+@all", "-@all", "+get", "-get", "+set", "-set", "+config", "-config", "+config|get", "-config|set", "+@read", "-@read", "+@admin", "-@dangerous", "+@string", "-@string",
		}), 1, 25).Draw(t, "rules") {
			if err := s.SetUser("u", []string{rule}); err != nil {
				t.Fatal(err)
			}
			for i, name := range names {
				category := CategoryNamed(strings.TrimPrefix(rule[1:], "@"))
				if rule[1:] == name || strings.HasPrefix(name, rule[1:]+"|") || rule[1:] == "@all" || (rule[1] == '@' && catalog().commands[i].Categories&category != 0) {
					open[name] = rule[0] == '+'
				}
			}
		}
		for i, name := range names {
			if d, _ := s.User("u").Permit(&Call{Command: i}); (d == Permitted) != open[name] {
				t.Fatalf("%s: %s", s.User("u").Line(), name)
			}
		}
	})
}

// TestIdentitiesFollowTheirCredential removes, adds and changes what does and doesn't
// concern an identity.
func TestIdentitiesFollowTheirCredential(t *testing.T) {
	s := NewStore(catalog(), 0)
	one, two := "#"+DigestOf("one").Hex(), "#"+DigestOf("two").Hex()
	set := func(rules ...string) {
		t.Helper()
		if err := s.SetUser("u", rules); err != nil {
			t.Fatal(err)
		}
	}
	set("on", one, two)
	as := func(password string) Identity {
		return Identity{By: ByCredential, User: "u", Credential: s.Authenticate("u", DigestOf(password))}
	}
	first, second := as("one"), as("two")
	check := func(when string, i Identity, works bool) {
		t.Helper()
		if (s.Resolve(&i) != nil) != works {
			t.Errorf("%s: %+v", when, i)
		}
	}
	check("by no password", as("three"), false)
	set("#"+DigestOf("three").Hex(), "+get", "~k", one)
	check("after other changes", first, true)
	set("!" + one[1:])
	check("without its password", first, false)
	check("with another one gone", second, true)
	set(one)
	check("a password given again is another credential", first, false)
	check("which works", as("one"), true)
	set("off")
	check("switched off", second, false)
	check("switched off", as("two"), false)
	set("on")
	check("switched on", second, true)
	set("nopass")
	check("passwords are gone", second, false)
	anyone := as("anything")
	check("any password", anyone, true)
	set("nopass")
	check("still", anyone, true)
	set(two)
	check("passwords count again", anyone, false)
	s.Delete("u")
	check("deleted", as("two"), false)
	set("on", two)
	check("made anew", second, false)
	if s.Delete(DefaultName) || s.Delete("nobody") {
		t.Error("deleted a user that can't be")
	}
}

func TestForksShareNothingThatChanges(t *testing.T) {
	s := NewStore(catalog(), 0)
	s.SetUser("u", []string{"on", "~a", "+get"})
	lines := func(s *Store) (all string) {
		for _, u := range s.Users() {
			all += u.Line() + "\n"
		}
		return all
	}
	f := s.Fork()
	before := lines(f)
	s.SetUser("u", []string{"~b", "-get"})
	s.SetUser("v", []string{"on"})
	s.SetToken(DefaultName, DigestOf("t"), Salt{})
	if lines(f) != before || lines(s) == before {
		t.Error("a fork changed with its original")
	}
}

// FuzzBearer reads any bytes as a token: no panic, and it opens nothing.
func FuzzBearer(f *testing.F) {
	s := NewStore(catalog(), 0)
	if err := s.SetUser("bob", []string{"on", "#" + DigestOf("secret").Hex(), "+@all"}); err != nil {
		f.Fatal(err)
	}
	s.SetKey([32]byte{1}, 7)
	token, ok := s.RESTToken("bob", DigestOf("secret"))
	if !ok {
		f.Fatal("no token")
	}
	for _, seed := range []string{token, "", "AQ==", "AgNib2I=", "AP8=", GeneratedToken("bob", []byte("x")), GeneratedToken(strings.Repeat("b", 255), make([]byte, 600)), strings.Repeat("A", 5000)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		bearer := ParseBearer(b)
		user, number := s.Bearer(&bearer)
		// The decoder skips line ends, wherever they stand.
		genuine := bytes.Equal(bytes.Map(func(r rune) rune {
			if r == '\r' || r == '\n' {
				return -1
			}
			return r
		}, b), []byte(token))
		if number != 0 && !genuine {
			t.Fatalf("%q opens %q", b, user)
		}
	})
}

// FuzzLoad reads any bytes as a user's record.
func FuzzLoad(f *testing.F) {
	s := NewStore(catalog(), 0)
	s.SetUser("u", []string{"on", "#" + DigestOf("secret").Hex(), "+@all", "-get", "~a", "%R~b", "&c", "(+get ~z)"})
	if err := s.Save(func(record []byte) error { f.Add(slices.Clone(record)); return nil }); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		s := NewStore(catalog(), 0)
		if name, err := s.Load(record, ""); err == nil {
			u := s.User(name)
			u.Line()
			u.Permit(&Call{Command: 1, Keys: []Key{{"k", ReadKey}}})
		}
	})
}
