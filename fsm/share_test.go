package fsm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// sharing is two databases whose requests are in one entry.
type sharing struct{ tenants }

func newSharing(t *testing.T, seed uint64) sharing {
	c := sharing{newTenants(t, seed)}
	c.register()
	return c
}

func (s sharing) register() {
	s.t.Helper()
	out, err := propose(s.deliverer, fsm.Register, fsm.Registration{Node: "n1", Disk: "d", Boot: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	s.l.session = out.ID
}

// command is a request of a database, with a sequence of its own.
func (s sharing) command(db string, words ...string) fsm.Request {
	as := acl.Trusted(acl.DefaultName)
	as.DB = db
	row := make([][]byte, len(words))
	for i, w := range words {
		row[i] = []byte(w)
	}
	return s.l.request(fsm.Batch{As: as, Origin: command.OriginHTTP, Rows: [][][]byte{row}})
}

// loop is a script of about so many steps of work.
func loop(n int) []string {
	return []string{"EVAL", fmt.Sprintf("local n = 0 for i = 1, %d do n = n + i end redis.call('INCR', KEYS[1])", n), "1", "n"}
}

// entry applies requests as one entry and returns their outcomes.
func (s sharing) entry(requests ...fsm.Request) []fsm.Outcome {
	s.t.Helper()
	return s.apply(s.l.entry(requests...))
}

// TestEntryShare: an entry does its part of a database's work and defers the rest, of which nothing happens; other
// databases are served. What was deferred can come again, and does what it would have done.
func TestEntryShare(t *testing.T) {
	c := newSharing(t, 31)
	half := loop(fsm.EntryShare) // an iteration is some steps of Lua
	requests := []fsm.Request{c.command("a", half...), c.command("a", half...), c.command("a", half...), c.command("a", half...), c.command("a", half...)}
	requests = append(requests, c.command("b", "SET", "k", "v"), c.command("a", "SET", "k", "v"), c.command("", "SET", "k", "v"))
	deferred, rounds := requests, 0
	for len(deferred) > 0 {
		var next []fsm.Request
		work := map[string]int64{}
		for i, o := range c.entry(deferred...) {
			switch o.Status {
			case fsm.Applied:
				if o.Err != nil || o.Work <= 0 {
					t.Fatalf("request %d: %v, %d steps", o.Seq, o.Err, o.Work)
				}
				if len(next) > 0 && o.Database == "a" {
					t.Fatalf("request %d of a is applied after one that was deferred", o.Seq)
				}
				work[o.Database] += o.Work
			case fsm.Deferred:
				if o.Database != "a" {
					t.Fatalf("a request of %q was deferred", o.Database)
				}
				next = append(next, deferred[i])
			default:
				t.Fatalf("request %d: status %d", o.Seq, o.Status)
			}
		}
		if len(next) > 0 && work["a"] < fsm.EntryShare {
			t.Errorf("requests were deferred after %d steps", work["a"])
		}
		if len(next) == len(deferred) {
			t.Fatal("an entry did nothing")
		}
		deferred, rounds = next, rounds+1
	}
	if rounds < 2 {
		t.Fatal("nothing was deferred")
	}
	for db, want := range map[string]string{"a": "5", "": ""} {
		out := c.entry(c.command(db, "GET", "n"))[0].Value.(fsm.Results)
		if got := out.Values[0].Text(); got != want {
			t.Errorf("%q counts %q", db, got)
		}
	}
	for _, o := range c.entry(requests...) {
		if o.Status == fsm.Applied || o.Status == fsm.Deferred {
			t.Errorf("request %d is applied twice: status %d", o.Seq, o.Status)
		}
	}
}

// TestEntryShareOfMessages: operations on messages count, too, and those of the cluster never wait.
func TestEntryShareOfMessages(t *testing.T) {
	c := newSharing(t, 32)
	publications := queue.Publications{Items: []queue.Publication{{URL: "http://x/", Body: []byte(strings.Repeat("x", 1<<20))}}}
	of := func(db string) fsm.Request {
		q := c.command(db, "PING")
		q.Code, q.Body = fsm.InDatabase.Code, fsm.InDatabase.Body(fsm.Owned{Database: db, Number: c.number(db), Code: fsm.Publish.Code, Body: fsm.Publish.Body(publications)})
		return q
	}
	var requests []fsm.Request
	for range 16 {
		requests = append(requests, of("a"))
	}
	requests = append(requests, of("b"), fsm.Request{Session: c.l.session, Seq: c.l.seq + 1, Code: fsm.Configure.Code, Body: fsm.Configure.Body(fsm.Settings{})})
	outcomes := c.entry(requests...)
	deferred := 0
	for _, o := range outcomes[:16] {
		if o.Status == fsm.Deferred {
			deferred++
		}
	}
	if deferred == 0 || deferred == 16 {
		t.Errorf("%d of 16 large messages were deferred", deferred)
	}
	for _, o := range outcomes[16:] {
		if o.Status != fsm.Applied || o.Err != nil {
			t.Errorf("status %d, %v", o.Status, o.Err)
		}
	}
}

// TestNoSharesAlone: a cluster with one database defers nothing.
func TestNoSharesAlone(t *testing.T) {
	c := sharing{tenants{newDeliverer(t, 33)}}
	c.register()
	var requests []fsm.Request
	for range 4 {
		requests = append(requests, c.command("", loop(180_000)...))
	}
	for _, o := range c.entry(requests...) {
		if o.Status != fsm.Applied || o.Database != "" || o.Work != 0 {
			t.Errorf("%+v", o)
		}
	}
}

// TestTenantBudget: what a request may cost in a database other than default is a part of the budget, and a setting.
func TestTenantBudget(t *testing.T) {
	c := newSharing(t, 35)
	try := func(db string) string {
		out := c.entry(c.command(db, "SETRANGE", "k", "79999999", "x"))[0] // 1,250,000 steps
		return out.Value.(fsm.Results).Values[0].Text()
	}
	if got := try(""); got != "" {
		t.Errorf("default: %s", got)
	}
	if got := try("a"); !strings.Contains(got, "Limit: 500000 steps") {
		t.Errorf("a: %s", got)
	}
	for percent, want := range map[int64]string{2: "Limit: 200000 steps", 50: ""} {
		var s fsm.Settings
		s.SetTenantWork(percent, 2)
		if _, err := propose(c.deliverer, fsm.Configure, s); err != nil {
			t.Fatal(err)
		}
		if got := try("a"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("at %d %%: %s", percent, got)
		}
	}
}

// TestDatabaseOf: whose a request is.
func TestDatabaseOf(t *testing.T) {
	as := acl.Trusted(acl.DefaultName)
	as.DB = "shop"
	for _, c := range []struct {
		code uint16
		body []byte
		want string
		ok   bool
	}{
		{fsm.Exec.Code, fsm.Exec.Body(fsm.Batch{As: as, Rows: [][][]byte{{[]byte("PING")}}}), "shop", true},
		{fsm.Exec.Code, []byte{0xff}, "", false},
		{fsm.InDatabase.Code, fsm.InDatabase.Body(fsm.Owned{Database: "shop", Code: fsm.Publish.Code}), "shop", true},
		{fsm.Publish.Code, nil, "", true},
		{fsm.Advance.Code, nil, "", false},
		{fsm.Register.Code, nil, "", false},
		{999, nil, "", false},
	} {
		if name, ok := fsm.DatabaseOf(c.code, c.body); string(name) != c.want || ok != c.ok {
			t.Errorf("operation %d: %q, %v", c.code, name, ok)
		}
	}
}
