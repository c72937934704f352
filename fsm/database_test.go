package fsm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// databases is a machine with a log of its own, for tests of databases.
type databases struct {
	t testing.TB
	m *fsm.Machine
	l *log
}

func newDatabases(t testing.TB) *databases { return &databases{t, fsm.NewMachine(), newLog(5)} }

func (d *databases) propose(code uint16, body []byte) (any, error) {
	d.t.Helper()
	data := d.l.entry(fsm.Request{Code: code, Body: body})
	o, err := d.m.Apply(d.l.index, d.l.term, data)
	if err != nil {
		d.t.Fatal(err)
	}
	return o[0].Value, o[0].Err
}

func tokensOf(name string) fsm.DatabaseTokens {
	return fsm.DatabaseTokens{Name: name, Standard: acl.DigestOf(name + "-token"), ReadOnly: acl.DigestOf(name + "-ro")}
}

func (d *databases) create(name string) error {
	d.t.Helper()
	_, err := d.propose(fsm.CreateDatabase.Code, fsm.CreateDatabase.Body(tokensOf(name)))
	return err
}

func (d *databases) delete(name string) error {
	d.t.Helper()
	_, err := d.propose(fsm.DeleteDatabase.Code, fsm.DeleteDatabase.Body(fsm.DatabaseName{Name: name}))
	return err
}

func (d *databases) as(db, token string) (as acl.Identity) {
	bearer := acl.ParseBearer([]byte(token))
	d.m.View(0, [16]byte{}, func(v *fsm.View) { as = v.Bearer(db, &bearer) })
	return as
}

// run runs one command through the log.
func (d *databases) run(as acl.Identity, words ...string) (string, error) {
	d.t.Helper()
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	v, err := d.propose(fsm.Exec.Code, fsm.Exec.Body(fsm.Batch{As: as, Origin: command.OriginHTTP, Rows: [][][]byte{argv}}))
	if err != nil {
		return "", err
	}
	return v.(fsm.Results).Values[0].Text(), nil
}

