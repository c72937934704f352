package keyspace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
)

// containers are one of each type, small and large.
func containers() (all []Container) {
	for _, n := range []int{1, 3, 200} {
		h, l, s := NewFields(), NewElements(), NewMembers()
		for i := range n {
			name := fmt.Sprint("name", i)
			h.Set(env.At(1), name, "value", Deadline(int64(i%3)*int64(i+100)))
			l.Insert(i/2, name)
			s.Add(name)
		}
		all = append(all, h, l, s, someStream(n))
	}
	return all
}

// changeContainer makes a random change to the container under key, in bursts that let
// it grow large and become empty.
func changeContainer(t *rapid.T, e *env.Env, db *DB, key []byte, text string, expire int64) {
	o := db.Find(e, key)
	if o.Type() <= String {
		fresh := []Container{NewFields(), NewElements(), NewMembers()}[rapid.IntRange(0, 2).Draw(t, "type")]
		fill(e, fresh, 1, text, expire)
		db.PutContainer(e, key, fresh, Deadline(expire))
		return
	}
	c := db.Mutable(e, key, o)
	before := c.Size()
	n := rapid.SampledFrom([]int{1, 3, 70, -1, -3, -70}).Draw(t, "burst")
	left := fill(e, c, n, text, expire)
	db.Changed(e, key, before)
	if left == 0 {
		db.Remove(e, key)
	}
}

// fill puts n elements into c, or takes them out, and says how many are left.
func fill(e *env.Env, c Container, n int, text string, expire int64) (left int) {
	for i := range max(n, -n) {
		name := fmt.Sprint(text, i)
		switch c := c.(type) {
		case *Fields:
			if n > 0 {
				c.Set(env.At(e.Now), name, text, Deadline(expire*int64(i%2)))
			} else {
				c.Delete(env.At(e.Now), name)
			}
		case *Members:
			if n > 0 {
				c.Add(name)
			} else {
				c.Delete(name)
			}
		case *Elements:
			if n > 0 {
				c.Insert(min(i, c.Len()), name)
			} else if c.Len() > 0 {
				c.Delete(c.Len() - 1)
			}
		}
	}
	switch c := c.(type) {
	case *Fields:
		return c.Len(env.At(e.Now))
	case *Members:
		return c.Len()
	}
	return c.(*Elements).Len()
}

// TestSweepOfFields checks that sweeps count fields, stop at their limit, leave what is
// still due, and that a hash goes with its last field.
func TestSweepOfFields(t *testing.T) {
	db := New()
	h := NewFields()
	for i := range 10 {
		h.Set(env.At(1), fmt.Sprint("f", i), "v", Deadline(int64(100+10*i)))
	}
	h.Set(env.At(1), "stays", "v", 0)
	db.PutContainer(entry(1, 1), []byte("h"), h, 0)
	short := NewFields()
	short.Set(env.At(1), "f", "v", 120)
	short.Set(env.At(1), "g", "v", 130)
	db.PutContainer(entry(1, 1), []byte("short"), short, 0)
	if at, ok := db.NextByTime(); !ok || at != 100 {
		t.Fatalf("next due %d, %v", at, ok)
	}
	e := entry(2, 135)
	if h.Len(env.At(e.Now)) != 7 || db.Live(e) != 1 || db.Find(e, []byte("short")) != nil {
		t.Fatalf("%d fields, %d keys before a sweep", h.Len(env.At(e.Now)), db.Live(e))
	}
	if n := db.Sweep(e, 3); n != 3 || db.Len() != 1 {
		t.Fatalf("swept %d, %d keys left", n, db.Len())
	}
	checkWhole(t, db)
	o := db.Find(e, []byte("h"))
	if o.Version != 3 || o.Data().(*Fields).Len(env.At(e.Now)) != 7 {
		t.Fatalf("version %d, %d fields", o.Version, o.Data().(*Fields).Len(env.At(e.Now)))
	}
	if n := db.Sweep(e, 100); n != 2 {
		t.Fatalf("swept %d, want 2", n)
	}
	if n := db.Sweep(entry(3, 1000), 100); n != 6 || db.Len() != 1 {
		t.Fatalf("swept %d, %d keys left", n, db.Len())
	}
	if _, ok := db.NextByTime(); ok {
		t.Fatal("something is due still")
	}
	checkWhole(t, db)
}

