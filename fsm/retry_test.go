package fsm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/dedup"
)

// retrying is a machine and a log to which requests with ids are written.
type retrying struct {
	*testing.T
	m *fsm.Machine
	l *log
}

func newRetrying(t *testing.T) *retrying {
	r := &retrying{T: t, m: fsm.NewMachine(), l: newLog(21)}
	r.l.open(func(data []byte) []fsm.Outcome { return r.apply(data) })
	return r
}

func (r *retrying) apply(data []byte) []fsm.Outcome {
	o, err := r.m.Apply(r.l.index, r.l.term, data)
	if err != nil {
		r.Fatal(err)
	}
	return o
}

// do runs rows, each a line of words, under an id.
func (r *retrying) do(user string, mode fsm.Mode, id string, rows ...string) (fsm.Results, error) {
	b := fsm.Batch{As: acl.Trusted(user), Mode: mode}
	for _, row := range rows {
		var argv [][]byte
		for _, word := range strings.Fields(row) {
			argv = append(argv, []byte(word))
		}
		b.Rows = append(b.Rows, argv)
	}
	b.Retry = b.IdempotencyKey(id)
	o := r.apply(r.l.entry(r.l.request(b)))[0]
	if o.Err != nil {
		return fsm.Results{}, o.Err
	}
	return o.Value.(fsm.Results), nil
}

func TestIdIsAppliedOnce(t *testing.T) {
	r := newRetrying(t)
	for _, mode := range []fsm.Mode{fsm.Single, fsm.Pipeline, fsm.Transaction} {
		id := fmt.Sprint("id", mode)
		rows := []string{"INCR n"}
		if mode != fsm.Single {
			rows = append(rows, "INCR n", "GET n")
		}
		first, err := r.do(acl.DefaultName, mode, id, rows...)
		if err != nil || first.Replayed {
			t.Fatalf("%v %v", first, err)
		}
		for range 5 {
			again, err := r.do(acl.DefaultName, mode, id, rows...)
			if err != nil || !again.Replayed {
				t.Fatalf("%v %v", again, err)
			}
			again.Replayed = false
			if fmt.Sprint(again) != fmt.Sprint(first) {
				t.Fatalf("%v, first %v", again, first)
			}
			r.m = restored(t, r.m)
		}
	}
	if got := text(r.m, "GET", "n"); got != "5" {
		t.Fatalf("n is %s", got)
	}
}

