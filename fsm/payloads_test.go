package fsm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// disk is a keeper that has bytes in another form, and counts how often they are read. It has files, too.
type disk struct {
	reads int
	files map[payload.Digest]payload.Kept
	held  []*onDisk
	shelf *payload.Shelf // of every other string: see onDisk.Spot
	all   []*onDisk      // those of the shelf
	// unsynced: something was placed since the last Sync.
	unsynced bool
	// during, if not nil, is called while strings are put.
	during func()
}

type onDisk struct {
	d    *disk
	b    []byte // every bit the other way round
	held []byte // the bytes, once they were held
	spot *payload.Spot
}

func (d *disk) Keep(b []byte) payload.Kept { return &onDisk{d: d, b: turned(b)} }

// Spot has every other string be on a shelf.
func (od *onDisk) Spot() (payload.Spot, bool) {
	d := od.d
	if od.spot == nil {
		if d.shelf == nil {
			d.shelf = payload.NewShelf(onShelf{d})
		}
		digest := od.Digest()
		od.spot = &payload.Spot{Shelf: d.shelf, Position: uint32(len(d.all)), Length: uint32(len(od.b)), Sum: payload.SpotSum(&digest)}
		d.all = append(d.all, od)
	}
	return *od.spot, od.spot.Position%2 == 0
}

// onShelf reads strings of the shelf.
type onShelf struct{ *disk }

func (os onShelf) Bytes(s payload.Spot) []byte          { return os.all[s.Position].Bytes() }
func (os onShelf) Digest(s payload.Spot) payload.Digest { return os.all[s.Position].Digest() }
func (os onShelf) Near(s payload.Spot) ([]byte, bool)   { return os.all[s.Position].Near() }
func (os onShelf) Hold(s payload.Spot) []byte           { return os.all[s.Position].Hold() }

func (d *disk) Place(list []payload.Kept) error {
	if d.files == nil {
		d.files = map[payload.Digest]payload.Kept{}
	}
	d.unsynced = true
	for _, k := range list {
		d.files[k.Digest()] = k
	}
	return nil
}

func (d *disk) Put(list [][]byte) (put []payload.Cold, err error) {
	for _, b := range list {
		put = append(put, d.Keep(b).(payload.Cold))
	}
	if d.during != nil {
		d.during()
	}
	return put, d.Place(kept(put))
}

// forget leaves the bytes of no payload in memory.
func (d *disk) forget() {
	for _, od := range d.held {
		od.held = nil
	}
	d.held = nil
}

func kept(list []payload.Cold) (all []payload.Kept) {
	for _, k := range list {
		all = append(all, k)
	}
	return all
}

func (d *disk) Sync() error {
	d.unsynced = false
	return nil
}

func (d *disk) Named(names []payload.Reference) (list []payload.Kept) {
	for _, n := range names {
		list = append(list, d.files[n.Digest])
	}
	return list
}

func (od *onDisk) Bytes() []byte {
	od.d.reads++
	return turned(od.b)
}

// Near has the bytes in memory once they were held.
func (od *onDisk) Near() ([]byte, bool) { return od.held, od.held != nil }

func (od *onDisk) Hold() []byte {
	if od.held == nil {
		od.held = od.Bytes()
		od.d.held = append(od.d.held, od)
	}
	return od.held
}

func (od *onDisk) Len() int               { return len(od.b) }
func (od *onDisk) Digest() payload.Digest { return payload.DigestOf(turned(od.b)) }

func turned(b []byte) []byte {
	c := make([]byte, len(b))
	for i := range b {
		c[i] = ^b[i]
	}
	return c
}

// bodies are payloads around the length from which on they are apart.
var bodies = []string{"", "short", strings.Repeat("a", payload.Apart-1), strings.Repeat("b", payload.Apart), strings.Repeat("c", 5000)}

// twoKeepers drives a machine whose payloads are on a disk beside one that has them in memory.
type twoKeepers struct {
	*deliverer
	d *disk
}

func newTwoKeepers(t *testing.T, seed uint64) (twoKeepers, *disk) {
	d := &disk{}
	c := twoKeepers{&deliverer{t: t, l: newLog(seed), a: fsm.NewMachine(), b: fsm.NewMachine()}, d}
	c.a.KeepPayloads(d)
	data := c.l.entry(fsm.Request{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})},
		fsm.Request{Code: fsm.Register.Code, Body: fsm.Register.Body(fsm.Registration{Node: "n1", Disk: "d", Boot: 1})})
	c.l.session = c.apply(data)[1].Value.(fsm.Session).ID
	return c, d
}

