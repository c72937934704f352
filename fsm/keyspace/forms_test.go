package keyspace

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"pgregory.net/rapid"
)

// TestForms makes objects of keys and texts of all lengths around the bounds of their forms, and copies of them.
func TestForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(maxInline-20, maxInline+20), rapid.Just(70_000))
		key := strings.Repeat("k", length.Draw(t, "key"))
		text := strings.Repeat("t", length.Draw(t, "text"))
		bytes := []byte(text)
		copied, kept := newText(key, bytes), keepText(key, text)
		clear(bytes)
		for _, o := range []*Object{copied, kept} {
			o.Expire, o.Version, o.access = 7, 8, 9
			renamed := o.under("other")
			held := o.with(NewMembers())
			for _, o := range []*Object{o, o.copy(), renamed, held, held.copy(), held.under("other")} {
				want := key
				if o.key() == "other" {
					want = "other"
				}
				if o.key() != want || o.Expire != 7 || o.Version != 8 || o.access != 9 {
					t.Fatalf("an object of form %d: key %q, %d, %d, %d", o.form, o.key(), o.Expire, o.Version, o.access)
				}
				if o.form == holding {
					if o.Type() != Set || o.Data() == nil {
						t.Fatalf("a holder is a %v with %v", o.Type(), o.Data())
					}
					continue
				}
				if o.Text() != text || o.Len() != len(text) || o.size() != int64(len(text)) || o.Type() != String || o.Data() != nil {
					t.Fatalf("an object of form %d: %d bytes, a %v", o.form, len(o.Text()), o.Type())
				}
			}
			if renamed.key() != "other" {
				t.Fatalf("a copy for another key is under %q", renamed.key())
			}
		}
	})
}

// TestObjectSize holds how much of an object its head takes.
func TestObjectSize(t *testing.T) {
	if inlineAt != 29 || unsafe.Sizeof(Object{}) != 32 || unsafe.Sizeof(holder{}) != 64 || unsafe.Sizeof(apartText{}) != 64 {
		t.Errorf("inline begins at %d; sizes %d, %d, %d", inlineAt, unsafe.Sizeof(Object{}), unsafe.Sizeof(holder{}), unsafe.Sizeof(apartText{}))
	}
	var o *Object
	if n := testing.AllocsPerRun(100, func() { o = newText("key:000000001", make([]byte, 100)) }); n != 1 {
		t.Errorf("an object is %v allocations", n)
	}
	runtime.KeepAlive(o)
}

// TestTextsAreCopiedInParts holds that a text is whole, whatever its length beside the part that is copied at a time, and none of the value it was
// copied from.
func TestTextsAreCopiedInParts(t *testing.T) {
	for _, n := range []int{cloneStep - 1, cloneStep, cloneStep + 1, 3*cloneStep + 5} {
		value := make([]byte, n)
		for i := range value {
			value[i] = byte(i*31 + i/251)
		}
		want := string(value)
		o := newText("key", value)
		clear(value)
		if o.Text() != want {
			t.Errorf("a text of %d bytes is another one of %d", n, o.Len())
		}
	}
}

// TestIndexKeepsNoObject holds that the expiry index does not keep the objects that a key had before.
func TestIndexKeepsNoObject(t *testing.T) {
	db := New()
	var before []weak.Pointer[Object]
	for i := range 100 {
		key := fmt.Append(nil, "key", i)
		db.SetBytes(entry(1, 1), key, make([]byte, 100), 1000)
		before = append(before, weak.Make(db.get(string(key))))
		db.SetBytes(entry(2, 2), key, make([]byte, 100), 1000) // the same deadline: the index does not change
	}
	runtime.GC()
	for i, w := range before {
		if w.Value() != nil {
			t.Fatalf("object %d is still there", i)
		}
	}
	checkWhole(t, db)
}

// TestBytesPerKey holds what a key of 13 bytes with a value of 64 takes in memory.
func TestBytesPerKey(t *testing.T) {
	const keys = 30_000
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // the first one only begins to sweep what pools keep
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	db, e, value := New(), entry(1, 1), make([]byte, 64)
	for i := range keys {
		db.SetBytes(e, fmt.Appendf(nil, "key:%09d", i), value, 0)
	}
	if got := float64(heap()-before) / keys; got > 150 {
		t.Errorf("%.0f bytes a key, want at most 150", got)
	}
	runtime.KeepAlive(db)
}
