package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// deliverer drives machines in step as a leader's scheduler would.
type deliverer struct {
	t    *testing.T
	l    *log
	a, b *fsm.Machine
	// record, if set, is given every entry.
	record func(data []byte)
}

func newDeliverer(t *testing.T, seed uint64) *deliverer {
	c := &deliverer{t: t, l: newLog(seed), a: fsm.NewMachine(), b: fsm.NewMachine()}
	c.l.open(func(data []byte) []fsm.Outcome { return c.apply(data) })
	return c
}

func (d *deliverer) apply(data []byte) []fsm.Outcome {
	d.t.Helper()
	if d.record != nil {
		d.record(data)
	}
	x, err := d.a.Apply(d.l.index, d.l.term, data)
	if err != nil {
		d.t.Fatal(err)
	}
	y, err := d.b.Apply(d.l.index, d.l.term, data)
	if err != nil {
		d.t.Fatal(err)
	}
	var p, q wire.Writer
	fsm.EncodeOutcomes(&p, x)
	fsm.EncodeOutcomes(&q, y)
	if !bytes.Equal(p.B, q.B) {
		d.t.Fatalf("entry %d: outcomes differ", d.l.index)
	}
	if _, err := fsm.DecodeOutcomes(wire.NewReader(p.B), d.l.session); err != nil {
		d.t.Fatalf("entry %d: outcomes can't be read back: %v", d.l.index, err)
	}
	return x
}

func propose[A, R any](c *deliverer, op *fsm.Operation[A, R], arg A) (R, error) {
	c.t.Helper()
	c.l.seq++
	o := c.apply(c.l.entry(fsm.Request{Session: c.l.session, Seq: c.l.seq, Code: op.Code, Body: op.Body(arg)}))[0]
	r, _ := o.Value.(R)
	return r, o.Err
}

func (d *deliverer) publish(p queue.Publication) queue.Receipt {
	d.t.Helper()
	out, err := propose(d, fsm.Publish, queue.Publications{Items: []queue.Publication{p}})
	if err != nil {
		d.t.Fatal(err)
	}
	return out.Items[0]
}

// TestMessagesThroughTheLog publishes, claims, renews and finishes by entries.
func TestMessagesThroughTheLog(t *testing.T) {
	c := newDeliverer(t, 1)
	out := c.publish(queue.Publication{URL: "http://example.com", Body: []byte("x")})
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		if _, ok := v.Messages().Message(out.Messages[0].ID, v.Now()); !ok {
			t.Error("a published message can't be read")
		}
	})
	if at, ok := c.a.NextMessage(); !ok || at > c.a.Clock() {
		t.Fatalf("due %d %v", at, ok)
	}
	got, err := propose(c, fsm.Advance, fsm.AdvanceLimit{Sweep: 10, Deliver: true, Term: c.l.term, Claims: 5})
	if err != nil || len(got.Attempts) != 1 || string(got.Attempts[0].Content.Body) != "x" {
		t.Fatalf("%+v %v", got, err)
	}
	ref := got.Attempts[0].Ref()
	if n, _ := propose(c, fsm.Renew, queue.Renewal{Running: []queue.AttemptRef{ref}}); len(n.Lost) != 0 {
		t.Fatalf("%+v", n)
	}
	dispositions, err := propose(c, fsm.Finish, queue.Results{Items: []queue.Result{{AttemptRef: ref, Response: queue.Response{Status: 200}}}})
	if err != nil || dispositions.Items[0].State != queue.Delivered {
		t.Fatalf("%+v %v", dispositions, err)
	}
	_, err = propose(c, fsm.ChangeQueue, queue.QueueChange{Name: "none", Act: queue.ActPause})
	var said *fsm.Error
	if !errors.Is(err, queue.ErrNotFound) || !errors.As(err, &said) || said.Text != "queue none not found" {
		t.Fatalf("%v", err)
	}
	var w wire.Writer
	fsm.EncodeOutcomes(&w, []fsm.Outcome{{Err: err}})
	back, _ := fsm.DecodeOutcomes(wire.NewReader(w.B), 1)
	if !errors.Is(back[0].Err, queue.ErrNotFound) {
		t.Fatalf("another node reads %v", back[0].Err)
	}
}

