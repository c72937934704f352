package fsm_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// empty is a founded cluster of two machines in step.
func empty(t *testing.T, seed uint64) *deliverer {
	c := newDeliverer(t, seed)
	if _, err := propose(c, fsm.BootstrapState, founding("target", 2)); err != nil {
		t.Fatal(err)
	}
	return c
}

// bring stages a backup in parts of a size.
func (d *deliverer) bring(id string, file []byte, size int) {
	d.t.Helper()
	for at := 0; at < len(file); at += size {
		part := fsm.BackupPart{ID: id, Offset: uint64(at), Data: file[at:min(at+size, len(file))]}
		if _, err := propose(d, fsm.StageBackup, part); err != nil {
			d.t.Fatalf("part at %d: %v", at, err)
		}
	}
}

func (d *deliverer) restore(id string, file []byte) (fsm.Restoration, error) {
	d.t.Helper()
	return propose(d, fsm.RestoreBackup, fsm.BackupRef{ID: id, Size: uint64(len(file))})
}

func (d *deliverer) same() string {
	d.t.Helper()
	a, b := d.a.Fork().Digest(), d.b.Fork().Digest()
	if a != b {
		d.t.Fatalf("digests differ: %s and %s", a, b)
	}
	return a
}

// source is a cluster with keys, a run, a schedule and three messages, of which two are being delivered, one of them
// out of a queue of parallelism 1. Many of its entries have gone by.
func source(t *testing.T) *deliverer {
	c := newDeliverer(t, 31)
	if _, err := propose(c, fsm.BootstrapState, founding("source", 1)); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		c.apply(c.l.entry(c.l.request(c.l.batch())))
	}
	c.apply(c.l.entry(c.l.request(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{set("greeting", "hello")}})))
	if _, err := propose(c, fsm.ChangeQueue, queue.QueueChange{Name: "q", Act: queue.ActPut, Parallelism: 1}); err != nil {
		t.Fatal(err)
	}
	c.publish(queue.Publication{URL: "http://example.com/1"})
	c.publish(queue.Publication{URL: "http://example.com/2", Options: queue.Options{Queue: "q"}})
	if out, err := propose(c, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Term: c.l.term, Claims: 2}); err != nil || len(out.Attempts) != 2 {
		t.Fatalf("%+v %v", out, err)
	}
	c.publish(queue.Publication{URL: "http://example.com/3"})
	return c
}

// TestRestoreThroughTheLog restores a backup on two machines and on one that has come by a snapshot while the parts came
// in: one state, that of the backup, but for what is the cluster's own.
func TestRestoreThroughTheLog(t *testing.T) {
	from := source(t)
	file, made := backup(t, from.a)
	c := empty(t, 32)
	old := bearer(c.a, 2, acl.Standard)
	if old.By == acl.Nobody {
		t.Fatal("the token of the target opens nothing")
	}
	half := len(file) / 2
	c.bring("r1", file[:half], 1000)
	c.b = restored(t, c.b)
	c.bring("r1", file[:half], 700) // again: what has come stays
	for at := half; at < len(file); at += 1000 {
		if _, err := propose(c, fsm.StageBackup, fsm.BackupPart{ID: "r1", Offset: uint64(at), Data: file[at:min(at+1000, len(file))]}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := c.restore("r1", file)
	if err != nil {
		t.Fatal(err)
	}
	var want, got fsm.Contents
	from.a.View(0, [16]byte{}, func(v *fsm.View) { want = v.Contents() })
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		got = v.Contents()
		if v.ClusterID() != "target" || v.Epoch() != out.Epoch || v.Epoch() == 0 || v.Now() < made.Clock || v.Level() != made.Level {
			t.Errorf("cluster %s, epoch %d, time %d", v.ClusterID(), v.Epoch(), v.Now())
		}
		if v.Authorized(old) {
			t.Error("what a token of the target has proved is worth something after the restore")
		}
		if v.RESPPorts() != nil || len(v.SubscribedNodes()) != 0 {
			t.Error("sessions or subscribers are left")
		}
	})
	if out.Contents.Messages.Active != 2 || got.Messages.Active != 0 || got.Keys() != want.Keys() || got.Messages.Messages != want.Messages.Messages {
		t.Errorf("%+v and %+v, want %+v", out.Contents, got, want)
	}
	if text(c.a, "GET", "greeting") != "hello" || bearer(c.a, 1, acl.Standard).By == acl.Nobody || bearer(c.a, 2, acl.Standard).By != acl.Nobody {
		t.Error("keys or tokens are not those of the backup")
	}
	c.same()
	c.goesOn()
}

// bearer returns the identity of a token that the cluster was founded with.
func bearer(m *fsm.Machine, token byte, role acl.Role) (as acl.Identity) {
	b := acl.Bearer{Presented: acl.Presented{Digest: founding("", token).Tokens[role]}}
	m.View(0, [16]byte{}, func(v *fsm.View) { as = v.Bearer("", &b) })
	return as
}

