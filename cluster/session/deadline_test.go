package session

import (
	"errors"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// TestDeadlines: a call that has reached its deadline gets what is known, and younger calls go on waiting.
func TestDeadlines(t *testing.T) {
	b := newBench(t)
	sent := b.add("sent")
	b.batch()
	unsent := b.add("unsent")
	b.at = b.at.Add(time.Second)
	young := b.add("young")
	b.Overdue(b.at.Add(Deadline - time.Second - 1))
	b.waits(sent, unsent, young)
	b.Overdue(b.at.Add(Deadline - time.Second))
	b.wants(sent, Result{Err: fsm.ErrUnknown})
	b.wants(unsent, Result{Err: fsm.ErrNoLeader})
	b.waits(young)
	b.sends(b.batch(), 3, 3) // and who is not awaited is not sent
}

// TestDeadlinePassesOverOutcomes: those that have an outcome are no reason to stop looking.
func TestDeadlinePassesOverOutcomes(t *testing.T) {
	b := newBench(t)
	b.add("x")
	y := b.add("y")
	z := b.add("z")
	b.Cancel(y)
	b.Overdue(b.at.Add(Deadline))
	b.wants(z, Result{Err: fsm.ErrNoLeader})
	if b.Pending() != 0 {
		t.Errorf("%d still wait", b.Pending())
	}
}

// TestLeaderless: without a leader for too long, requests that were never sent are refused and new ones are not
// accepted; requests that were sent wait for their outcome.
func TestLeaderless(t *testing.T) {
	b := newBench(t)
	sent := b.add("sent")
	b.Finish(b.batch(), nil, errBroken, false)
	unsent := b.add("unsent")
	b.Lead(false)
	b.at = b.at.Add(Leaderless - 1)
	b.Lead(false) // since then, not since now
	b.Expire()
	b.waits(sent, unsent)
	b.at = b.at.Add(1)
	b.Expire()
	b.wants(unsent, Result{Err: fsm.ErrNoLeader})
	b.waits(sent)
	b.at = b.at.Add(1)
	if _, err := b.Add(fsm.Exec.Code, nil); !errors.Is(err, fsm.ErrNoLeader) {
		t.Errorf("a request without a leader: %v", err)
	}
	b.Lead(true)
	b.add("x")
	b.sends(b.batch(), 1, 1, 3)
}

// TestNoLeaderFromTheBeginning: a new process that finds no leader refuses requests as well.
func TestNoLeaderFromTheBeginning(t *testing.T) {
	at := time.Unix(1000, 0)
	p := New(func() time.Time { return at }, func() {})
	c, err := p.Add(fsm.Exec.Code, nil)
	if err != nil {
		t.Fatal(err)
	}
	at = at.Add(Leaderless)
	p.Expire()
	if r := <-c.Done(); r.Err != fsm.ErrNoLeader {
		t.Errorf("it came to %v", r)
	}
}

// TestAbandonAfterTheOutcome: an outcome that has come is not given up.
func TestAbandonAfterTheOutcome(t *testing.T) {
	b := newBench(t)
	c := b.add("x")
	k := b.batch()
	b.Finish(k, answers(k, fsm.Applied), nil, false)
	if got := b.Cancel(c); got.Value != "x" || got.Err != nil {
		t.Errorf("it came to %v", got)
	}
}
