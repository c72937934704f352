package env_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

var seed = [16]byte{1, 2, 3}

func draw(e *env.Env, n int) (list []uint64) {
	for range n {
		list = append(list, e.Uint64())
	}
	return list
}

// TestRandomIsOfTheEntry: all nodes draw the same numbers for a request, and no two requests draw the same.
func TestRandomIsOfTheEntry(t *testing.T) {
	first := draw(env.New(1, 1000, env.Latest, seed, 0), 100)
	if again := draw(env.New(1, 1000, env.Latest, seed, 0), 100); !slices.Equal(first, again) {
		t.Error("the same request draws other numbers")
	}
	// Neither the index, nor the time, nor the level is an input: the seed and the place are.
	if other := draw(env.New(9, 5, env.Latest+1, seed, 0), 100); !slices.Equal(first, other) {
		t.Error("numbers depend on more than seed and place")
	}
	seen := map[uint64]bool{}
	for place := range 50 {
		for _, v := range draw(env.New(1, 1000, env.Latest, seed, place), 20) {
			if seen[v] {
				t.Fatalf("%d was drawn twice", v)
			}
			seen[v] = true
		}
	}
	if other := draw(env.New(1, 1000, env.Latest, [16]byte{1, 2, 4}, 0), 100); slices.Equal(first[:1], other[:1]) {
		t.Error("another seed draws the same numbers")
	}
}

// TestRandomIsFrozen: these numbers are in every log that drew any; a change makes replicas differ.
func TestRandomIsFrozen(t *testing.T) {
	e := env.New(1, 0, env.Base, [16]byte{}, 0)
	got := draw(e, 5)
	want := frozenNumbers
	if !slices.Equal(got, want) {
		t.Errorf("got %#x, want %#x", got, want)
	}
	if id := env.New(1, 0, env.Base, [16]byte{}, 3).NewID("msg"); id != frozenID {
		t.Errorf("got %s, want %s", id, frozenID)
	}
}

// TestResetBeginsAnew: one Env serves all requests of an entry.
func TestResetBeginsAnew(t *testing.T) {
	e := env.New(1, 1000, env.Base, seed, 0)
	n := &node{}
	e.Node = n
	draw(e, 3)
	e.ReadOnly, e.Bounded, e.Database, e.Session = true, true, "shop", 4
	e.Charge(2 * env.MaxInlineCost)
	e.Notifications = append(e.Notifications, env.Notification{Kind: env.Message})
	e.Reset(1, env.At(1001), env.Latest+1, seed, 7)
	if e.ReadOnly || e.Bounded || e.OverBudget || e.Database != "" || e.Session != 0 || e.Now != 1001 || e.Level != env.Latest+1 || e.Place() != 7 {
		t.Errorf("after a reset: %+v", e)
	}
	if len(e.Notifications) != 1 {
		t.Error("the notifications of the request before are lost")
	}
	if n.tracking = true; !e.Tracks() {
		t.Error("the node's wish to be told of keys is lost")
	}
	if got, want := draw(e, 10), draw(env.New(1, 1001, env.Latest+1, seed, 7), 10); !slices.Equal(got, want) {
		t.Error("the generator goes on where the request before has stopped")
	}
}

// TestIntNIsUniform: every value below the bound comes, about as often as the others, and none above it.
func TestIntNIsUniform(t *testing.T) {
	e := env.New(1, 0, env.Latest, seed, 0)
	const n, draws = 7, 14_000
	var counts [n]int
	for range draws {
		counts[e.IntN(n)]++
	}
	for v, count := range counts {
		if count < draws/n*8/10 || count > draws/n*12/10 {
			t.Errorf("%d came %d times of %d", v, count, draws)
		}
	}
	if e.IntN(1) != 0 {
		t.Error("a number below 1 is not 0")
	}
}