// equal compares the machines: their digests, and what they save.
func (tk twoKeepers) equal() {
	tk.t.Helper()
	d := tk.d
	x, y := tk.a.Fork(), tk.b.Fork()
	if x.Digest() != y.Digest() {
		tk.t.Error("the digests differ")
	}
	var p, q bytes.Buffer
	if err := x.Write(&p); err != nil {
		tk.t.Fatal(err)
	}
	if err := y.Write(&q); err != nil {
		tk.t.Fatal(err)
	}
	if !bytes.Equal(p.Bytes(), q.Bytes()) {
		tk.t.Error("the snapshots differ")
	}
	again := fsm.NewMachine()
	again.KeepPayloads(&disk{})
	if err := again.Restore(&p); err != nil {
		tk.t.Fatal(err)
	}
	if again.Fork().Digest() != x.Digest() {
		tk.t.Error("the digest differs after a restore")
	}
	tk.named(d)
	tk.backedUp()
	if usedBytes(again) != usedBytes(tk.a) || usedBytes(tk.a) != usedBytes(tk.b) {
		tk.t.Errorf("used %d, %d in memory, %d after a restore", usedBytes(tk.a), usedBytes(tk.b), usedBytes(again))
	}
}

// named restores a snapshot that names the payloads that are on the disk: the state is the same, and reading and writing
// such a snapshot reads no payload but large headers.
func (tk twoKeepers) named(d *disk) {
	tk.t.Helper()
	f := tk.a.Fork()
	var p, q bytes.Buffer
	reads := d.reads
	if err := f.WriteReferences(&p, d); err != nil {
		tk.t.Fatal(err)
	}
	if d.unsynced {
		tk.t.Error("a snapshot is complete although what it names may be lost")
	}
	if err := fsm.NewMachine().Restore(bytes.NewReader(p.Bytes())); !errors.Is(err, fsm.ErrSnapshot) {
		tk.t.Errorf("restored without files: %v", err)
	}
	n := 0
	err := fsm.SnapshotReferences(bytes.NewReader(p.Bytes()), func(list []payload.Reference) error {
		n += len(list)
		for _, r := range list {
			if k := d.files[r.Digest]; k == nil || k.Len() != r.Len {
				tk.t.Errorf("a payload of %d bytes is named that is in no file", r.Len)
			}
		}
		return nil
	})
	if err != nil || len(d.files) > n {
		tk.t.Errorf("%d payloads are named, %d in files: %v", n, len(d.files), err)
	}
	again := fsm.NewMachine()
	again.KeepPayloads(d)
	if err := again.Restore(bytes.NewReader(p.Bytes())); err != nil {
		tk.t.Fatal(err)
	}
	if d.reads > reads+2 {
		tk.t.Errorf("a snapshot and a restore have read %d payloads", d.reads-reads)
	}
	if again.Fork().Digest() != f.Digest() || usedBytes(again) != usedBytes(tk.a) {
		tk.t.Error("the state differs after a restore by names")
	}
	p.Reset()
	if err := errors.Join(f.Write(&p), again.Fork().Write(&q)); err != nil || !bytes.Equal(p.Bytes(), q.Bytes()) {
		tk.t.Error("the snapshot differs after a restore by names", err)
	}
	d.files = nil
}

// backedUp compares the machines' backups, and verifies them as a restore would; also those that name payloads, and what they become
// with the payloads.
func (tk twoKeepers) backedUp() {
	tk.t.Helper()
	p, made := backup(tk.t, tk.a)
	q, _ := backup(tk.t, tk.b)
	if !bytes.Equal(p, q) {
		tk.t.Error("the backups differ")
	}
	if verified, err := fsm.VerifyBackupWith(bytes.NewReader(p), table); err != nil || verified != made {
		tk.t.Errorf("verified %+v, %v; made %+v", verified, err, made)
	}
	one, payloads := tk.namingBackup(tk.a)
	two, same := tk.namingBackup(tk.b)
	if !bytes.Equal(one, two) || len(payloads) != len(same) {
		tk.t.Errorf("the backups that name payloads differ, or their %d and %d payloads", len(payloads), len(same))
	}
	find := func(list []payload.Reference) (found []payload.Kept, err error) {
		for _, v := range list {
			if payloads[v.Digest] == nil {
				return nil, errors.New("not a payload of the state")
			}
			found = append(found, payloads[v.Digest])
		}
		return found, nil
	}
	var whole bytes.Buffer
	if expanded, err := fsm.ExpandBackup(&whole, bytes.NewReader(one), 0, find); err != nil || expanded != made || !bytes.Equal(whole.Bytes(), p) {
		tk.t.Errorf("expanded %+v, %v; made %+v", expanded, err, made)
	}
	if _, _, err := fsm.VerifyBackup(bytes.NewReader(one), 0, nil); !errors.Is(err, fsm.ErrBackupNamed) {
		tk.t.Errorf("without the payloads: %v", err)
	}
}

