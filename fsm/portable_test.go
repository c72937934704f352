package fsm_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// portable are the records of a database in the form in which they come in, and the same without the head of the messages,
// which says who claimed last.
func (t tenants) portable(db string) (all, rest []byte) {
	t.t.Helper()
	if err := t.a.Fork().MessageRecords(db, func(store fsm.RecordStore, record []byte) error {
		all = fsm.AppendRecord(all, store, record)
		if store != fsm.OfMessages || queue.RecordKind(record) != "head" {
			rest = fsm.AppendRecord(rest, store, record)
		}
		return nil
	}); err != nil {
		t.t.Fatal(err)
	}
	return all, rest
}

// stage brings records in for a database, and returns what ImportMessages takes.
func (t tenants) stage(id, db string, records []byte) fsm.MessageImport {
	t.t.Helper()
	for at := 0; at < len(records); at += 500 {
		part := fsm.BackupPart{ID: id, Offset: uint64(at), Data: records[at:min(at+500, len(records))], Database: db}
		if _, err := propose(t.deliverer, fsm.StageBackup, part); err != nil {
			t.t.Fatalf("part at %d: %v", at, err)
		}
		if at == 500 {
			t.b = restored(t.t, t.b)
		}
	}
	return fsm.MessageImport{BackupRef: fsm.BackupRef{ID: id, Size: uint64(len(records))}, Database: db, Level: env.Base}
}

// used is a cluster whose database a has a schedule, a queue, a group and three messages, one of which is being delivered.
func used(t *testing.T, seed uint64) tenants {
	c := newTenants(t, seed)
	for range 3 {
		c.publish("a", url("x"))
	}
	if _, err := proposeIn(c, "a", c.number("a"), fsm.ChangeQueue, queue.QueueChange{Name: "q", Act: queue.ActPut, Parallelism: 2}); err != nil {
		t.Fatal(err)
	}
	if got := c.advance(1); len(got["a"]) != 1 {
		t.Fatalf("%+v", got)
	}
	return c
}

// TestMessagesComeIn: records of one database come into one of another cluster, on two machines, of which one comes by a
// snapshot meanwhile. What was being delivered is delivered again; settings and signing keys stay the database's own.
func TestMessagesComeIn(t *testing.T) {
	from, to := used(t, 71), newTenants(t, 72)
	var before, after queue.Keys
	to.a.View(0, [16]byte{}, func(v *fsm.View) { before = v.MessagesOf("b").Keys() })
	records, _ := from.portable("a")
	if keys := func() (k queue.Keys) {
		from.a.View(0, [16]byte{}, func(v *fsm.View) { k = v.MessagesOf("a").Keys() })
		return k
	}(); keys.Current == "" || bytes.Contains(records, []byte(keys.Current)) || bytes.Contains(records, []byte(keys.Next)) {
		t.Fatalf("the records hold the signing keys %v", keys)
	}
	ref := to.stage("i1", "b", records)
	out, err := propose(to.deliverer, fsm.ImportMessages, ref)
	if err != nil || out.Messages.Messages != 3 || out.Messages.Queues != 1 || out.Messages.Active != 0 {
		t.Fatalf("%+v %v", out, err)
	}
	if again, err := propose(to.deliverer, fsm.ImportMessages, ref); err != nil || again != out {
		t.Errorf("asked again: %+v %v", again, err)
	}
	to.a.View(0, [16]byte{}, func(v *fsm.View) { after = v.MessagesOf("b").Keys() })
	if before != after || to.messages("") != 0 || to.messages("a") != 0 {
		t.Errorf("keys %v and %v, %d and %d messages elsewhere", before, after, to.messages(""), to.messages("a"))
	}
	to.same()
	for delivered := 0; delivered < 3; {
		to.l.now += 60_000
		got := to.advance(5)["b"]
		if len(got) == 0 {
			t.Fatalf("%d of 3 delivered", delivered)
		}
		for _, a := range got {
			one, err := propose(to.deliverer, fsm.Finish, queue.Results{Items: []queue.Result{{DB: a.DB, AttemptRef: a.Ref(), Response: queue.Response{Status: 200}}}})
			if err != nil || one.Items[0].State != queue.Delivered {
				t.Fatalf("%+v %v", one, err)
			}
			delivered++
		}
	}
	to.publish("b", url("new")) // numbers go on
	_, x := to.portable("b")
	to.b = restored(t, to.b)
	if _, y := to.portable("b"); !bytes.Equal(x, y) {
		t.Error("records differ after a snapshot")
	}
	to.same()
}

