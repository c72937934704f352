package keyspace

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// hashOfFields is a hash of ten fields with a value.
func hashOfFields(value string) *Fields {
	h := NewFields()
	for i := range 10 {
		h.Set(env.At(1), fmt.Sprint("field:", i), value, 0)
	}
	return h
}

// TestMovedValuesArePacked packs a value that was written under another key.
func TestMovedValuesArePacked(t *testing.T) {
	e := &env.Env{Time: env.At(1)}
	db := New()
	db.PutContainer(e, []byte("draft"), hashOfFields("value"), 0)
	db.Move(e, []byte("draft"), db.get("draft"), []byte("final"))
	if db.Cool(0); !db.get("final").isPacked() {
		t.Fatalf("the form after Cool is %d, want a packed one", db.get("final").form)
	}
}

// TestLargeElementsAreNotEncoded holds what Cool allocates for few elements of a megabyte: nothing near their size, which nobody is
// charged for.
func TestLargeElementsAreNotEncoded(t *testing.T) {
	e := &env.Env{Time: env.At(1)}
	db := New()
	db.PutContainer(e, []byte("key"), hashOfFields(strings.Repeat("x", 1<<20)), 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	db.Cool(0)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 || db.get("key").isPacked() {
		t.Fatalf("Cool allocated %d bytes, want at most %d; packed: %v", n, 64<<10, db.get("key").isPacked())
	}
}
