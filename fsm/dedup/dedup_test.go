package dedup

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

const start = 1_700_000_000_000

// model is a Table without any cleverness.
type model map[Key]*Record

func (m model) used() (n int64) {
	for k, r := range m { // unordered: a sum
		n += cost(k, r.Reply)
	}
	return n
}

// TestTableAgreesWithModel draws puts, looks, sweeps, forks and restores.
func TestTableAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, m, now := New(), model{}, int64(start)
		draw := func() Key {
			return Key{rapid.SampledFrom([]string{"default", "other"}).Draw(t, "scope"), fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "id"))}
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, reply := draw(), rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "reply")
				if table.Find(now, k) != nil {
					return
				}
				table.Put(now, k, Digest{byte(len(reply))}, reply)
				m[k] = &Record{Hash: Digest{byte(len(reply))}, Reply: reply, Expire: now + Retention}
			},
			"find": func(t *rapid.T) {
				k := draw()
				got, want := table.Find(now, k), m[k]
				if want == nil || want.Expire+rounding <= now {
					if got != nil {
						t.Fatalf("%v is still there", k)
					}
					return
				}
				if want.Expire > now && (got == nil || !bytes.Equal(got.Reply, want.Reply) || got.Hash != want.Hash) {
					t.Fatalf("%v: %v, want %v", k, got, want)
				}
			},
			"advance": func(t *rapid.T) { now += rapid.Int64Range(0, Retention).Draw(t, "ms") },
			"sweep": func(t *rapid.T) {
				table.Sweep(now, rapid.IntRange(0, 10).Draw(t, "limit"))
			},
			"fork": func(t *rapid.T) {
				old := table
				table = table.Fork()
				old.Put(now, Key{"only", "of the old one"}, Digest{}, []byte("x"))
			},
			"restore": func(t *rapid.T) { table = restored(t, table) },
			"": func(t *rapid.T) {
				if at, ok := table.NextDue(); ok && table.Len() == 0 || !ok && table.Len() > 0 || at%rounding != 0 {
					t.Fatalf("next due %d %v of %d", at, ok, table.Len())
				}
				if table.Len() == len(m) && table.Used() != m.used() {
					t.Fatalf("used %d, want %d", table.Used(), m.used())
				}
			},
		})
		table.Sweep(now+2*Retention, 1000)
		if table.Len() != 0 || table.Used() != 0 {
			t.Fatalf("%d records and %d bytes left behind", table.Len(), table.Used())
		}
	})
}

func restored(t *rapid.T, from *Table) *Table {
	to, saved := New(), dump(t, from)
	for _, r := range saved {
		if err := to.Load(r); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(dump(t, to)) != fmt.Sprint(saved) || to.Used() != from.Used() {
		t.Fatal("saved again it differs")
	}
	return to
}

func dump(t *rapid.T, from *Table) (saved [][]byte) {
	if err := from.Save(func(r []byte) error { saved = append(saved, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return saved
}

func TestTableRefusesWhenFull(t *testing.T) {
	table := New()
	reply := make([]byte, MaxReply)
	n := 0
	for ; table.Room(Key{"s", fmt.Sprint(n)}, 1); n++ {
		table.Put(start, Key{"s", fmt.Sprint(n)}, Digest{}, reply)
	}
	if n < 60 || table.Used() > Capacity {
		t.Fatalf("%d records of 1 MiB, %d bytes", n, table.Used())
	}
	if table.Find(start, Key{"s", "0"}) == nil {
		t.Fatal("the first record was forgotten")
	}
	table.Sweep(start+Retention+rounding, 1)
	if !table.Room(Key{"s", "new"}, 1) {
		t.Fatal("no room after a sweep")
	}
}

func TestLongRepliesAreNotKept(t *testing.T) {
	table := New()
	table.Put(start, Key{"s", "long"}, Digest{1}, make([]byte, MaxReply+1))
	r := table.Find(start, Key{"s", "long"})
	if r == nil {
		t.Fatal("the request is not known")
	}
	if r.Kept || r.Reply != nil || r.Hash != (Digest{1}) {
		t.Errorf("kept %v, %d bytes, hash %x", r.Kept, len(r.Reply), r.Hash)
	}
}

func FuzzLoad(f *testing.F) {
	table := New()
	table.Put(start, Key{"s", "id"}, Digest{1}, []byte("reply"))
	_ = table.Save(func(r []byte) error { f.Add(r); return nil })
	f.Fuzz(func(t *testing.T, record []byte) {
		table := New()
		if table.Load(record) != nil && table.Len() != 0 {
			t.Fatal("a refused record was added")
		}
	})
}

// TestOwnersHaveShares: one that fills what it can get leaves the others their part.
func TestOwnersHaveShares(t *testing.T) {
	table := New()
	reply := make([]byte, MaxReply)
	fill := func(owner string) (n int) {
		for ; n < 100; n++ {
			k := Key{owner + " user", fmt.Sprint(n)}
			if !table.Room(k, 4) {
				break
			}
			table.Put(0, k, Digest{}, reply)
		}
		return n
	}
	greedy := fill("1")
	if greedy < 31 || greedy > 32 {
		t.Errorf("the first owner has kept %d replies of 1 MiB", greedy)
	}
	for _, owner := range []string{"2", "3", "4"} {
		if n := fill(owner); n < 8 || n > 9 {
			t.Errorf("owner %s has kept %d", owner, n)
		}
	}
	table.Sweep(2*Retention, 1000)
	if _, _, ok := table.shares.Min(); ok || table.Used() != 0 {
		t.Errorf("%d bytes are left, %d shares", table.Used(), table.shares.Len())
	}
}

// TestRepliesEnd: a reply is there for Retention at least, and no longer than that rounded up, whether it was swept or not; another
// one in its place counts once.
func TestRepliesEnd(t *testing.T) {
	table, now := New(), int64(1_790_000_000_123)
	k := Key{Scope: "1 default", ID: "id"}
	table.Put(now, k, Digest{1}, []byte("first"))
	used := table.Used()
	if r := table.Find(now+Retention, k); r == nil || string(r.Reply) != "first" {
		t.Fatal("the reply is gone early")
	}
	end := (now + Retention + rounding - 1) / rounding * rounding
	if table.Find(end-1, k) == nil {
		t.Error("the reply is gone before its record says so")
	}
	if table.Find(end, k) != nil {
		t.Error("the reply is there beyond its time, because nothing has swept it")
	}
	table.Put(end, k, Digest{2}, []byte("other"))
	if r := table.Find(end, k); r == nil || r.Hash != (Digest{2}) || string(r.Reply) != "other" {
		t.Errorf("found %+v", r)
	}
	if table.Used() != used || table.Len() != 1 {
		t.Errorf("%d bytes and %d records, want %d and one", table.Used(), table.Len(), used)
	}
	if due, ok := table.NextDue(); !ok || due <= end {
		t.Errorf("the next record is due at %d, %v: the former one was to go with its record", due, ok)
	}
	if n := table.Sweep(end+Retention+rounding, 10); n != 1 || table.Used() != 0 || table.Len() != 0 {
		t.Errorf("%d swept, %d bytes and %d records are left", n, table.Used(), table.Len())
	}
}
