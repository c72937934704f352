package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// tenants is a deliverer with the databases a and b beside default.
type tenants struct{ *deliverer }

func newTenants(t *testing.T, seed uint64) tenants {
	c := tenants{newDeliverer(t, seed)}
	c.create("a")
	c.create("b")
	return c
}

func (t tenants) create(name string) {
	t.t.Helper()
	if _, err := propose(t.deliverer, fsm.CreateDatabase, tokensOf(name)); err != nil {
		t.t.Fatal(err)
	}
}

// number is that of a database.
func (t tenants) number(db string) (n uint64) {
	t.a.View(0, [16]byte{}, func(v *fsm.View) { n = v.Database(db) })
	return n
}

// proposeIn applies an operation to a database, by the number that it has.
func proposeIn[A, R any](c tenants, db string, number uint64, op *fsm.Operation[A, R], arg A) (R, error) {
	c.t.Helper()
	if db == "" {
		return propose(c.deliverer, op, arg)
	}
	out, err := propose(c.deliverer, fsm.InDatabase, fsm.Owned{Database: db, Number: number, Code: op.Code, Body: op.Body(arg)})
	r, _ := out.Value.(R)
	return r, err
}

func (t tenants) publish(db string, p queue.Publication) queue.ID {
	t.t.Helper()
	out, err := proposeIn(t, db, t.number(db), fsm.Publish, queue.Publications{Items: []queue.Publication{p}})
	if err != nil || out.Items[0].Refused != nil {
		t.t.Fatal(err, out.Items)
	}
	return out.Items[0].Messages[0].ID
}

func (t tenants) advance(claims int) map[string][]queue.Attempt {
	t.t.Helper()
	got, err := propose(t.deliverer, fsm.Advance, fsm.AdvanceLimit{Sweep: 10, Deliver: true, Term: t.l.term, Claims: claims})
	if err != nil {
		t.t.Fatal(err)
	}
	by := map[string][]queue.Attempt{}
	for _, a := range got.Attempts {
		by[a.DB] = append(by[a.DB], a)
	}
	return by
}

func (t tenants) messages(db string) (n int) {
	t.a.View(0, [16]byte{}, func(v *fsm.View) { n = v.MessagesOf(db).Counts().Messages })
	return n
}

// exec runs a command as whom a token stands for.
func (t tenants) exec(db, token string, words ...string) reply.Value {
	t.t.Helper()
	bearer := acl.ParseBearer([]byte(token))
	var as acl.Identity
	t.a.View(0, [16]byte{}, func(v *fsm.View) { as = v.Bearer(db, &bearer) })
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	out, err := propose(t.deliverer, fsm.Exec, fsm.Batch{As: as, Origin: command.OriginHTTP, Rows: [][][]byte{argv}})
	if err != nil {
		t.t.Fatal(err)
	}
	return out.Values[0]
}

// TestEachDatabaseHasMessagesOfItsOwn: what one database publishes is delivered, read and cancelled there and nowhere
// else, by operations and by commands.
func TestEachDatabaseHasMessagesOfItsOwn(t *testing.T) {
	c := newTenants(t, 21)
	a, b := c.publish("a", url("a")), c.publish("b", url("b"))
	c.publish("", url("default"))
	if v := c.exec("a", "a-token", "MSG.PUBLISH", "http://by-command", "x"); v.IsError() {
		t.Fatal(v.Text())
	}
	if c.messages("a") != 2 || c.messages("b") != 1 || c.messages("") != 1 {
		t.Fatalf("messages of a %d, b %d, default %d", c.messages("a"), c.messages("b"), c.messages(""))
	}
	if v := c.exec("b", "b-token", "MSG.GET", a.String()); !v.IsNil() {
		t.Errorf("b reads a's message: %s", v.Text())
	}
	if v := c.exec("b", "b-token", "MSG.CANCEL", a.String()); v.Int() != 0 {
		t.Errorf("b cancels a's message: %s", v.Text())
	}
	if _, err := proposeIn(c, "b", c.number("b"), fsm.CancelMessages, queue.Cancellation{IDs: []queue.ID{a}, Strict: true}); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("b cancels a's message: %v", err)
	}
	got := c.advance(10)
	if len(got["a"]) != 2 || len(got["b"]) != 1 || len(got[""]) != 1 {
		t.Fatalf("claimed %v", got)
	}
	running := queue.Renewal{}
	results := queue.Results{}
	for _, db := range []string{"a", "", "b"} {
		for _, one := range got[db] {
			running.Running, running.DBs = append(running.Running, one.Ref()), append(running.DBs, db)
			results.Items = append(results.Items, queue.Result{AttemptRef: one.Ref(), DB: db, Response: queue.Response{Status: 200}})
		}
	}
	if n, err := propose(c.deliverer, fsm.Renew, running); err != nil || len(n.Lost) != 0 {
		t.Errorf("renewed %+v, %v", n, err)
	}
	if n, _ := propose(c.deliverer, fsm.Renew, queue.Renewal{Running: []queue.AttemptRef{got["b"][0].Ref()}, DBs: []string{"a"}}); len(n.Lost) != 1 {
		t.Error("b's attempt was renewed in a")
	}
	done, err := propose(c.deliverer, fsm.Finish, results)
	if err != nil || len(done.Items) != 4 {
		t.Fatal(done, err)
	}
	for i, d := range done.Items {
		if d.State != queue.Delivered || d.Stale {
			t.Errorf("result %d: %+v", i, d)
		}
	}
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		if n, ok := v.MessagesOf("b").Message(b, v.Now()); !ok || n.State != queue.Delivered {
			t.Errorf("b's message: %+v %v", n, ok)
		}
		keys := map[queue.Keys]string{}
		for _, db := range []string{"", "a", "b"} {
			k := v.MessagesOf(db).Keys()
			if other, twice := keys[k]; twice || (db != "" && k.Current == "") {
				t.Errorf("signing keys of %q: %v, those of %q", db, k, other)
			}
			keys[k] = db
		}
	})
}