// goesOn registers anew after a restore, and has all three messages of source delivered.
func (d *deliverer) goesOn() {
	d.t.Helper()
	d.l.seq++
	body := fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{set("k", "v")}})
	if o := d.apply(d.l.entry(fsm.Request{Session: d.l.session, Seq: d.l.seq, Code: fsm.Exec.Code, Body: body}))[0]; o.Status != fsm.SessionExpired {
		d.t.Fatalf("a request of a session before the restore: %v", o)
	}
	d.l.session, d.l.seq = 0, 0
	d.l.open(func(data []byte) []fsm.Outcome { return d.apply(data) })
	var epoch uint64
	d.a.View(0, [16]byte{}, func(v *fsm.View) { epoch = v.Epoch() })
	for delivered := 0; delivered < 3; {
		d.l.now += 60_000
		out, err := propose(d, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Epoch: epoch, Term: d.l.term, Claims: 5})
		if err != nil || len(out.Attempts) == 0 {
			d.t.Fatalf("%d of 3 delivered, then %+v, %v", delivered, out, err)
		}
		for _, a := range out.Attempts {
			dispositions, err := propose(d, fsm.Finish, queue.Results{Items: []queue.Result{{AttemptRef: a.Ref(), Response: queue.Response{Status: 200}}}})
			if err != nil || dispositions.Items[0].State != queue.Delivered {
				d.t.Fatalf("%+v %v", dispositions, err)
			}
			delivered++
		}
	}
	d.same()
}

// TestRestoreIsAskedAgain: the outcome of a restore may be lost on its way. A second one is of the same.
func TestRestoreIsAskedAgain(t *testing.T) {
	file, _ := backup(t, randomState(t, 40, 10))
	c := empty(t, 41)
	c.bring("r1", file, fsm.PartBytes)
	first, err := c.restore("r1", file)
	if err != nil {
		t.Fatal(err)
	}
	c.l.session, c.l.seq = 0, 0
	c.l.open(func(data []byte) []fsm.Outcome { return c.apply(data) })
	before := c.same()
	again, err := c.restore("r1", file)
	if err != nil || again.Epoch != first.Epoch {
		t.Fatalf("%+v %v, first %+v", again, err, first)
	}
	if _, err := c.restore("r2", file); !errors.Is(err, fsm.ErrNotStaged) {
		t.Errorf("another one: %v", err)
	}
	if _, err := propose(c, fsm.StageBackup, fsm.BackupPart{ID: "r2", Data: file}); !errors.Is(err, fsm.ErrNotEmpty) {
		t.Errorf("into what was restored: %v", err)
	}
	_ = before
}

// TestRestoreRefusesWhatIsNotEmpty: at the first part, and again in the end.
func TestRestoreRefusesWhatIsNotEmpty(t *testing.T) {
	file, _ := backup(t, randomState(t, 42, 3))
	exec := func(rows ...[][]byte) func(*deliverer) {
		return func(c *deliverer) {
			c.apply(c.l.entry(c.l.request(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: rows})))
		}
	}
	for want, fill := range map[string]func(*deliverer){
		"1 key":  exec(set("k", "v")),
		"1 user": exec([][]byte{[]byte("ACL"), []byte("SETUSER"), []byte("someone"), []byte("on"), []byte(">secret")}),
		"1 database beside default": func(c *deliverer) {
			d := fsm.DatabaseTokens{Name: "other"}
			d.Standard[0], d.ReadOnly[0] = 1, 2
			propose(c, fsm.CreateDatabase, d)
		},
		"1 message": func(c *deliverer) { c.publish(queue.Publication{URL: "http://example.com"}) },
		"1 queue": func(c *deliverer) {
			propose(c, fsm.ChangeQueue, queue.QueueChange{Name: "q", Act: queue.ActPut, Parallelism: 1})
		},
		"1 workflow run": func(c *deliverer) { propose(c, fsm.Submit, oneRun()) },
	} {
		t.Run(want, func(t *testing.T) {
			c := empty(t, 43)
			c.bring("r1", file, fsm.PartBytes)
			fill(c)
			filled := c.same()
			if _, err := c.restore("r1", file); !errors.Is(err, fsm.ErrNotEmpty) || !strings.Contains(err.Error(), want) {
				t.Errorf("in the end: %v", err)
			}
			if c.same() == filled {
				t.Error("the parts are still kept")
			}
			if _, err := propose(c, fsm.StageBackup, fsm.BackupPart{ID: "r2", Data: file}); !errors.Is(err, fsm.ErrNotEmpty) || !strings.Contains(err.Error(), want) {
				t.Errorf("at the first part: %v", err)
			}
		})
	}
}