// TestFullMemoryRefusesMessages: what adds to the state is refused, deliveries go on.
func TestFullMemoryRefusesMessages(t *testing.T) {
	c := newDeliverer(t, 2)
	c.publish(queue.Publication{URL: "http://example.com"})
	if _, err := propose(c, fsm.Configure, fsm.Settings{MaxMemory: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := propose(c, fsm.Publish, queue.Publications{Items: []queue.Publication{{URL: "http://example.com"}}}); !errors.Is(err, queue.ErrMemory) {
		t.Fatal(err)
	}
	if got, err := propose(c, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Term: c.l.term, Claims: 1}); err != nil || len(got.Attempts) != 1 {
		t.Fatal(err)
	}
}

// TestSigningKeys: founded with the keys that are given, or drawn ones; rotated as clients expect.
func TestSigningKeys(t *testing.T) {
	c := newDeliverer(t, 3)
	keys := func() (k queue.Keys) {
		c.a.View(0, [16]byte{}, func(v *fsm.View) { k = v.Messages().Keys() })
		return k
	}
	given := queue.Keys{Current: "sig_a", Next: "sig_b"}
	if _, err := propose(c, fsm.BootstrapState, fsm.Bootstrap{ClusterID: "c", Keys: given, Level: fsm.MaxLevel}); err != nil || keys() != given {
		t.Fatalf("%v %v", keys(), err)
	}
	k, err := propose(c, fsm.RotateKeys, queue.Rotation{})
	if err != nil || k.Current != "sig_b" || k.Next == "" || k != keys() {
		t.Fatalf("%v %v", k, err)
	}
	other := newDeliverer(t, 4)
	if _, err := propose(other, fsm.BootstrapState, fsm.Bootstrap{ClusterID: "c", Level: fsm.MaxLevel}); err != nil {
		t.Fatal(err)
	}
	other.a.View(0, [16]byte{}, func(v *fsm.View) {
		if k := v.Messages().Keys(); k.Current == "" || k.Next == "" || k.Current == k.Next {
			t.Errorf("drawn %v", k)
		}
	})
}

// TestFirstSettingsOfMessages: those that a cluster is founded with, later changed alone.
func TestFirstSettingsOfMessages(t *testing.T) {
	c := newDeliverer(t, 6)
	settings := func() (n queue.Settings) {
		c.a.View(0, [16]byte{}, func(v *fsm.View) { n = v.Messages().Settings() })
		return n
	}
	want := queue.DefaultSettings()
	want.DeadAge, want.MaxRetries, want.GlobalParallelism = 5000, 7, 9
	if _, err := propose(c, fsm.BootstrapState, fsm.Bootstrap{ClusterID: "c", Messages: &want, Level: fsm.MaxLevel}); err != nil || settings() != want {
		t.Fatalf("%+v %v", settings(), err)
	}
	other := want
	other.MaxRetries = 1
	if _, err := propose(c, fsm.BootstrapState, fsm.Bootstrap{ClusterID: "c", Messages: &other, Again: true}); err != nil || settings() != want {
		t.Fatalf("a restart: %+v %v", settings(), err)
	}
	if _, err := propose(c, fsm.ConfigureMessages, other); err != nil || settings() != other {
		t.Fatalf("%+v %v", settings(), err)
	}
	other.MaxQueues = -1
	if _, err := propose(c, fsm.ConfigureMessages, other); !errors.Is(err, queue.ErrInvalid) {
		t.Fatal(err)
	}
}

// TestFirstSettingsOfWorkflows: those that a cluster is founded with, later changed alone.
func TestFirstSettingsOfWorkflows(t *testing.T) {
	c := newDeliverer(t, 7)
	settings := func() (n workflow.Settings) {
		c.a.View(0, [16]byte{}, func(v *fsm.View) { n = v.Workflows().Settings() })
		return n
	}
	want := workflow.DefaultSettings()
	want.DeadAge, want.MaxSaved, want.MaxDepth = 5000, 7, 9
	if _, err := propose(c, fsm.BootstrapState, fsm.Bootstrap{ClusterID: "c", Workflows: &want, Level: fsm.MaxLevel}); err != nil || settings() != want {
		t.Fatalf("%+v %v", settings(), err)
	}
	other := want
	other.Inline = 1
	if _, err := propose(c, fsm.BootstrapState, fsm.Bootstrap{ClusterID: "c", Workflows: &other, Again: true}); err != nil || settings() != want {
		t.Fatalf("a restart: %+v %v", settings(), err)
	}
	if _, err := propose(c, fsm.ConfigureWorkflows, other); err != nil || settings() != other {
		t.Fatalf("%+v %v", settings(), err)
	}
	other.EndedAge = -1
	if _, err := propose(c, fsm.ConfigureWorkflows, other); !errors.Is(err, queue.ErrInvalid) {
		t.Fatal(err)
	}
}

// TestMessagesReplay draws operations on messages; one of the machines is restored from the other's snapshot again and
// again. Outcomes and digests agree.
func TestMessagesReplay(t *testing.T) {
	c := newDeliverer(t, 5)
	r := c.l.r
	var running []queue.Attempt
	for i := range 3000 {
		switch r.IntN(8) {
		case 0, 1, 2:
			p := queue.Publication{URL: fmt.Sprintf("http://h%d.example/", r.IntN(3))}
			p.Given = queue.GivenRetries | queue.GivenQueue | queue.GivenDelay | queue.GivenFailure
			p.Retries, p.Delay = r.IntN(2), r.Int64N(400)
			p.Queue = []string{"", "q"}[r.IntN(2)]
			if r.IntN(3) == 0 {
				p.Flow = &queue.FlowControl{Key: "k", Rate: 2, Period: 100}
			}
			if r.IntN(4) == 0 {
				p.Failure = &queue.Callback{URL: "http://f.example"}
			}
			c.publish(p)
		case 3, 4:
			got, err := propose(c, fsm.Advance, fsm.AdvanceLimit{Sweep: 20, Deliver: true, Term: c.l.term, Claims: 4, HostShare: r.IntN(3), Spare: r.IntN(2) == 0,
				Hosts: []queue.HostLimit{{Host: "a.example", Most: 2}}})
			if err != nil {
				t.Fatal(err)
			}
			running = append(running, got.Attempts...)
		case 5, 6:
			var results queue.Results
			for _, a := range running {
				results.Items = append(results.Items, queue.Result{AttemptRef: a.Ref(), Response: queue.Response{Status: 200 + r.IntN(2)*300}, RetryDelay: 50})
			}
			running = nil
			if _, err := propose(c, fsm.Finish, results); err != nil {
				t.Fatal(err)
			}
		case 7:
			if r.IntN(10) == 0 {
				c.l.term++
			}
			if r.IntN(20) == 0 {
				running = nil // a sender has died
			}
		}
		if i%500 == 499 {
			c.b = restored(t, c.a)
		}
	}
	if x, y := c.a.Fork().Digest(), c.b.Fork().Digest(); x != y {
		t.Fatalf("digests differ: %s %s", x, y)
	}
	c.a.View(0, [16]byte{}, func(v *fsm.View) { t.Logf("%+v", v.Messages().Counts()) })
}