// TestIdentitiesDieWithTheirDatabase creates a database again under its old name, with
// the tokens it had: identities of earlier ones prove nothing to later ones.
func TestIdentitiesDieWithTheirDatabase(t *testing.T) {
	d := newDatabases(t)
	var dead []acl.Identity
	for round := range 6 {
		if err := d.create("a"); err != nil {
			t.Fatal(err)
		}
		for range 1 + round%3 {
			for _, old := range dead {
				if _, err := d.run(old, "GET", "k"); !errors.Is(err, fsm.ErrRevoked) {
					t.Fatalf("round %d: %+v: %v", round, old, err)
				}
			}
			for _, token := range []string{"a-token", "a-ro", "other", "other-ro"} {
				if as := d.as("a", token); as.By != acl.Nobody {
					if _, err := d.run(as, "GET", "k"); err != nil {
						t.Fatal(err)
					}
					dead = append(dead, as)
				}
			}
			for _, n := range []fsm.DatabaseTokens{{Name: "a", Standard: acl.DigestOf("other"), ReadOnly: acl.DigestOf("other-ro")}, tokensOf("a")} {
				if _, err := d.propose(fsm.ResetTokens.Code, fsm.ResetTokens.Body(n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		dead = append(dead, d.as("a", "a-token"))
		if err := d.delete("a"); err != nil {
			t.Fatal(err)
		}
		if _, err := d.run(dead[len(dead)-1], "GET", "k"); !errors.Is(err, fsm.ErrRevoked) {
			t.Fatalf("in a deleted database: %v", err)
		}
	}
}

// TestOtherTokensKeepTheirIdentities resets a database: the admin token and other
// databases' tokens go on.
func TestOtherTokensKeepTheirIdentities(t *testing.T) {
	d := newDatabases(t)
	var tokens acl.Tokens
	tokens[acl.Standard], tokens[acl.Admin] = acl.DigestOf("s"), acl.DigestOf("admin")
	found := func(f fsm.Bootstrap) {
		f.ClusterID = "c"
		if _, err := d.propose(fsm.BootstrapState.Code, fsm.BootstrapState.Body(f)); err != nil {
			t.Fatal(err)
		}
	}
	found(fsm.Bootstrap{Tokens: tokens, Level: fsm.MaxLevel})
	if err := d.create("a"); err != nil {
		t.Fatal(err)
	}
	admin, standard, other := d.as("a", "admin"), d.as("", "s"), d.as("a", "a-token")
	check := func(when string, want map[acl.Identity]bool) {
		t.Helper()
		for as, works := range want {
			if _, err := d.run(as, "GET", "k"); (err == nil) != works {
				t.Errorf("%s: %+v: %v", when, as, err)
			}
		}
	}
	check("at first", map[acl.Identity]bool{admin: true, standard: true, other: true, {}: false, {User: acl.DefaultName}: false})
	if _, err := d.propose(fsm.ResetTokens.Code, fsm.ResetTokens.Body(tokensOf("default"))); err != nil {
		t.Fatal(err)
	}
	check("after a reset", map[acl.Identity]bool{admin: true, standard: false, other: true})
	found(fsm.Bootstrap{Tokens: tokens, Again: true})
	if d.as("", "s").By != acl.Nobody || d.as("", "default-token").By == acl.Nobody {
		t.Error("a restart undid the reset")
	}
	tokens[acl.Admin] = acl.DigestOf("admin2")
	found(fsm.Bootstrap{Tokens: tokens, Again: true})
	check("with another admin token", map[acl.Identity]bool{admin: false, other: true})
	if d.as("", "s").By == acl.Nobody || d.as("a", "admin2").By != acl.ByAdmin || d.as("a", "admin").By != acl.Nobody {
		t.Error("new tokens were not taken")
	}
}

// TestDatabasesSurviveASnapshot restores several databases and continues with all.
func TestDatabasesSurviveASnapshot(t *testing.T) {
	d := newDatabases(t)
	for _, name := range []string{"zebra", "a", "M_1"} {
		if err := d.create(name); err != nil {
			t.Fatal(err)
		}
		for i := range 3000 { // more than one frame
			if got, err := d.run(d.as(name, name+"-token"), "SET", fmt.Sprint("key:", i), name, "EX", "100000"); got != "OK" || err != nil {
				t.Fatal(got, err)
			}
		}
	}
	before := d.m.Fork().Digest()
	asA := d.as("a", "a-token")
	d.m = restored(t, d.m)
	if after := d.m.Fork().Digest(); after != before {
		t.Fatal("another digest after a restore")
	}
	if got, err := d.run(asA, "GET", "key:7"); got != "a" || err != nil {
		t.Fatal(got, err)
	}
	var names []string
	d.m.View(0, [16]byte{}, func(v *fsm.View) {
		for _, one := range v.Databases() {
			names = append(names, fmt.Sprint(one.Name, one.Keys))
		}
	})
	if got := fmt.Sprint(names); got != "[M_13000 a3000 default0 zebra3000]" {
		t.Fatal(got)
	}
	if err := d.delete("a"); err != nil {
		t.Fatal(err)
	}
	if d.m.Fork().Digest() == before {
		t.Fatal("the digest doesn't tell of a deleted database")
	}
}

// TestForkKeepsItsDatabases changes everything behind a fork.
func TestForkKeepsItsDatabases(t *testing.T) {
	d := newDatabases(t)
	for _, name := range []string{"a", "b"} {
		if err := d.create(name); err != nil {
			t.Fatal(err)
		}
	}
	d.run(d.as("a", "a-token"), "SET", "k", "v")
	fork := d.m.Fork()
	before := fork.Digest()
	d.run(d.as("a", "a-token"), "SET", "k", "w")
	d.run(acl.Trusted(acl.DefaultName), "SET", "k", "w")
	d.propose(fsm.ResetTokens.Code, fsm.ResetTokens.Body(fsm.DatabaseTokens{Name: "a", Standard: acl.Digest{1}, ReadOnly: acl.Digest{2}}))
	d.create("c")
	d.delete("b")
	if fork.Digest() != before {
		t.Fatal("a fork changed")
	}
}

// TestSweepReachesEveryDatabase lets keys of two databases expire.
func TestSweepReachesEveryDatabase(t *testing.T) {
	d := newDatabases(t)
	for _, name := range []string{"a", "b"} {
		if err := d.create(name); err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			d.run(d.as(name, name+"-token"), "SET", fmt.Sprint(i), "v", "PX", "5000")
		}
	}
	at, ok := d.m.NextDue()
	if !ok || at > d.l.now+5000 {
		t.Fatalf("next due at %d, now %d", at, d.l.now)
	}
	d.l.now += 10_000
	v, err := d.propose(fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{Sweep: 1000}))
	if err != nil {
		t.Fatal(err)
	}
	var keys int
	d.m.View(0, [16]byte{}, func(v *fsm.View) { keys, _ = v.Usage() })
	if keys != 0 {
		t.Fatalf("%d keys left after %+v", keys, v)
	}
	if _, ok := d.m.NextDue(); ok {
		t.Fatal("something is still due")
	}
}

// TestMemoryLimitCountsEveryDatabase fills one database and writes to another.
func TestMemoryLimitCountsEveryDatabase(t *testing.T) {
	d := newDatabases(t)
	if err := d.create("a"); err != nil {
		t.Fatal(err)
	}
	settings := fsm.Settings{MaxMemory: 20_000}
	settings.SetTenantMemory(100)
	d.propose(fsm.Configure.Code, fsm.Configure.Body(settings))
	a := d.as("a", "a-token")
	for i := range 1000 {
		if got, _ := d.run(a, "SET", fmt.Sprint(i), "0123456789"); got != "OK" {
			break
		}
	}
	if got, _ := d.run(acl.Trusted(acl.DefaultName), "SET", "k", "v"); !strings.HasPrefix(got, "ERR DB capacity quota exceeded. Limit: 20000 bytes, Actual: ") {
		t.Fatalf("beside a full database: %q", got)
	}
	d.delete("a")
	if got, _ := d.run(acl.Trusted(acl.DefaultName), "SET", "k", "v"); got != "OK" {
		t.Fatalf("after it was deleted: %q", got)
	}
}

// TestLoginFindsTheDatabase logs in by the database in the name, or by a token alone, as over RESP.
func TestLoginFindsTheDatabase(t *testing.T) {
	d := newDatabases(t)
	for _, name := range []string{"b", "a"} {
		if err := d.create(name); err != nil {
			t.Fatal(err)
		}
		d.run(d.as(name, name+"-token"), "ACL", "SETUSER", "bob", "on", ">bob-"+name, ">shared", "+ping")
	}
	d.run(d.as("b", "b-token"), "ACL", "SETUSER", "only", "on", "nopass")
	login := func(user, password string) (found acl.Identity) {
		d.m.View(0, [16]byte{}, func(v *fsm.View) { found = v.Login(user, acl.DigestOf(password)) })
		return found
	}
	bearer := func(token string) (found acl.Identity) {
		t := acl.ParseBearer([]byte(token))
		d.m.View(0, [16]byte{}, func(v *fsm.View) { found = v.LoginBearer(&t) })
		return found
	}
	for _, c := range []struct {
		found    acl.Identity
		db, user string
	}{
		{login("default", "b-token"), "b", "default"}, {login("default", "b-ro"), "", ""}, {login("default_ro", "b-ro"), "b", "default_ro"},
		{login("b/bob", "bob-b"), "b", "bob"}, {login("a/bob", "bob-a"), "a", "bob"}, {login("a/bob", "shared"), "a", "bob"}, {login("bob", "bob-b"), "", ""},
		{login("b/only", "anything"), "b", "only"}, {login("only", "anything"), "", ""}, {login("nobody", "shared"), "", ""},
		{bearer("a-token"), "a", "default"}, {bearer("b-ro"), "b", "default_ro"}, {bearer("bob-a"), "", ""},
	} {
		if c.found.DB != c.db || c.found.User != c.user || c.found.Known() != (c.user != "") {
			t.Errorf("%+v, want %s in %s", c.found, c.user, c.db)
		}
	}
}
