package buffered

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestBudget has holders of three databases take, set and end at random, at the same time: what is counted is never more than the
// limit, nor than its half for a database, and nothing is left in the end.
func TestBudget(t *testing.T) {
	const limit = 10 << 20
	b := New(limit)
	var wg sync.WaitGroup
	var refused atomic.Int64
	for i := range 12 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			db := []string{"", "a", "b"}[i%3]
			var h Holding
			for range 5_000 {
				before, n := h.held, r.Int64N(2<<20)
				var err error
				switch r.IntN(4) {
				case 0:
					h.End()
				case 1:
					err = h.Take(b, db, n)
				default:
					err = h.Set(b, db, n)
				}
				var excess *Excess
				if err != nil {
					if refused.Add(1); !errors.As(err, &excess) || h.held != before || db == "" && excess.database {
						t.Errorf("%v: %d bytes are held, before %d", err, h.held, before)
					}
				}
				b.mu.Lock()
				for name, one := range b.tenants { // unordered: each by itself
					if one.used < 0 || one.used > limit/tenantPart {
						t.Errorf("database %s has %d bytes", name, one.used)
					}
				}
				b.mu.Unlock()
			}
			h.End()
		})
	}
	wg.Wait()
	if refused.Load() == 0 {
		t.Error("nothing was refused")
	}
	if b.Used() != 0 || len(b.tenants) != 0 {
		t.Errorf("%d bytes are left, %d databases", b.Used(), len(b.tenants))
	}
}

// TestBudgetCountsFromLargeBytes: many takes of little count as one that is large, for the database too.
func TestBudgetCountsFromLargeBytes(t *testing.T) {
	b := New(1 << 20)
	var h, other, last Holding
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = h.Take(b, "shop", 4<<10)
	}
	want := fmt.Sprintf("of a database exceeded. Limit: %d, Actual: %d. Setting: max-buffered-bytes", 1<<19, 1<<19+4<<10)
	if n != 129 || !strings.HasSuffix(fmt.Sprint(err), want) {
		t.Errorf("after %d times 4 KiB: %v, want %s", n, err, want)
	}
	if err := other.Take(b, "other", 1<<19); err != nil {
		t.Errorf("another database: %v", err)
	}
	if err := last.Take(b, "", 1); err == nil || strings.Contains(err.Error(), "of a database") {
		t.Errorf("beyond the limit of all: %v", err)
	}
	last.Keep(b, 1)
	if err := h.Set(b, "shop", 0); err != nil || b.Used() != 1<<19+1 {
		t.Errorf("%v, %d bytes are held", err, b.Used())
	}
	other.End()
	last.End()
	if b.Used() != 0 || len(b.tenants) != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}

// TestBudgetKnowsLimitsOfDatabases: a database holds no more than its memory limit, and 64 MiB if that is less.
func TestBudgetKnowsLimitsOfDatabases(t *testing.T) {
	b := New(1 << 30)
	limits := map[string]int64{"none": 0, "small": 1 << 20, "middle": 100 << 20, "large": 1 << 40}
	b.DatabaseLimits(func(db string) int64 { return limits[db] })
	for db, want := range map[string]int64{"none": 512 << 20, "small": 64 << 20, "middle": 100 << 20, "large": 512 << 20} {
		var h, more Holding
		if err := h.Take(b, db, want); err != nil {
			t.Errorf("%s: %v", db, err)
		}
		if err := more.Take(b, db, largeBytes); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Limit: %d,", want)) {
			t.Errorf("%s: %v beyond its part, want a refusal with the limit %d", db, err, want)
		}
		more.End()
		h.End()
	}
	if b.Used() != 0 || len(b.tenants) != 0 {
		t.Errorf("%d bytes are left, %d databases", b.Used(), len(b.tenants))
	}
}

// TestRefusalsAreInNobodysWay holds that one that asks for more than there is has no other refused, not for a moment.
func TestRefusalsAreInNobodysWay(t *testing.T) {
	b := New(1000)
	ended := make(chan struct{})
	var greedy sync.WaitGroup
	greedy.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
			}
			if new(Holding).Take(b, "", 1001) == nil {
				t.Error("more than the limit was given")
				return
			}
		}
	})
	for range 200_000 {
		var h Holding
		if err := h.Take(b, "", 10); err != nil {
			t.Errorf("a small one beside it: %v", err)
			break
		}
		h.End()
	}
	close(ended)
	greedy.Wait()
}
