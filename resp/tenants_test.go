package resp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestUsersOfDatabases logs in over sockets as users of two databases. The name chooses the database; one without a
// database is never looked for elsewhere, also if its user takes any password; MONITOR shows the commands of its own database;
// and CLIENT PAUSE of one database keeps nobody of another waiting.
func TestUsersOfDatabases(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	for _, db := range []string{"shop", "other"} {
		made := fsm.DatabaseTokens{Name: db, Standard: acl.DigestOf(db + "-token"), ReadOnly: acl.DigestOf(db + "-read-only")}
		if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.CreateDatabase, made); err != nil {
			t.Fatal(err)
		}
	}
	dial := func(words ...string) *resptest.Client {
		c := resptest.Dial(t, nodes.Addrs[0])
		c.Want("OK", words...)
		return c
	}
	const refused = "(error) WRONGPASS invalid username-password pair or user is disabled."
	shop, other := dial("AUTH", "shop/default", "shop-token"), dial("AUTH", "other-token")
	shop.Want("OK", "ACL", "SETUSER", "alice", "on", ">secret", "+@all", "~*")
	shop.Want("OK", "ACL", "SETUSER", "anyone", "on", "nopass", "+@all", "~*")
	shop.Want("OK", "SET", "k", "of shop")
	stranger := resptest.Dial(t, nodes.Addrs[0])
	for _, words := range [][]string{
		{"AUTH", "alice", "secret"}, {"AUTH", "other/alice", "secret"}, {"AUTH", "default/alice", "secret"}, {"AUTH", "anyone", "x"},
		{"AUTH", "other/anyone", "x"}, {"AUTH", "none/alice", "secret"}, {"AUTH", "/alice", "secret"}, {"AUTH", "other/default", "shop-token"},
	} {
		stranger.Want(refused, words...)
	}
	alice := dial("AUTH", "shop/alice", "secret")
	alice.Want(`"of shop"`, "GET", "k")
	other.Want("(nil)", "GET", "k")
	hello := resptest.Dial(t, nodes.Addrs[0])
	hello.Do("HELLO", "3", "AUTH", "shop/alice", "secret")
	hello.Want(`"of shop"`, "GET", "k")

	monitor := dial("AUTH", "other-token")
	monitor.Want("OK", "MONITOR")
	shop.Want("OK", "SET", "unseen", "x")
	other.Want("(nil)", "GET", "seen")
	if line := monitor.Next().Text(); !strings.HasSuffix(line, `"GET" "seen"`) {
		t.Errorf("MONITOR of other shows %s, want its own GET alone", line)
	}

	shop.Want("OK", "CLIENT", "PAUSE", "100000", "ALL")
	alice.Start("GET", "k")
	other.Want("OK", "SET", "k", "of other")
	other.Want(`"of other"`, "GET", "k")
	other.Want("OK", "CLIENT", "UNPAUSE") // of its own
	if _, err := nodes.Nodes[0].Read(t.Context(), fsm.Reading{}, func(v *fsm.View) {
		if !v.ExpiryHeld("shop") || v.ExpiryHeld("other") || v.ExpiryHeld(fsm.DefaultDB) {
			t.Error("the pause does not hold the expiry of its own database alone")
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !alice.Silent(50 * time.Millisecond) {
		t.Error("a paused database answered")
	}
	shop.Want("OK", "CLIENT", "UNPAUSE")
	alice.WantNext(`"of shop"`)
}
