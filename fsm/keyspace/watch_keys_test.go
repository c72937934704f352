package keyspace

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// TestSame changes keys at random and asks of marks taken at random whether their key is the
// same: never is a change missed, and what was not touched is not suspected as long as no
// two keys share a group. Forks and restored copies answer alike.
func TestSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type watched struct {
			key  string
			mark Mark
		}
		db, now := New(), int64(1000)
		var marks []watched
		touched := map[string]int{} // how often a key was changed, at what it was marked
		at := map[int]int{}
		keys := []string{"a", "b", "c", "d"}
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			e := entry(uint64(i+1), now)
			key := rapid.SampledFrom(keys).Draw(t, "key")
			switch rapid.IntRange(0, 7).Draw(t, "op") {
			case 0, 1:
				db.SetText(e, []byte(key), "v", 0)
				touched[key]++
			case 2:
				db.SetText(e, []byte(key), "v", Deadline(now+rapid.Int64Range(1, 20).Draw(t, "ttl")))
				touched[key]++
			case 3:
				if db.Remove(e, []byte(key)) {
					touched[key]++
				}
			case 4:
				before := now
				now += rapid.Int64Range(0, 30).Draw(t, "wait")
				for _, k := range keys {
					if o := db.get(k); o != nil && !o.expired(env.At(before)) && o.expired(env.At(now)) {
						touched[k]++
					}
				}
			case 5:
				db.Sweep(entry(uint64(i+1), now), rapid.IntRange(0, 3).Draw(t, "limit"))
			case 6:
				at[len(marks)] = touched[key]
				marks = append(marks, watched{key, db.Mark(e, []byte(key))})
			case 7:
				old := db
				db = db.Fork()
				old.SetText(e, []byte(key), "elsewhere", 0) // which the fork must not see
			}
			for n, w := range marks {
				want := touched[w.key] == at[n]
				if got := db.Same(entry(uint64(i+1), now), []byte(w.key), w.mark); got != want {
					t.Fatalf("step %d: key %s is the same: %v, want %v", i, w.key, got, want)
				}
			}
		}
		sameHistory(t, db)
	})
}

// sameHistory checks that what is written of a history is all of it.
func sameHistory(t *rapid.T, db *DB) {
	var w, again wire.Writer
	db.EncodeHistory(&w)
	restored := New()
	r := wire.NewReader(w.B)
	restored.DecodeHistory(r)
	restored.EncodeHistory(&again)
	if r.Done() != nil || !bytes.Equal(w.B, again.B) {
		t.Fatal("another history after a snapshot")
	}
}

// TestSameAfterFlush checks that a flush touches what is there, and what came since.
func TestSameAfterFlush(t *testing.T) {
	db := New()
	db.SetText(entry(1, 1), []byte("there"), "v", 0)
	there, never, came := db.Mark(entry(1, 1), []byte("there")), db.Mark(entry(1, 1), []byte("never")), db.Mark(entry(1, 1), []byte("came"))
	db.Flush(entry(2, 2))
	if e := entry(2, 2); db.Same(e, []byte("there"), there) || !db.Same(e, []byte("never"), never) {
		t.Error("a flush touches what is there and nothing else")
	}
	db.SetText(entry(3, 3), []byte("came"), "v", 0)
	db.Flush(entry(4, 4))
	if db.Same(entry(4, 4), []byte("came"), came) {
		t.Error("a key that came and was flushed counts as untouched")
	}
}

// TestSameOfFields checks that a field's deadline changes its hash, swept or not.
func TestSameOfFields(t *testing.T) {
	for _, sweep := range []bool{false, true} {
		t.Run(fmt.Sprint("swept ", sweep), func(t *testing.T) {
			db := New()
			h := NewFields()
			h.Set(env.At(1), "stays", "v", 0)
			h.Set(env.At(1), "goes", "v", 100)
			db.PutContainer(entry(1, 1), []byte("h"), h, 0)
			mark := db.Mark(entry(1, 50), []byte("h"))
			if !db.Same(entry(2, 99), []byte("h"), mark) {
				t.Error("changed before the deadline")
			}
			if sweep {
				db.Sweep(entry(3, 100), 10)
			}
			if db.Same(entry(3, 100), []byte("h"), mark) {
				t.Error("a field went unnoticed")
			}
		})
	}
}