func oneRun() workflow.Submissions {
	return workflow.Submissions{Items: []workflow.Submission{{URL: "http://app:1/w", RunID: "wfr_one"}}}
}

// TestRestoreRefusesDamage: at many places, through the log, nothing has changed then.
func TestRestoreRefusesDamage(t *testing.T) {
	file, _ := backup(t, randomState(t, 44, 2))
	c := empty(t, 45)
	contents := func() (s string) {
		c.a.View(0, [16]byte{}, func(v *fsm.View) { s = v.Contents().Databases[0].Name + v.ClusterID() })
		return s
	}
	before := contents()
	for i := 0; i < len(file); i += 97 {
		bad := bytes.Clone(file)
		bad[i] ^= 1 << (i % 8)
		c.bring("r", bad, fsm.PartBytes)
		if _, err := c.restore("r", bad); !errors.Is(err, fsm.ErrBadBackup) && !errors.Is(err, fsm.ErrNotStaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
		c.bring("r", file[:i+1], fsm.PartBytes)
		if _, err := c.restore("r", file[:i+1]); i+1 < len(file) && !errors.Is(err, fsm.ErrBadBackup) {
			t.Fatalf("cut behind byte %d: %v", i, err)
		}
	}
	if contents() != before || c.same() == "" {
		t.Errorf("%s, before %s", contents(), before)
	}
	c.bring("r", file, fsm.PartBytes)
	if _, err := c.restore("r", file); err != nil {
		t.Fatalf("the file itself: %v", err)
	}
}

// TestPartsOfABackup: gaps, another restore, calling off, and parts that nothing follows.
func TestPartsOfABackup(t *testing.T) {
	file, _ := backup(t, randomState(t, 46, 10))
	c := empty(t, 47)
	bare := c.same()
	part := func(id string, from, to int) error {
		_, err := propose(c, fsm.StageBackup, fsm.BackupPart{ID: id, Offset: uint64(from), Data: file[from:to]})
		return err
	}
	for _, step := range []struct {
		id       string
		from, to int
		pass     int64 // milliseconds before it
		want     error
	}{
		{"a", 10, 20, 0, fsm.ErrNotStaged}, {"", 0, 10, 0, fsm.ErrMalformed}, {"a", 0, 10, 0, nil}, {"a", 0, 10, 0, nil},
		{"a", 11, 20, 0, fsm.ErrNotStaged}, {"a", 5, 15, 0, fsm.ErrNotStaged}, {"b", 0, 10, 0, fsm.ErrRestoring},
		{"b", 10, 20, 0, fsm.ErrNotStaged}, {"b", 0, 10, 31_000, nil}, {"a", 10, 20, 0, fsm.ErrNotStaged}, {"b", 10, 20, 0, nil},
		{"b", 20, 30, 600_000, fsm.ErrNotStaged},
	} {
		c.l.now += step.pass
		if err := part(step.id, step.from, step.to); !errors.Is(err, step.want) {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if _, err := c.restore("b", file[:20]); !errors.Is(err, fsm.ErrNotStaged) {
		t.Errorf("parts that have expired: %v", err)
	}
	if err := part("c", 0, 10); err != nil {
		t.Fatal(err)
	}
	staged := c.same()
	if err := part("d", 0, 0); err != nil || c.same() == bare {
		t.Errorf("calling off another one: %v", err)
	}
	if err := part("c", 0, 0); err != nil || c.same() == staged {
		t.Errorf("calling off: %v", err)
	}
	if _, err := c.restore("c", file[:10]); !errors.Is(err, fsm.ErrNotStaged) {
		t.Errorf("called off: %v", err)
	}
}

// TestReplacedStateIsTold: who asked to be told when the state is replaced is told by a snapshot and by a backup that is restored
// through the log, once each; by a snapshot that is damaged, and by parts that come in, it is not.
func TestReplacedStateIsTold(t *testing.T) {
	file, _ := backup(t, randomState(t, 47, 3))
	c := empty(t, 48)
	told := 0
	c.a.Hooks.Restored = func() { told++ }
	want := func(what string, n int) {
		t.Helper()
		if told != n {
			t.Errorf("%s: told %d times, want %d", what, told, n)
		}
	}
	c.bring("r1", file, fsm.PartBytes)
	want("parts", 0)
	if _, err := c.restore("r2", file); !errors.Is(err, fsm.ErrNotStaged) {
		t.Fatal(err)
	}
	want("a restore that is refused", 0)
	if _, err := c.restore("r1", file); err != nil {
		t.Fatal(err)
	}
	want("a backup", 1)
	var snapshot bytes.Buffer
	if err := c.b.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	if err := c.a.Restore(bytes.NewReader(snapshot.Bytes()[:snapshot.Len()-1])); err == nil {
		t.Fatal("a snapshot that is cut short was taken")
	}
	want("a damaged snapshot", 1)
	if err := c.a.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	want("a snapshot", 2)
}
