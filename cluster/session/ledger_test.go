package session

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm"
)

// books is a ledger and a clock that the test moves.
type books struct {
	*Ledger
	at time.Time
}

func newBooks() *books { return &books{NewLedger(), time.Unix(1000, 0)} }

// entry notes an entry that took so long, in equal parts for its databases.
func (b *books) entry(took time.Duration, dbs ...string) {
	var outcomes []fsm.Outcome
	for _, db := range dbs {
		outcomes = append(outcomes, fsm.Outcome{Database: db, Work: 10_000_000})
	}
	b.at = b.at.Add(took)
	b.Note(b.at, took, outcomes)
}

// runs simulates hogs, which always have an entry of 50 ms to apply, and others, which have small requests. It returns
// the part of the time that each hog worked, and the longest time that one was held.
func (b *books) runs(long time.Duration, hogs []string, others ...string) (parts map[string]float64, longest time.Duration) {
	worked, waits, end := map[string]time.Duration{}, map[string]time.Duration{}, b.at.Add(long)
	for b.at.Before(end) {
		for _, db := range others {
			b.Note(b.at, 2*time.Microsecond, []fsm.Outcome{{Database: db, Work: 20}})
		}
		for _, hog := range hogs {
			if b.Held(b.at, hog) {
				waits[hog] += time.Millisecond
				longest = max(longest, waits[hog])
				continue
			}
			waits[hog] = 0
			b.entry(50*time.Millisecond, hog)
			worked[hog] += 50 * time.Millisecond
		}
		b.at = b.at.Add(time.Millisecond)
	}
	parts = map[string]float64{}
	for _, hog := range hogs {
		parts[hog] = worked[hog].Seconds() / long.Seconds()
	}
	return parts, longest
}

// TestAloneGetsEverything: a database never waits while no other is active.
func TestAloneGetsEverything(t *testing.T) {
	b := newBooks()
	parts, longest := b.runs(20*time.Second, []string{"hog"})
	if parts["hog"] < 0.95 || longest > 0 {
		t.Errorf("alone it works %.2f of the time and waits for %v", parts["hog"], longest)
	}
}

// TestHogLeavesOthersTheirShare: while others use little, a database with large requests gets a third of a share and no more, and never waits
// for long.
func TestHogLeavesOthersTheirShare(t *testing.T) {
	for others := 1; others <= 64; others *= 8 {
		b := newBooks()
		var names []string
		for i := range others {
			names = append(names, fmt.Sprint("small", i))
		}
		parts, longest := b.runs(20*time.Second, []string{"hog"}, names...)
		if parts["hog"] < 0.1 || parts["hog"] > 0.2 || longest > 500*time.Millisecond {
			t.Errorf("beside %d others it works %.2f of the time and waits for %v", others, parts["hog"], longest)
		}
		for _, name := range names {
			if b.Held(b.at, name) {
				t.Fatalf("%s has to wait", name)
			}
		}
	}
}

// TestSmallRequestsHaveTheirShare: a database with many small requests gets its whole share, unlike one with the same work in large requests.
func TestSmallRequestsHaveTheirShare(t *testing.T) {
	part := func(work int64) float64 {
		b := newBooks()
		outcomes := make([]fsm.Outcome, 10_000_000/work)
		for i := range outcomes {
			outcomes[i] = fsm.Outcome{Database: "hog", Work: work}
		}
		worked := time.Duration(0)
		for end := b.at.Add(20 * time.Second); b.at.Before(end); b.at = b.at.Add(time.Millisecond) {
			b.Note(b.at, 2*time.Microsecond, []fsm.Outcome{{Database: "other", Work: 20}})
			if !b.Held(b.at, "hog") {
				b.at = b.at.Add(50 * time.Millisecond)
				b.Note(b.at, 50*time.Millisecond, outcomes)
				worked += 50 * time.Millisecond
			}
		}
		return worked.Seconds() / 20
	}
	if small, large := part(largeWork/10), part(largeWork); small < 0.33 || large > small/2 {
		t.Errorf("small requests work %.2f of the time, large ones %.2f", small, large)
	}
}

