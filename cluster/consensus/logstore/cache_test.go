package logstore

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
	"weak"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// Raft asks for the entries before the newest while it sends that: none of them comes from the disk, however large they are.
func TestCacheKeepsTheNewestWhateverTheirSize(t *testing.T) {
	c := newCache(16, 1000)
	const asked = 2 // the newest, and the one before for its term
	for i := uint64(1); i <= 20; i++ {
		c.put([]*raft.Log{{Index: i, Term: 1, Data: make([]byte, 5000)}})
		for k := max(i, asked) - asked + 1; k <= i; k++ {
			var got raft.Log
			if !c.get(k, &got) || got.Index != k {
				t.Fatalf("entry %d of %d: got %d", k, i, got.Index)
			}
		}
	}
	if c.bytes != cacheNewest*5000 {
		t.Errorf("%d bytes are kept", c.bytes)
	}
}

// Entries that failed to be stored are not served, and the error keeps its kind.
func TestCacheKeepsNothingOfAFailedAppend(t *testing.T) {
	s, f := openFailing(t, quiet(t.TempDir(), &deaths{}))
	store(t, s, 1, 5, 1)
	f.fail(writeError(syscall.ENOSPC))
	if err := s.StoreLogs(entries(6, 8, 1)); !errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
	expectNow(t, s, 1, 5, always(1))
	var l raft.Log
	if err := s.GetLog(6, &l); err != raft.ErrLogNotFound {
		t.Fatal(err)
	}
}

// Raft's entries are parts of its futures, which hold the replies too.
func TestCacheKeepsBytesNotEntries(t *testing.T) {
	c := newCache(8, 1<<20)
	future := &struct {
		log     raft.Log
		replies [1 << 10]byte
	}{log: *entries(1, 1, 1)[0]}
	held := weak.Make(future)
	c.put([]*raft.Log{&future.log})
	var got raft.Log
	if !c.get(1, &got) || !sameEntry(&got, &future.log) {
		t.Fatal(got)
	}
	future = nil
	if runtime.GC(); held.Value() != nil {
		t.Error("the future of a cached entry stays in memory")
	}
}

// TestCachedStoreAnswersAsOneWithout: a store reads like one without a cache, and its cache stays within its limits, whatever
// is appended, deleted and read.
func TestCachedStoreAnswersAsOneWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := raft.NewInmemStore()
		dir, err := os.MkdirTemp("", "cache")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s, err := Open(quiet(dir, &deaths{}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		c := newCache(rapid.IntRange(1, 12).Draw(t, "entries"), rapid.IntRange(1, 2000).Draw(t, "bytes"))
		s.cache = c
		next, term := uint64(1), uint64(1)
		cut := func(t *rapid.T, from, to uint64) {
			if err := errors.Join(s.DeleteRange(from, to), want.DeleteRange(from, to)); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				k := rapid.Uint64Range(1, 15).Draw(t, "count")
				list := entries(next, next+k-1, term)
				if err := errors.Join(s.StoreLogs(list), want.StoreLogs(list)); err != nil {
					t.Fatal(err)
				}
				next += k
			},
			"cut the end": func(t *rapid.T) {
				from := rapid.Uint64Range(1, next).Draw(t, "from")
				term++
				cut(t, from, next)
				next = from
			},
			"cut the beginning": func(t *rapid.T) { cut(t, 0, rapid.Uint64Range(0, next).Draw(t, "to")) },
			"jump": func(t *rapid.T) { // as after a snapshot, which empties the log
				cut(t, 0, next)
				next += rapid.Uint64Range(1, 40).Draw(t, "far")
			},
			"": func(t *rapid.T) {
				size, n := 0, 0
				for i := range c.ring {
					if l := &c.ring[i]; l.Index != 0 {
						size, n = size+sizeOf(l), n+1
					}
				}
				if size != c.bytes || uint64(n) != c.high+1-c.low || size > c.limit && n > cacheNewest {
					t.Fatalf("%d entries of %d bytes; counted %d..%d, %d bytes", n, size, c.low, c.high, c.bytes)
				}
				for i := range next + 2 {
					var got, expected raft.Log
					err, err2 := s.GetLog(i, &got), want.GetLog(i, &expected)
					if err != err2 || !sameEntry(&got, &expected) {
						t.Fatalf("entry %d: got %+v (%v), want %+v (%v)", i, got, err, expected, err2)
					}
				}
			},
		})
	})
}