func TestIdOfAnotherRequestIsRefused(t *testing.T) {
	r := newRetrying(t)
	if _, err := r.do(acl.DefaultName, fsm.Single, "id", "SET k 1"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fsm.Mode{fsm.Single, fsm.Transaction} {
		if _, err := r.do(acl.DefaultName, mode, "id", "SET k 2"); !errors.Is(err, fsm.ErrRetryMismatch) {
			t.Fatal(err)
		}
	}
	if _, err := r.do(acl.DefaultName, fsm.Single, "id", "SET", "k1"); !errors.Is(err, fsm.ErrRetryMismatch) {
		t.Fatal(err)
	}
	if got := text(r.m, "GET", "k"); got != "1" {
		t.Fatalf("k is %s", got)
	}
	if o, err := r.do(acl.ReadOnlyName, fsm.Single, "id", "GET k"); err != nil || o.Values[0].Text() != "1" {
		t.Fatalf("the id of another user: %v %v", o, err)
	}
}

// A request of which nothing was run may come again; one that has failed may not.
func TestRefusedRequestsLeaveTheirIds(t *testing.T) {
	r := newRetrying(t)
	r.do(acl.DefaultName, fsm.Single, "a", "NOSUCH")
	r.do(acl.DefaultName, fsm.Transaction, "b", "SET k v", "NOSUCH")
	for _, id := range []string{"a", "b"} {
		if o, err := r.do(acl.DefaultName, fsm.Single, id, "SET", "k", "v"); err != nil || o.Replayed {
			t.Fatalf("%s: %v %v", id, o, err)
		}
	}
	r.do(acl.DefaultName, fsm.Single, "c", "SET k v")
	r.do(acl.DefaultName, fsm.Single, "d", "INCR k")
	r.do(acl.DefaultName, fsm.Single, "e", "SET k 1")
	if o, err := r.do(acl.DefaultName, fsm.Single, "d", "INCR k"); err != nil || !o.Replayed || !o.Values[0].IsError() {
		t.Fatalf("%v %v", o, err)
	}
}

func TestIdsAreForgottenByClusterTime(t *testing.T) {
	r := newRetrying(t)
	r.do(acl.DefaultName, fsm.Single, "id", "INCR n")
	r.l.now += dedup.Retention - 60_000
	if o, err := r.do(acl.DefaultName, fsm.Single, "id", "INCR n"); err != nil || !o.Replayed {
		t.Fatalf("forgotten early: %v %v", o, err)
	}
	r.l.now += 120_000
	if at, ok := r.m.NextDue(); !ok || at > r.l.now {
		t.Fatalf("due at %d %v, it is %d", at, ok, r.l.now)
	}
	if o, err := r.do(acl.DefaultName, fsm.Single, "id", "INCR n"); err != nil || o.Replayed || o.Values[0].Int() != 2 {
		t.Fatalf("not forgotten: %v %v", o, err)
	}
	r.l.now += 2 * dedup.Retention
	r.apply(r.l.entry(fsm.Request{Code: fsm.Advance.Code, Body: fsm.Advance.Body(fsm.AdvanceLimit{Sweep: 10})}))
	if _, ok := r.m.NextDue(); ok {
		t.Fatal("an id is left behind")
	}
}

// A full table refuses new ids, changes nothing, and knows its old ones.
func TestFullTableOfIdsRefuses(t *testing.T) {
	r := newRetrying(t)
	r.do(acl.DefaultName, fsm.Single, "value", "SET big "+strings.Repeat("x", 700_000))
	n, err := 0, error(nil)
	for ; err == nil && n < 200; n++ {
		_, err = r.do(acl.DefaultName, fsm.Pipeline, fmt.Sprint(n), "GET big", "INCR n")
	}
	if !errors.Is(err, fsm.ErrRetriesFull) || n < 80 {
		t.Fatalf("%d ids, %v", n, err)
	}
	if got := text(r.m, "GET", "n"); got != fmt.Sprint(n-1) {
		t.Fatalf("%s rows were applied of %d", got, n-1)
	}
	if o, err := r.do(acl.DefaultName, fsm.Pipeline, "0", "GET big", "INCR n"); err != nil || !o.Replayed {
		t.Fatalf("the first id: %v", err)
	}
}

func TestReplyThatIsTooLongIsNotKept(t *testing.T) {
	r := newRetrying(t)
	r.do(acl.DefaultName, fsm.Single, "value", "SET big "+strings.Repeat("x", 700_000))
	if o, err := r.do(acl.DefaultName, fsm.Pipeline, "id", "GET big", "GET big", "INCR n"); err != nil || o.Values[2].Int() != 1 {
		t.Fatal(err)
	}
	if _, err := r.do(acl.DefaultName, fsm.Pipeline, "id", "GET big", "GET big", "INCR n"); !errors.Is(err, fsm.ErrReplyNotKept) {
		t.Fatal(err)
	}
	if got := text(r.m, "GET", "n"); got != "1" {
		t.Fatalf("n is %s", got)
	}
}

// TestIdsBelongToAUserOfADatabase: one id in several databases, of users of one name, and of two users of one database are
// requests of their own; a database that was made anew under a name has no replies of the former one.
func TestIdsBelongToAUserOfADatabase(t *testing.T) {
	c := newTenants(t, 73)
	send := func(db, user, word string) fsm.Results {
		t.Helper()
		as := acl.Trusted(user)
		as.DB = db
		b := fsm.Batch{As: as, Rows: [][][]byte{{[]byte("APPEND"), []byte("k"), []byte(word)}}}
		b.Retry = b.IdempotencyKey("same")
		out, err := propose(c.deliverer, fsm.Exec, b)
		if err != nil {
			t.Fatalf("in %q as %s: %v", db, user, err)
		}
		return out
	}
	for _, db := range []string{"", "a", "b"} {
		if out := send(db, acl.DefaultName, "x"); out.Replayed || out.Values[0].Int() != 1 {
			t.Errorf("the first request in %q: %+v", db, out)
		}
	}
	for _, db := range []string{"b", "", "a"} {
		if out := send(db, acl.DefaultName, "x"); !out.Replayed || out.Values[0].Int() != 1 {
			t.Errorf("the second request in %q: %+v", db, out)
		}
	}
	if err := withUser(c, "a", "other"); err != nil {
		t.Fatal(err)
	}
	if out := send("a", "other", "yz"); out.Replayed || out.Values[0].Int() != 3 {
		t.Errorf("another user: %+v", out)
	}
	if _, err := propose(c.deliverer, fsm.DeleteDatabase, fsm.DatabaseName{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	c.create("a")
	if out := send("a", acl.DefaultName, "x"); out.Replayed || out.Values[0].Int() != 1 {
		t.Errorf("in a database made anew: %+v", out)
	}
}

// withUser makes a user who may do everything.
func withUser(c tenants, db, name string) error {
	as := acl.Trusted(acl.DefaultName)
	as.DB = db
	row := [][]byte{[]byte("ACL"), []byte("SETUSER"), []byte(name), []byte("on"), []byte("nopass"), []byte("~*"), []byte("+@all")}
	out, err := propose(c.deliverer, fsm.Exec, fsm.Batch{As: as, Rows: [][][]byte{row}})
	if err == nil && out.Values[0].IsError() {
		err = errors.New(out.Values[0].Text())
	}
	return err
}