// TestNewID: ids have a prefix, a fixed length and no letters that are read alike.
func TestNewID(t *testing.T) {
	e := env.New(1, 0, env.Latest, seed, 0)
	seen := map[string]bool{}
	for range 1000 {
		id := e.NewID("wfr")
		if rest, ok := strings.CutPrefix(id, "wfr_"); !ok || len(rest) != 22 || strings.ContainsAny(rest, "ILOUilou_-") {
			t.Fatalf("an id is %q", id)
		}
		if seen[id] {
			t.Fatalf("%s was drawn twice", id)
		}
		seen[id] = true
	}
	if id := e.NewID(""); len(id) != 22 || strings.Contains(id, "_") {
		t.Errorf("an id without a prefix is %q", id)
	}
}

// TestCharge: only bounded reads have a budget, and one huge charge can't overflow the count.
func TestCharge(t *testing.T) {
	e := env.New(1, 0, env.Latest, seed, 0)
	if e.Charge(1<<62) || e.OverBudget {
		t.Error("a write has a budget")
	}
	e.Reset(1, env.At(0), env.Latest, seed, 0)
	e.Bounded = true
	for spent := int64(0); spent < env.MaxInlineCost; spent += 1000 {
		if e.Charge(1000) {
			t.Fatalf("over the budget after %d of %d", spent+1000, int64(env.MaxInlineCost))
		}
	}
	if !e.Charge(1) || !e.OverBudget {
		t.Error("the budget can be exceeded")
	}
	if !e.Charge(0) {
		t.Error("a read that was over its budget is within it again")
	}
	e.Reset(1, env.At(0), env.Latest, seed, 0)
	e.Bounded = true
	e.Charge(1000)
	if !e.Charge(math.MaxInt64) {
		t.Error("a huge charge is within the budget")
	}
}

// TestTouch: keys are noted only where the node asks for them, with the request's place.
func TestTouch(t *testing.T) {
	e := env.New(12, 0, env.Latest, seed, 3)
	e.Database = "shop"
	e.Touch("k")
	e.TouchAll()
	if len(e.Notifications) != 0 {
		t.Errorf("nobody asked, yet there is %v", e.Notifications)
	}
	n := &node{}
	e.Node = n
	e.Touch("k")
	n.tracking = true
	e.Touch("k")
	e.TouchAll()
	want := []env.Notification{
		{Kind: env.KeyTouched, DB: "shop", Channel: "k", Index: 12, Place: 3},
		{Kind: env.Flushed, DB: "shop", Index: 12, Place: 3},
	}
	if !slices.Equal(e.Notifications, want) {
		t.Errorf("got %v, want %v", e.Notifications, want)
	}
}

// These were computed by another program, from the description of Uint64 and NewID.
var frozenNumbers = []uint64{0xa00aa2617bdd6318, 0xe0e36cfe410e4b9c, 0x886c4e507c9ab4f8, 0xde56b2b6cf8e909d, 0x66f29e5395f2a35}

const frozenID = "msg_tWZxyvMYd5gY6NvFR28mxM"

// TestReaches: while wall time is behind it is looked again before it can have come, at most a second late, and within a minute
// whatever the clocks do.
func TestReaches(t *testing.T) {
	const now = 1_000_000_000
	for behind, waits := range map[int64]map[int64]int64{ // by what is left, for how long nobody looks
		0:         {-5: -5, 1000: 1000, 1 << 40: 1 << 40},
		60_000:    {1000: 1000, 10_000: 9000, 50_000: 45_000},
		3_600_000: {1000: 1000, 3_600_000: 54_000},
	} {
		for left, want := range waits {
			at := env.Time{Now: now, Wall: now - behind}
			if got := at.Reaches(at.Wall+left) - now; got != want {
				t.Errorf("%d ms behind, %d ms left: looks again in %d ms, want %d", behind, left, got, want)
			}
		}
	}
	if got := (env.Time{Now: now, Wall: now - 1000}).Reaches(math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("never is at %d", got)
	}
}
