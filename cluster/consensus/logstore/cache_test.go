package logstore

import (
	"errors"
	"runtime"
	"syscall"
	"testing"
	"weak"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// The cache always answers like the store below it, and stays within its limits, whatever is appended, deleted and
// read.
func TestCacheAnswersAsTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		below := raft.NewInmemStore()
		c := newCache(below, rapid.IntRange(1, 12).Draw(t, "entries"), rapid.IntRange(1, 2000).Draw(t, "bytes"))
		next, term := uint64(1), uint64(1)
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				k := rapid.Uint64Range(1, 15).Draw(t, "count")
				if err := c.StoreLogs(entries(next, next+k-1, term)); err != nil {
					t.Fatal(err)
				}
				next += k
			},
			"cut the end": func(t *rapid.T) {
				from := rapid.Uint64Range(1, next).Draw(t, "from")
				term++
				if err := c.DeleteRange(from, next); err != nil {
					t.Fatal(err)
				}
				next = from
			},
			"cut the beginning": func(t *rapid.T) {
				if err := c.DeleteRange(0, rapid.Uint64Range(0, next).Draw(t, "to")); err != nil {
					t.Fatal(err)
				}
			},
			"cut a hole": func(t *rapid.T) {
				from := rapid.Uint64Range(1, next).Draw(t, "from")
				if err := c.DeleteRange(from, from+1); err != nil {
					t.Fatal(err)
				}
			},
			"jump": func(t *rapid.T) { next += rapid.Uint64Range(1, 40).Draw(t, "far") },
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
					var got, want raft.Log
					err, err2 := c.GetLog(i, &got), below.GetLog(i, &want)
					if err != err2 || !sameEntry(&got, &want) {
						t.Fatalf("entry %d: %+v (%v), the store has %+v (%v)", i, got, err, want, err2)
					}
				}
			},
		})
	})
}

// counting is a store that counts the entries that are read.
type counting struct {
	raft.LogStore
	reads int
}

func (c *counting) GetLog(index uint64, out *raft.Log) error {
	c.reads++
	return c.LogStore.GetLog(index, out)
}

// Raft asks for the entries before the newest while it sends that: none of them comes from the disk, however large they are.
func TestCacheKeepsTheNewestWhateverTheirSize(t *testing.T) {
	below := &counting{LogStore: raft.NewInmemStore()}
	c := newCache(below, 16, 1000)
	const asked = 2 // the newest, and the one before for its term
	for i := uint64(1); i <= 20; i++ {
		l := &raft.Log{Index: i, Term: 1, Data: make([]byte, 5000)}
		if err := c.StoreLog(l); err != nil {
			t.Fatal(err)
		}
		for k := max(i, asked) - asked + 1; k <= i; k++ {
			var got raft.Log
			if err := c.GetLog(k, &got); err != nil || got.Index != k {
				t.Fatal(got.Index, err)
			}
		}
	}
	if below.reads > 0 {
		t.Errorf("%d entries came from the store", below.reads)
	}
	if c.bytes != cacheNewest*5000 {
		t.Errorf("%d bytes are kept", c.bytes)
	}
}

// Entries that failed to be stored are not served, and the error keeps its kind.
func TestCacheKeepsNothingOfAFailedAppend(t *testing.T) {
	s, f := openFailing(t, quiet(t.TempDir(), &deaths{}))
	c := s.LogStore()
	store(t, c, 1, 5, 1)
	f.fail(writeError(syscall.ENOSPC))
	if err := c.StoreLogs(entries(6, 8, 1)); !errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
	expect(t, c, 1, 5, always(1))
	var l raft.Log
	if err := c.GetLog(6, &l); err != raft.ErrLogNotFound {
		t.Fatal(err)
	}
}

// Raft's entries are parts of its futures, which hold the replies too.
func TestCacheKeepsBytesNotEntries(t *testing.T) {
	c := newCache(raft.NewInmemStore(), 8, 1<<20)
	future := &struct {
		log     raft.Log
		replies [1 << 10]byte
	}{log: *entries(1, 1, 1)[0]}
	held := weak.Make(future)
	stored := future.log // raft's own store in memory keeps what it is given
	if err := c.StoreLogs([]*raft.Log{&stored}); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.clear(1)
	c.add(&future.log)
	c.mu.Unlock()
	var got raft.Log
	if err := c.GetLog(1, &got); err != nil || !sameEntry(&got, &future.log) {
		t.Fatal(got, err)
	}
	future = nil
	if runtime.GC(); held.Value() != nil {
		t.Error("the future of a cached entry stays in memory")
	}
}
