package keyspace

import (
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// TestSweep checks that sweeps take the earliest deadlines, stop at their limit,
// and leave what is still due.
func TestSweep(t *testing.T) {
	db := New()
	for i := range 10 {
		db.SetText(entry(1, 1), fmt.Append(nil, "k", i), "v", Deadline(int64(100+10*i)))
	}
	db.SetText(entry(1, 1), []byte("forever"), "v", 0)
	if at, ok := db.NextByTime(); !ok || at != 100 {
		t.Fatalf("next due %d, %v", at, ok)
	}
	e := entry(2, 145)
	if n := db.Live(e); n != 6 {
		t.Fatalf("%d live keys, want 6", n)
	}
	if n := db.Sweep(e, 3); n != 3 || db.Len() != 8 {
		t.Fatalf("swept %d, %d keys left", n, db.Len())
	}
	if db.Find(e, []byte("k4")) != nil {
		t.Fatal("a key past its deadline was found")
	}
	if db.Remove(e, []byte("k3")) {
		t.Fatal("removing a key past its deadline counts as removing nothing")
	}
	if n := db.Sweep(e, 100); n != 1 {
		t.Fatalf("swept %d, want 1", n)
	}
	if at, ok := db.NextByTime(); !ok || at != 150 {
		t.Fatalf("next due %d, %v", at, ok)
	}
	if n := db.Sweep(entry(3, 1000), 100); n != 5 || db.Len() != 1 {
		t.Fatalf("swept %d, %d keys left", n, db.Len())
	}
	if _, ok := db.NextByTime(); ok {
		t.Fatal("something is due still")
	}
	checkWhole(t, db)
}

// TestRandomKey checks that every live key is drawn, and no other, even among many
// that are past their deadline.
func TestRandomKey(t *testing.T) {
	db := New()
	for i := range 1000 {
		db.SetText(entry(1, 1), fmt.Append(nil, "old", i), "v", 10)
	}
	e := entry(2, 20)
	if key, ok := db.RandomKey(e); ok {
		t.Fatalf("drew %q", key)
	}
	for i := range 5 {
		db.SetText(e, fmt.Append(nil, "new", i), "v", 0)
	}
	drawn := map[string]int{}
	for range 2000 {
		key, ok := db.RandomKey(e)
		if !ok {
			t.Fatal("drew nothing")
		}
		drawn[key]++
	}
	for i := range 5 {
		if drawn[fmt.Sprint("new", i)] == 0 {
			t.Errorf("new%d was never drawn", i)
		}
	}
	if len(drawn) != 5 {
		t.Errorf("drew %d different keys", len(drawn))
	}
}

// TestSweepOfBothKinds: a hash whose fields all go, one by cluster time and one by wall time, goes with them, also while wall time is
// behind; nothing is left in the indexes.
func TestSweepOfBothKinds(t *testing.T) {
	db := New()
	e := entry(1, 1000)
	h := NewFields()
	h.Set(e.Time, "day", "v", 1500|ofWall)
	h.Set(e.Time, "time", "v", 2000)
	db.PutContainer(e, []byte("h"), h, 0)
	checkWhole(t, db)
	e.Time = env.Time{Now: 2200, Wall: 1600}
	if n := db.Sweep(e, 100); n != 1 || db.Len() != 0 || db.Used() != 0 {
		t.Fatalf("swept %d, left %d keys of %d bytes", n, db.Len(), db.Used())
	}
	checkWhole(t, db)
}
