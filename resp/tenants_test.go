package resp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp"
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

// TestConnectionsOfOthersAreNotCounted: whatever many connections of another database do, a database is told the same by every
// command that is about connections or the log: ids that rise by one, counts of its own, no offset.
func TestConnectionsOfOthersAreNotCounted(t *testing.T) {
	counted := stats.New(command.NewTable())
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Stats = counted })
	nodes.Nodes[0].Machine().SetHost(&command.Host{NodeID: "n1", Leads: true, Figures: counted.Of})
	for _, db := range []string{"shop", "other"} {
		made := fsm.DatabaseTokens{Name: db, Standard: acl.DigestOf(db + "-token"), ReadOnly: acl.DigestOf(db + "-read-only")}
		if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.CreateDatabase, made); err != nil {
			t.Fatal(err)
		}
	}
	dial := func(db string) *resptest.Client {
		c := resptest.Dial(t, nodes.Addrs[0])
		c.Want("OK", "AUTH", db+"-token")
		return c
	}
	shop := dial("shop")
	told := func() string {
		var out []string
		for line := range strings.Lines(shop.Do("INFO", "stats").Text() + shop.Do("INFO", "replication").Text() + shop.Do("INFO", "clients").Text()) {
			name, _, _ := strings.Cut(line, ":")
			switch name {
			case "total_connections_received", "rejected_connections", "connected_clients", "tracking_total_keys", "master_repl_offset", "slave_repl_offset":
				out = append(out, strings.TrimSpace(line))
			}
		}
		role := shop.Do("ROLE")
		if len(role.Elems()) < 2 {
			t.Fatalf("ROLE: %q", role.Text())
		}
		return fmt.Sprint(out, role.Elems()[1].Int(), shop.Do("CLIENT", "ID").Int(), strings.Count(shop.Do("CLIENT", "LIST").Text(), "id="))
	}
	before := told()
	if !strings.Contains(before, "total_connections_received:1 ") || !strings.HasSuffix(before, " 0 1 1") {
		t.Errorf("a database with one connection is told %s", before)
	}
	for range 20 {
		other := dial("other")
		other.Want("OK", "SET", "k", "v")
		other.Want("OK", "CLIENT", "TRACKING", "ON")
		other.Do("GET", "k")
		resptest.Dial(t, nodes.Addrs[0]).Do("PING")
	}
	if after := told(); after != before {
		t.Errorf("after others have connected, it is told %s, before %s", after, before)
	}
	second := dial("shop")
	second.Want("(integer) 2", "CLIENT", "ID")
	second.Want("OK", "AUTH", "shop-token")
	second.Want("(integer) 2", "CLIENT", "ID")
	second.Want("OK", "AUTH", "other-token")
	second.Want("(integer) 21", "CLIENT", "ID")
	shop.Want("(integer) 0", "CLIENT", "KILL", "ID", "2")
	third := dial("shop")
	third.Want("(integer) 3", "CLIENT", "ID")
	shop.Want("(integer) 1", "CLIENT", "KILL", "ID", "3")
	if !third.Gone() {
		t.Error("the connection of that id is open")
	}
	shop.Want("OK", "CLIENT", "TRACKING", "ON", "REDIRECT", "1")
	shop.Want("(error) ERR The client ID you want redirect to does not exist", "CLIENT", "TRACKING", "ON", "REDIRECT", "21")
}

// TestRateOverRESP: commands beyond a database's rate are refused one by one, a transaction as a whole.
func TestRateOverRESP(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	limit := fsm.DatabaseSettings{Name: fsm.DefaultDB, Changes: fsm.ChangeRate, RequestRate: 1, RequestBurst: 10}
	if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.ConfigureDatabase, limit); err != nil {
		t.Fatal(err)
	}
	c := resptest.Login(t, nodes.Addrs[0])
	refused := 0
	c.Send(strings.Repeat(resptest.Encode("GET", "k"), 200))
	for range 200 {
		if v := c.Next(); v.IsError() && strings.HasPrefix(v.Text(), "ERR max request rate exceeded. Limit: 1 a second on each node") {
			refused++
		}
	}
	if refused < 100 || refused > 190 {
		t.Errorf("%d of 200 commands were refused at a burst of 10", refused)
	}
}