// TestSweepLeavesForksAlone sweeps fields of a hash that a fork shows.
func TestSweepLeavesForksAlone(t *testing.T) {
	db := New()
	for _, n := range []int{5, 500} {
		h := NewFields()
		for i := range n {
			h.Set(env.At(1), fmt.Sprint("f", i), "v", Deadline(int64(10*(i%2))))
		}
		db.PutContainer(entry(1, 1), fmt.Append(nil, n), h, 0)
	}
	fork := db.Fork()
	before := records(t, fork)
	if n := db.Sweep(entry(2, 20), 1000); n != 252 {
		t.Fatalf("swept %d fields", n)
	}
	if !equal(records(t, fork), before) {
		t.Fatal("the fork lost fields")
	}
	checkWhole(t, db)
	checkWhole(t, fork)
}

// TestSmallOrder checks that up to 64 names stand in order of insertion, and more in one
// order whatever the history.
func TestSmallOrder(t *testing.T) {
	names := func(s *Members) (all []string) {
		s.All(func(m string) bool { all = append(all, m); return true })
		return all
	}
	s := NewMembers()
	for _, m := range []string{"c", "a", "b", "d"} {
		s.Add(m)
	}
	s.Delete("a")
	s.Add("a")
	if got := strings.Join(names(s), ""); got != "cbda" {
		t.Fatalf("a small set in order %s", got)
	}
	up, down := NewMembers(), NewMembers()
	for i := range 100 {
		up.Add(fmt.Sprint(i))
		down.Add(fmt.Sprint(99 - i))
	}
	if !slices.Equal(names(up), names(down)) {
		t.Fatal("two large sets of the same members differ in order")
	}
	for i := range 97 { // large stays large
		up.Delete(fmt.Sprint(i))
		down.Delete(fmt.Sprint(96 - i))
	}
	if up.members.large == nil || !slices.Equal(names(up), names(down)) || up.Size() != down.Size() {
		t.Fatal("two sets that shrank differ")
	}
}

// TestScanOfLarge checks that a scan in pages meets every member that stays.
func TestScanOfLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewMembers()
		n := rapid.IntRange(1, 300).Draw(t, "members")
		for i := range n {
			s.Add(fmt.Sprint("stays", i))
		}
		met, cursor, extra := map[string]bool{}, uint64(0), 0
		for {
			cursor = s.Scan(cursor, rapid.IntRange(1, 50).Draw(t, "count"), func(m string) { met[m] = true })
			if cursor == 0 {
				break
			}
			extra++
			s.Add(fmt.Sprint("extra", extra))
			s.Delete(fmt.Sprint("extra", extra/2))
		}
		for i := range n {
			if m := fmt.Sprint("stays", i); !met[m] {
				t.Fatalf("%s was never met", m)
			}
		}
	})
}

// TestDraw checks that k different numbers are drawn and every number can be.
func TestDraw(t *testing.T) {
	e := entry(1, 1)
	for n := 1; n <= 12; n++ {
		for k := 0; k <= n; k++ {
			seen := map[int]int{}
			for range 400 {
				picked := Draw(e, n, k)
				slices.Sort(picked)
				if len(picked) != k || len(slices.Compact(picked)) != k || k > 0 && (picked[0] < 0 || picked[k-1] >= n) {
					t.Fatalf("%d of %d: %v", k, n, picked)
				}
				for _, i := range picked {
					seen[i]++
				}
			}
			for i := range n {
				if want := 400 * k / n; k > 0 && (seen[i] < want/3 || seen[i] > want*3) {
					t.Fatalf("%d of %d: %d was drawn %d times, expected %d", k, n, i, seen[i], want)
				}
			}
		}
	}
}

// TestLargeRecords saves keys of more than one record, between small ones, and loads them;
// a part that is missing or out of place is noticed.
func TestLargeRecords(t *testing.T) {
	db := New()
	db.SetText(entry(1, 1), []byte("text"), strings.Repeat("x", 2*maxRecord+5), 0)
	s := NewMembers()
	for i := range 60_000 {
		s.Add(fmt.Sprintf("member:%020d", i))
	}
	db.PutContainer(entry(1, 1), []byte("set"), s, 7)
	for i := range 20 {
		db.SetText(entry(1, 1), fmt.Append(nil, i), "v", 0)
	}
	all := records(t, db)
	if len(all) != 20+3+2 {
		t.Fatalf("%d records", len(all))
	}
	again, err := load(all)
	if err != nil || !equal(records(t, again), all) || again.Used() != db.Used() {
		t.Fatalf("loaded: %v", err)
	}
	checkWhole(t, again)
	for i, r := range all {
		if len(r) < maxRecord/2 {
			continue
		}
		if _, err := load(slices.Delete(slices.Clone(all), i, i+1)); err == nil {
			t.Errorf("loaded without part %d", i)
		}
		if _, err := load(all[:i]); err == nil && len(all[max(i-1, 0)]) > maxRecord {
			t.Errorf("loaded the parts up to %d", i)
		}
	}
}