// namingBackup is a machine's backup that names payloads, and the payloads.
func (tk twoKeepers) namingBackup(m *fsm.Machine) ([]byte, map[payload.Digest]payload.Kept) {
	tk.t.Helper()
	f, all := m.Fork(), map[payload.Digest]payload.Kept{}
	err := f.Payloads(func(k payload.Kept) error {
		all[k.Digest()] = k
		return nil
	})
	var b bytes.Buffer
	if made, failed := f.BackupNames(&b, "test"); errors.Join(err, failed) != nil || !made.Named {
		tk.t.Fatal(made, err, failed)
	}
	return b.Bytes(), all
}

func usedBytes(m *fsm.Machine) (bytes int64) {
	m.View(0, [16]byte{}, func(v *fsm.View) { _, bytes = v.Usage() })
	return bytes
}

// TestPayloadsOfMessages: messages, their events and dead letters are the same wherever their bodies are, and no apply reads a body
// to claim or finish an attempt, or to compute a digest.
func TestPayloadsOfMessages(t *testing.T) {
	c, d := newTwoKeepers(t, 61)
	for _, body := range bodies {
		p := queue.Publication{URL: "http://example.com/" + fmt.Sprint(len(body)), Body: []byte(body)}
		p.Retries, p.Given = 0, queue.GivenRetries
		if body == "short" {
			p.Header = []queue.Field{{Name: "Large", Value: strings.Repeat("h", 4<<10)}}
		}
		c.publish(p)
	}
	c.equal()
	d.reads = 0
	got, err := c.advance()
	if err != nil || len(got) != len(bodies) || d.reads != 3 { // the large header, and two bodies by which deliverer compares outcomes
		t.Fatalf("%d attempts, %d reads: %v", len(got), d.reads, err)
	}
	var results []queue.Result
	for i, a := range got {
		whole := a.Loaded()
		if string(whole.Content.Body) != bodies[i] {
			t.Errorf("the attempt of %d bytes has another body", len(bodies[i]))
		}
		results = append(results, queue.Result{AttemptRef: a.Ref(), Response: queue.Response{Status: 500, Body: []byte(bodies[len(bodies)-1-i])}})
	}
	d.reads = 0
	if _, err := propose(c.deliverer, fsm.Finish, queue.Results{Items: results}); err != nil || d.reads != 0 {
		t.Fatalf("%d reads: %v", d.reads, err)
	}
	c.equal()
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		dead, _, _ := v.Messages().DeadLetters(nil, &queue.Filter{}, queue.Page{Limit: 100})
		if len(dead) != len(bodies) {
			t.Fatalf("%d dead letters", len(dead))
		}
		for i, one := range dead {
			if string(one.Message.Content.Body) != bodies[i] || string(one.Response.Body) != bodies[len(bodies)-1-i] {
				t.Errorf("dead letter %d has another body", i)
			}
		}
		for i, a := range got {
			x, ok := v.Messages().Explain(a.ID, v.Now())
			if !ok || x.Dead == nil || string(x.Dead.Response.Body) != bodies[len(bodies)-1-i] ||
				string(x.Last.Response.Body) != bodies[len(bodies)-1-i] || string(x.Last.Content.Body) != bodies[i] {
				t.Errorf("the explanation of message %d has other bodies: %+v", i, x)
			}
		}
		events, _, _ := v.Messages().Events(&queue.Filter{States: []queue.State{queue.Failed}}, queue.Page{Limit: 100})
		for i, one := range events {
			if string(one.Content.Body) != bodies[i] || string(one.Response.Body) != bodies[len(bodies)-1-i] {
				t.Errorf("event %d has another body", i)
			}
		}
	})
	d.reads = 0
	c.a.Fork().Digest()
	if d.reads != 0 {
		t.Errorf("the digest has read %d payloads, want none", d.reads)
	}
}

func (tk twoKeepers) advance() ([]queue.Attempt, error) {
	tk.t.Helper()
	got, err := propose(tk.deliverer, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Term: tk.l.term, Claims: 100})
	return got.Attempts, err
}