// TestRefusedMessageImports: nothing changes.
func TestRefusedMessageImports(t *testing.T) {
	from, to := used(t, 73), newTenants(t, 74)
	records, _ := from.portable("a")
	refuse := func(name string, want error, says string, ref fsm.MessageImport) {
		t.Helper()
		before := to.messages("b")
		_, err := propose(to.deliverer, fsm.ImportMessages, ref)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), says) || to.messages("b") != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := fsm.MessageImport{BackupRef: fsm.BackupRef{ID: "none", Size: 7}, Database: "b", Level: env.Base}
	refuse("nothing staged", fsm.ErrNotStaged, "", whole)
	ref := to.stage("short", "b", records)
	ref.Size++
	refuse("parts missing", fsm.ErrNotStaged, "", ref)
	ref.Size--
	ref.Level = env.Latest + 1
	refuse("a higher level", fsm.ErrRecordLevel, "", ref)
	refuse("bad records", fsm.ErrBadRecords, "can't be read: ", to.stage("bad", "b", records[:len(records)-3]))
	refuse("an unknown store", fsm.ErrBadRecords, "unknown store", to.stage("store", "b", fsm.AppendRecord(nil, 9, []byte{0})))
	refuse("a host that is missing", fsm.ErrBadRecords, "missing", to.stage("twice", "b", without(t, from, "queue", "host")))
	ref = to.stage("gone", "b", records)
	ref.Database = "nosuch"
	refuse("no database", fsm.ErrNoDatabase, "", ref)
	if _, err := propose(to.deliverer, fsm.Configure, fsm.Settings{MaxMemory: 900}); err != nil {
		t.Fatal(err)
	}
	refuse("no memory", fsm.ErrRecordMemory, "", to.stage("memory", "b", records))
	if _, err := propose(to.deliverer, fsm.Configure, fsm.Settings{}); err != nil {
		t.Fatal(err)
	}
	ref = to.stage("used", "b", records)
	to.publish("b", url("x"))
	refuse("not empty", fsm.ErrUsedMessages, "this one has 1 message", ref)
	if _, err := propose(to.deliverer, fsm.StageBackup, fsm.BackupPart{ID: "x", Data: []byte("x"), Database: "b"}); !errors.Is(err, fsm.ErrUsedMessages) {
		t.Errorf("parts for a database with messages: %v", err)
	}
	to.same()
}

// without are the records of a database but for those of some kinds.
func without(t *testing.T, c tenants, kinds ...string) (all []byte) {
	t.Helper()
	if err := c.a.Fork().MessageRecords("a", func(store fsm.RecordStore, record []byte) error {
		for _, kind := range kinds {
			if store == fsm.OfMessages && queue.RecordKind(record) == kind {
				return nil
			}
		}
		all = fsm.AppendRecord(all, store, record)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPartsAreEqualAfterARestore: the parts of a backup and those of a cluster that has restored it are equal, whatever was under way;
// a change of a key, a message or a schedule is one of its part.
func TestPartsAreEqualAfterARestore(t *testing.T) {
	from := source(t)
	file, _ := backup(t, from.a)
	_, contents, parts, err := fsm.InspectBackup(bytes.NewReader(file), 0)
	if err != nil || contents.Messages.Active != 2 || len(parts) == 0 {
		t.Fatalf("%+v %v %v", contents, parts, err)
	}
	c := empty(t, 76)
	c.bring("r", file, 10_000)
	if _, err := c.restore("r", file); err != nil {
		t.Fatal(err)
	}
	same := func(got []fsm.Part) (differ []string) {
		for i, p := range got {
			if p != parts[i] {
				differ = append(differ, p.Database+" "+p.Name)
			}
		}
		return differ
	}
	if differ := same(c.a.Fork().Parts()); len(differ) != 0 {
		t.Errorf("after the restore differ: %v", differ)
	}
	if sum := parts[3]; sum.Name != "messages" || sum.Records != 4 { // a queue and three messages
		t.Errorf("%+v", sum)
	}
	c.l.session, c.l.seq = 0, 0
	c.l.open(func(data []byte) []fsm.Outcome { return c.apply(data) })
	c.publish(queue.Publication{URL: "http://example.com/4"})
	if differ := same(c.a.Fork().Parts()); len(differ) != 1 || differ[0] != "default messages" {
		t.Errorf("after a publication differ: %v", differ)
	}
}
