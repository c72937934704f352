package command

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// TestCategories checks rows whose categories clients rely on, as Redis has them.
func TestCategories(t *testing.T) {
	table := NewTable()
	for name, want := range map[string]acl.Category{
		"get":         acl.Read | acl.String | acl.Fast | acl.ReadOnlyCategory,
		"set":         acl.Write | acl.String | acl.Slow,
		"keys":        acl.Keyspace | acl.Read | acl.Slow | acl.Dangerous,
		"flushall":    acl.Keyspace | acl.Write | acl.Slow | acl.Dangerous,
		"dbsize":      acl.Keyspace | acl.Read | acl.Fast | acl.ReadOnlyCategory,
		"ping":        acl.Fast | acl.Connection | acl.ReadOnlyCategory,
		"acl setuser": acl.AdminCategory | acl.Slow | acl.Dangerous,
		"acl whoami":  acl.Slow | acl.ReadOnlyCategory,
	} {
		if got := table.byName[name].categories(); got != want {
			t.Errorf("%s: %b, want %b", name, got, want)
		}
	}
}

// TestReadOnlyUserIsTheFlag: the Read Only token opens the rows that are marked for it,
// and no others.
func TestReadOnlyUserIsTheFlag(t *testing.T) {
	u := readOnly()
	for _, c := range NewTable().Rows() {
		denied, _ := u.Permit(&acl.Call{Command: c.number, Keys: []acl.Key{{Name: "k", Access: acl.ReadKey}}})
		if open := c.Flags&ReadOnlyUser != 0; open != (denied == acl.Permitted) {
			t.Errorf("%s: marked %v, denied %v", c.Name, open, denied)
		}
	}
}

func TestSeal(t *testing.T) {
	hash := func(s string) string { return "#" + acl.DigestOf(s).Hex() }
	for line, want := range map[string]string{
		"ACL SETUSER bob on >pw ~k <old #abc >": "ACL SETUSER bob on " + hash("pw") + " ~k !" + hash("old")[1:] + " #abc " + hash(""),
		"acl setuser >bob >pw":                  "acl setuser >bob " + hash("pw"),
		"ACL RESTTOKEN bob pw":                  "ACL RESTTOKEN bob " + hash("pw"),
		"ACL RESTTOKEN bob " + hash("pw"):       "ACL RESTTOKEN bob " + hash(hash("pw")),
		"ACL GENTOKEN bob":                      "ACL GENTOKEN bob",
		"ACL GENTOKEN bob aaaaaaaaaaaaaaaaaaaa": "ACL GENTOKEN bob weak",
		"ACL GENTOKEN bob 0123456789abcdef":     "ACL GENTOKEN bob " + hash("0123456789abcdef"),
		"AUTH pw":                               "AUTH " + hash("pw"),
		"auth bob pw":                           "auth bob " + hash("pw"),
		"AUTH bob pw more":                      "AUTH bob " + hash("pw") + " " + hash("more"),
		"HELLO 3 AUTH bob pw SETNAME c":         "HELLO 3 AUTH bob " + hash("pw") + " SETNAME c",
		"HELLO 3 AUTH bob":                      "HELLO 3 AUTH bob",
		"CONFIG SET requirepass pw save x":      "CONFIG SET requirepass " + hash("pw") + " save x",
		"MIGRATE h 1 k 0 5 AUTH2 bob pw":        "MIGRATE h 1 k 0 5 AUTH2 bob " + hash("pw"),
		"SET k >v":                              "SET k >v",
		"ACL":                                   "ACL",
		"AUTH":                                  "AUTH",
		"ACL GETUSER >bob":                      "ACL GETUSER >bob",
	} {
		argv := words(line)
		before := slices.Clone(argv)
		if got := string(bytes.Join(HashSecrets(argv), []byte(" "))); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
		if !slices.EqualFunc(argv, before, bytes.Equal) {
			t.Errorf("%s: Seal changed its argument", line)
		}
		shown := string(bytes.Join(Redact(argv), []byte(" ")))
		if strings.Contains(shown, "pw") || (line != want) != strings.Contains(shown, Redacted) {
			t.Errorf("%s is shown as %s", line, shown)
		}
	}
}

func TestChannelsOfCommands(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []string
		patterns   bool
	}{
		{"publish", "PUBLISH c m", []string{"c"}, false},
		{"subscribe", "SUBSCRIBE a b", []string{"a", "b"}, false},
		{"psubscribe", "PSUBSCRIBE a* b", []string{"a*", "b"}, true},
		{"get", "GET k", nil, false},
	} {
		row := NewTable().Row(c.name)
		if got, patterns := row.channels(words(c.line)); !slices.Equal(got, c.want) || patterns != c.patterns {
			t.Errorf("%s: %v %v", c.line, got, patterns)
		}
	}
}

// TestRegroupedCategories: rules about a category permit what they permit in Redis.
func TestRegroupedCategories(t *testing.T) {
	for line, rules := range map[string][2]string{ // that don't permit it, and that do
		"FUNCTION FLUSH":                 {"+@all -@write", "-@all +@write"},
		"FUNCTION DELETE lib":            {"+@all -@write", "-@all +@write"},
		"FUNCTION LOAD REPLACE #!lua":    {"+@all -@write", "-@all +@write"},
		"FUNCTION RESTORE payload FLUSH": {"+@all -@write", "-@all +@write"},
		"CLIENT SETNAME n":               {"-@all +@fast", "-@all +@slow"},
		"PFDEBUG GETREG k":               {"+@all -@write", "-@all +@write"},
	} {
		for i, rule := range rules {
			tx := testTx(nil, RESP)
			if err := tx.Users.SetUser("u", append([]string{"on", "nopass", "~*"}, strings.Fields(rule)...)); err != nil {
				t.Fatal(err)
			}
			tx.User = tx.Users.User("u")
			if refused := strings.HasPrefix(tx.do(line).Text(), "NOPERM"); refused != (i == 0) {
				t.Errorf("%s with %s: refused %v, want %v", line, rule, refused, i == 0)
			}
		}
	}
	tx := testTx(acl.Default, RESP)
	for _, line := range []string{"ACL CAT write", "COMMAND LIST FILTERBY ACLCAT write"} {
		if !strings.Contains(fmt.Sprint(texts(tx.do(line))), "function|load") {
			t.Errorf("%s lacks FUNCTION LOAD", line)
		}
	}
	entry := tx.do("COMMAND INFO function|load").Elems()[0].Elems()
	if !slices.Contains(texts(entry[6]), "@write") {
		t.Errorf("COMMAND INFO has the categories %q, want @write among them", texts(entry[6]))
	}
}

// texts are the texts of a reply's elements.
func texts(v reply.Value) (all []string) {
	for _, e := range v.Elems() {
		all = append(all, e.Text())
	}
	return all
}