// TestPayloadsCountLittle: large bodies count by a sixteenth, and all that counted is taken back when the messages go.
func TestPayloadsCountLittle(t *testing.T) {
	c, _ := newTwoKeepers(t, 63)
	empty := usedBytes(c.a)
	c.publish(queue.Publication{URL: "http://example.com", Body: bytes.Repeat([]byte("x"), 160_000)})
	if n := usedBytes(c.a) - empty; n < 10_000 || n > 11_500 {
		t.Errorf("a body of 160,000 bytes counts as %d", n)
	}
	got, err := c.advance()
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	big := queue.Response{Status: 500, Body: bytes.Repeat([]byte("y"), 100_000)}
	ref := got[0].Ref()
	if _, err := propose(c.deliverer, fsm.Finish, queue.Results{Items: []queue.Result{{AttemptRef: ref, Response: big}}}); err != nil {
		t.Fatal(err)
	}
	c.equal()
	if _, err := propose(c.deliverer, fsm.CancelMessages, queue.Cancellation{IDs: []queue.ID{ref.ID}}); err != nil {
		t.Fatal(err)
	}
	c.l.now += 30 * 86_400_000
	for range 20 {
		if _, err := propose(c.deliverer, fsm.Advance, fsm.AdvanceLimit{Sweep: 100, Deliver: true, Term: c.l.term, Claims: 1}); err != nil {
			t.Fatal(err)
		}
	}
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		if n := v.Contents().Messages; n.Messages != 0 || n.Events != 0 || v.Messages().Uncounted() != 0 || v.Messages().Used() != 0 {
			t.Errorf("%+v are left, %d used, %d uncounted", n, v.Messages().Used(), v.Messages().Uncounted())
		}
	})
	c.equal()
}