// TestEachDatabaseHasRunsOfItsOwn: equal run ids and events of two databases have nothing to do with each other.
func TestEachDatabaseHasRunsOfItsOwn(t *testing.T) {
	c := newTenants(t, 22)
	for _, db := range []string{"a", "b", ""} {
		out, err := proposeIn(c, db, c.number(db), fsm.Submit, workflow.Submissions{Items: []workflow.Submission{{Kind: workflow.InitSubmission, URL: "http://flow", RunID: "same"}}})
		if err != nil || out.Items[0].Refused != nil || out.Items[0].Deduplicated {
			t.Fatalf("%q: %+v %v", db, out, err)
		}
	}
	n, err := proposeIn(c, "a", c.number("a"), fsm.CancelRuns, workflow.Cancellation{})
	if err != nil || n.Count != 1 {
		t.Fatalf("%+v %v", n, err)
	}
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		for db, active := range map[string]int{"a": 0, "b": 1, "": 1} {
			if got := v.WorkflowsOf(db).Counts(); got.Active != active || got.Runs != 1 {
				t.Errorf("%q: %+v", db, got)
			}
		}
	})
}

// TestABusyDatabaseLeavesSendersToOthers: a backlog of one database takes only its part of the free senders while
// others have something due, and all of them while they have not.
func TestABusyDatabaseLeavesSendersToOthers(t *testing.T) {
	c := newTenants(t, 23)
	for i := range 60 {
		c.publish("a", url(fmt.Sprint("a", i)))
	}
	for i := range 3 {
		c.publish("b", url(fmt.Sprint("b", i)))
	}
	if got := c.advance(12); len(got["b"]) != 3 || len(got["a"]) != 9 {
		t.Errorf("of 12 senders a has %d, b %d", len(got["a"]), len(got["b"]))
	}
	if got := c.advance(12); len(got["a"]) != 12 {
		t.Errorf("alone a has %d", len(got["a"]))
	}
	for i := range 60 {
		c.publish("b", url(fmt.Sprint("later", i)))
	}
	if got := c.advance(12); len(got["b"]) < 4 || len(got["a"]) < 4 || len(got["a"])+len(got["b"]) != 12 {
		t.Errorf("of 12 senders a has %d, b %d", len(got["a"]), len(got["b"]))
	}
}