// TestHogsShare: several databases that want everything get the same.
func TestHogsShare(t *testing.T) {
	b := newBooks()
	hogs := []string{"a", "b", "c", "d"}
	parts, _ := b.runs(40*time.Second, hogs, "small")
	for _, hog := range hogs {
		if parts[hog] < 0.05 || parts[hog] > 0.15 {
			t.Errorf("parts %v", parts)
			break
		}
	}
	if b.Held(b.at, "small") {
		t.Error("the one that wants little has to wait")
	}
}

// TestDebtIsBounded: a database pays for what it has used while it was alone for some seconds at most, and one that
// stops is forgotten.
func TestDebtIsBounded(t *testing.T) {
	b := newBooks()
	for range 100 {
		b.entry(time.Second, "hog")
	}
	b.Note(b.at, time.Millisecond, []fsm.Outcome{{Database: "other", Work: 10_000}})
	waited := time.Duration(0)
	for b.Held(b.at, "hog") {
		if waited > 2*mostDebt {
			t.Fatalf("it waits after %v", waited)
		}
		b.Note(b.at, 10*time.Microsecond, []fsm.Outcome{{Database: "other", Work: 100}})
		waited += 10 * time.Millisecond
		b.at = b.at.Add(10 * time.Millisecond)
	}
	if waited == 0 {
		t.Error("it has not waited")
	}
	b.at = b.at.Add(forgetAfter + time.Second)
	b.entry(time.Millisecond, "other")
	b.others(b.at)
	if b.accounts["hog"] != nil || b.accounts["other"] == nil {
		t.Errorf("accounts %v", b.accounts)
	}
}

// TestSlowMachineChargesLittle: an entry of little work that took long, because the process had no processor, makes no debt.
func TestSlowMachineChargesLittle(t *testing.T) {
	b := newBooks()
	for range 100 {
		b.Note(b.at, 100*time.Millisecond, []fsm.Outcome{{Database: "a", Work: 20}, {Database: "b", Work: 20}})
		b.at = b.at.Add(100 * time.Millisecond)
	}
	if b.Held(b.at, "a") || b.Held(b.at, "b") {
		t.Error("they have to wait for what others used")
	}
	if b.Note(b.at, time.Hour, nil); b.Held(b.at, "") {
		t.Error("nobody has to wait")
	}
}

// TestOthers: a database that only reads is not active itself, but whether others are is known for it.
func TestOthers(t *testing.T) {
	b := newBooks()
	want := func(db string, others bool) {
		t.Helper()
		b.at = b.at.Add(50 * time.Millisecond)
		if got := b.Others(b.at, db); got != others {
			t.Errorf("others beside %s: %v, want %v", db, got, others)
		}
	}
	want("reader", false)
	b.entry(time.Millisecond, "writer")
	want("reader", true)
	want("writer", false)
	b.entry(time.Millisecond, "second")
	want("writer", true)
	b.at = b.at.Add(activeFor)
	want("reader", false)
}

// TestAccountsInOrder holds that active databases are counted, and quiet ones forgotten, whatever the order in which they come again.
func TestAccountsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, seen := newBooks(), map[string]time.Time{}
		for range rapid.IntRange(1, 60).Draw(t, "entries") {
			b.at = b.at.Add(rapid.SampledFrom([]time.Duration{0, 300 * time.Millisecond, time.Second, 4 * time.Second, 11 * time.Second}).Draw(t, "after"))
			db := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "database")
			seen[db] = b.at
			b.Note(b.at, time.Millisecond, []fsm.Outcome{{Database: db, Work: 10}})
			active, known := 0, 0
			for _, at := range seen {
				if b.at.Sub(at) < activeFor {
					active++
				}
				if b.at.Sub(at) <= forgetAfter {
					known++
				}
			}
			if got := b.others(b.at); got != active-1 || len(b.accounts) != known {
				t.Fatalf("%d others of %d accounts, want %d of %d", got, len(b.accounts), active-1, known)
			}
		}
	})
}