// TestPayloadsOfRuns: the payload of a run, its steps and its result are the same wherever they are.
func TestPayloadsOfRuns(t *testing.T) {
	c, d := newTwoKeepers(t, 64)
	for i, body := range bodies {
		id := fmt.Sprintf("wfr_%d", i)
		if _, err := propose(c.deliverer, fsm.Submit, workflow.Submissions{Items: []workflow.Submission{{Kind: workflow.InitSubmission, URL: "http://example.com", RunID: id, Body: []byte(body)}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := propose(c.deliverer, fsm.EndRun, workflow.Ending{RunID: id, Result: []byte(body), HasResult: true}); err != nil {
			t.Fatal(err)
		}
	}
	c.equal()
	if d.reads == 0 {
		t.Error("nothing is on the disk")
	}
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		for i, body := range bodies {
			r := v.Workflows().Find(fmt.Sprintf("wfr_%d", i), 0)
			if r == nil {
				t.Fatalf("run %d is not there", i)
			}
			first, _ := v.Workflows().Entry(r.No, 0)
			if string(r.Result.Bytes()) != body || string(first.Body.Bytes()) != body {
				t.Errorf("run %d has other bytes", i)
			}
		}
		if n := v.Workflows().Uncounted(); n != 4*payload.Uncounted(payload.Apart)-2*payload.Uncounted(payload.Apart)+2*payload.Uncounted(5000) {
			t.Errorf("%d don't count", n)
		}
	})
}

// TestBackupsHoldBodies restores backups of states with large bodies, which are on the disk or in memory here and there: every
// body of a message, a dead letter, an event and a run is unchanged.
func TestBackupsHoldBodies(t *testing.T) {
	c, _ := newTwoKeepers(t, 62)
	var ids []queue.ID
	for i, body := range append(bodies, bodies...) {
		p := queue.Publication{URL: fmt.Sprint("http://example.com/", i), Body: []byte(body)}
		p.Retries, p.Given = 0, queue.GivenRetries
		if i >= len(bodies) { // stays a message that waits
			p.Delay, p.Given = 3_600_000, p.Given|queue.GivenDelay
		}
		ids = append(ids, c.publish(p).Messages[0].ID)
		run := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://example.com", RunID: fmt.Sprint("wfr_", i), Body: []byte(body)}
		run.Delay, run.Given = 3_600_000, queue.GivenDelay
		if _, err := propose(c.deliverer, fsm.Submit, workflow.Submissions{Items: []workflow.Submission{run}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.advance()
	if err != nil || len(got) != len(bodies) {
		t.Fatalf("%d attempts: %v", len(got), err)
	}
	for i, a := range got {
		result := queue.Result{AttemptRef: a.Ref(), Response: queue.Response{Status: 500, Body: []byte(bodies[len(bodies)-1-i])}}
		if _, err := propose(c.deliverer, fsm.Finish, queue.Results{Items: []queue.Result{result}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, m := range map[string]*fsm.Machine{"on the disk": c.a, "in memory": c.b} {
		file, made := backup(t, m)
		if _, err := fsm.VerifyBackupWith(bytes.NewReader(file), table); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		to := empty(t, 66)
		to.a.KeepPayloads(&disk{})
		to.bring("r1", file, fsm.PartBytes)
		if _, err := to.restore("r1", file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		to.same()
		for _, into := range []*fsm.Machine{to.a, to.b} {
			into.View(made.Clock, [16]byte{}, func(v *fsm.View) { sameBodies(t, v, ids) })
		}
	}
}

// sameBodies compares what TestBackupsHoldBodies has made.
func sameBodies(t *testing.T, v *fsm.View, ids []queue.ID) {
	t.Helper()
	dead, _, _ := v.Messages().DeadLetters(nil, &queue.Filter{}, queue.Page{Limit: 100})
	events, _, _ := v.Messages().Events(&queue.Filter{States: []queue.State{queue.Failed}}, queue.Page{Limit: 100})
	if len(dead) != len(bodies) || len(events) != len(bodies) {
		t.Fatalf("%d dead letters, %d events", len(dead), len(events))
	}
	for i := range bodies {
		answer := bodies[len(bodies)-1-i]
		if string(dead[i].Message.Content.Body) != bodies[i] || string(dead[i].Response.Body) != answer || string(events[i].Response.Body) != answer {
			t.Errorf("dead letter or event %d has another body", i)
		}
	}
	for i, id := range ids {
		body := bodies[i%len(bodies)]
		if i >= len(bodies) {
			if m, ok := v.Messages().Message(id, v.Now()); !ok || string(m.Content.Body) != body {
				t.Errorf("message %d has another body", i)
			}
		}
		r := v.Workflows().Find(fmt.Sprint("wfr_", i), 0)
		if r == nil {
			t.Fatalf("run %d is not there", i)
		}
		if first, _ := v.Workflows().Entry(r.No, 0); string(first.Body.Bytes()) != body {
			t.Errorf("run %d has another payload", i)
		}
	}
}

// TestPayloadsOfGroups: a body that the messages of one publication share is the same wherever it is, and is one after a restore.
func TestPayloadsOfGroups(t *testing.T) {
	c, d := newTwoKeepers(t, 65)
	group := queue.GroupChange{Name: "g", Act: queue.ActAddEndpoints}
	for i := range 3 {
		group.Endpoints = append(group.Endpoints, queue.Endpoint{URL: fmt.Sprintf("http://%d.example.com", i)})
	}
	if _, err := propose(c.deliverer, fsm.ChangeGroup, group); err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		c.publish(queue.Publication{Group: "g", Body: []byte(body)})
	}
	c.equal()
	var p bytes.Buffer
	if err := c.a.Fork().WriteReferences(&p, d); err != nil {
		t.Fatal(err)
	}
	if len(d.files) != 2 {
		t.Errorf("%d bodies are in files, want 2", len(d.files))
	}
}

// TestReferencesBelongToRecords: a snapshot that lists more payloads than its records name, or fewer, or others, is refused.
func TestReferencesBelongToRecords(t *testing.T) {
	c, d := newTwoKeepers(t, 67)
	for range 3 {
		c.publish(queue.Publication{URL: "http://example.com", Body: []byte(bodies[4])})
	}
	var p bytes.Buffer
	if err := c.a.Fork().WriteReferences(&p, d); err != nil {
		t.Fatal(err)
	}
	whole, changed := p.Bytes(), 0
	for at := len("TRIREME\n"); at < len(whole); {
		n := int(binary.LittleEndian.Uint32(whole[at+1:]))
		next := at + 9 + n
		if whole[at] == 43 {
			changed++
			for name, list := range map[string][]byte{"none": nil, "twice": bytes.Repeat(whole[at:next], 2)} {
				m := fsm.NewMachine()
				m.KeepPayloads(d)
				if err := m.Restore(bytes.NewReader(slices.Concat(whole[:at], list, whole[next:]))); !errors.Is(err, fsm.ErrSnapshot) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		at = next
	}
	if changed != 1 {
		t.Errorf("%d frames list payloads, want 1", changed)
	}
}