// TestADatabaseMadeAnewHasNothingOfTheOld: requests that were judged for the old one are refused, results of its
// attempts are stale.
func TestADatabaseMadeAnewHasNothingOfTheOld(t *testing.T) {
	c := newTenants(t, 24)
	old := c.number("a")
	c.publish("a", url("a"))
	got := c.advance(5)["a"]
	if len(got) != 1 {
		t.Fatal(got)
	}
	if _, err := propose(c.deliverer, fsm.DeleteDatabase, fsm.DatabaseName{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	result := queue.Results{Items: []queue.Result{{AttemptRef: got[0].Ref(), DB: "a", Response: queue.Response{Status: 200}}}}
	for range 2 { // without a database, and with one of its name
		if done, err := propose(c.deliverer, fsm.Finish, result); err != nil || !done.Items[0].Stale {
			t.Errorf("%+v %v", done, err)
		}
		if n, err := propose(c.deliverer, fsm.Renew, queue.Renewal{Running: []queue.AttemptRef{got[0].Ref()}, DBs: []string{"a"}}); err != nil || len(n.Lost) != 1 {
			t.Errorf("%+v %v", n, err)
		}
		if _, err := proposeIn(c, "a", old, fsm.Publish, queue.Publications{Items: []queue.Publication{url("a")}}); !errors.Is(err, fsm.ErrNoDatabase) {
			t.Errorf("published for a database that is gone: %v", err)
		}
		if c.number("a") == 0 {
			c.create("a")
		}
	}
	if n := c.messages("a"); n != 0 {
		t.Errorf("the new database has %d messages", n)
	}
}

// TestOnlyOperationsOfTenantsAreOwned: what belongs to the cluster can't be asked for in a database.
func TestOnlyOperationsOfTenantsAreOwned(t *testing.T) {
	c := newTenants(t, 25)
	for code, body := range map[uint16][]byte{
		fsm.Configure.Code:      fsm.Configure.Body(fsm.Settings{}),
		fsm.ResetTokens.Code:    fsm.ResetTokens.Body(tokensOf("b")),
		fsm.DeleteDatabase.Code: fsm.DeleteDatabase.Body(fsm.DatabaseName{Name: "b"}),
		fsm.Finish.Code:         fsm.Finish.Body(queue.Results{}),
		fsm.InDatabase.Code:     fsm.InDatabase.Body(fsm.Owned{Database: "b"}),
		0:                       nil, 63: nil, 999: nil,
	} {
		if _, err := propose(c.deliverer, fsm.InDatabase, fsm.Owned{Database: "a", Number: c.number("a"), Code: code, Body: body}); !errors.Is(err, fsm.ErrMalformed) {
			t.Errorf("operation %d in a database: %v", code, err)
		}
	}
}

// TestTenantsInSnapshots: a snapshot has the messages and runs of every database.
func TestTenantsInSnapshots(t *testing.T) {
	c := newTenants(t, 27)
	c.publish("a", url("a"))
	c.publish("b", url("b"))
	c.publish("", url("default"))
	c.advance(2)
	if _, err := proposeIn(c, "b", c.number("b"), fsm.Submit, workflow.Submissions{Items: []workflow.Submission{{Kind: workflow.InitSubmission, URL: "http://flow", RunID: "r"}}}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	frozen := c.a.Fork()
	if err := frozen.Write(&b); err != nil {
		t.Fatal(err)
	}
	again := fsm.NewMachine()
	if err := again.Restore(bytes.NewReader(b.Bytes())); err != nil {
		t.Fatal(err)
	}
	if got, want := again.Fork().Digest(), frozen.Digest(); got != want {
		t.Errorf("digest %s after the restore, %s before", got, want)
	}
	again.View(0, [16]byte{}, func(v *fsm.View) {
		if v.MessagesOf("a").Counts().Messages != 1 || v.WorkflowsOf("b").Counts().Runs != 1 || v.WorkflowsOf("a").Counts().Runs != 0 {
			t.Error("messages or runs are missing, or in another database")
		}
	})
	for i := range b.Len() { // cut short anywhere, it is refused
		if i%97 == 0 && fsm.NewMachine().Restore(bytes.NewReader(b.Bytes()[:i])) == nil {
			t.Fatalf("restored %d of %d bytes", i, b.Len())
		}
	}
}

// TestLoginStaysInItsDatabase: a name without a database is one of default, and only a token finds its own database.
func TestLoginStaysInItsDatabase(t *testing.T) {
	c := newTenants(t, 28)
	for _, words := range [][]string{{"ACL", "SETUSER", "open", "on", "nopass", "+@all", "~*"}, {"ACL", "SETUSER", "alice", "on", ">secret", "+@all", "~*"}} {
		if v := c.exec("a", "a-token", words...); v.IsError() {
			t.Fatal(v.Text())
		}
	}
	for _, one := range []struct {
		user, password, db string
		known              bool
	}{
		{"alice", "secret", "", false}, {"open", "anything", "", false},
		{"a/alice", "secret", "a", true}, {"a/alice", "wrong", "", false}, {"b/alice", "secret", "", false},
		{"a/open", "anything", "a", true}, {"b/open", "anything", "", false},
		{"a/default", "a-token", "a", true}, {"a/default", "b-token", "", false}, {"default/default", "a-token", "", false},
		{"default", "a-token", "a", true}, {"default", "b-token", "b", true}, {"default_ro", "b-ro", "b", true}, {"default", "none", "", false},
		{"none/alice", "secret", "", false}, {"/alice", "secret", "", false}, {"a/", "", "", false},
	} {
		var as acl.Identity
		c.a.View(0, [16]byte{}, func(v *fsm.View) { as = v.Login(one.user, acl.DigestOf(one.password)) })
		if as.Known() != one.known || as.DB != one.db {
			t.Errorf("%s with %q is %+v", one.user, one.password, as)
		}
	}
}

func url(name string) queue.Publication { return queue.Publication{URL: "http://example.com/" + name} }
