package keyspace

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// words is a container for tests.
type words struct {
	Owned
	all []string
}

func (w *words) Type() Type { return List }

func (w *words) Size() (n int64) {
	for _, s := range w.all {
		n += int64(len(s)) + 8
	}
	return n
}

func (w *words) Clone() Container { return &words{all: slices.Clone(w.all)} }

func (w *words) Encode(out *wire.Writer) {
	for _, s := range w.all {
		out.String(s)
	}
}

// TestContainersAndForks changes containers in place while forks are kept: a fork
// must go on showing what it showed, and the account must stay right.
func TestContainersAndForks(t *testing.T) {
	type kept struct {
		db      *DB
		records [][]byte
	}
	rapid.Check(t, func(t *rapid.T) {
		db := New()
		var forks []kept
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			e := entry(uint64(i+1), 1000)
			key, other := []byte(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")), []byte(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "other"))
			o := db.Find(e, key)
			switch op := rapid.IntRange(0, 6).Draw(t, "op"); {
			case o == nil:
				db.PutContainer(e, key, &words{all: []string{"new"}}, 0)
			case op <= 2:
				before, version := o.Data().Size(), o.Version
				c := db.Mutable(e, key, o).(*words)
				c.all = append(c.all, "x")
				c.all[0] = "changed"
				db.Changed(e, key, before)
				if got := db.Find(e, key); got.Version <= version || got.Data() != c {
					t.Fatalf("after a change: version %d after %d", got.Version, version)
				}
			case op == 3:
				db.Copy(e, o, other)
			case op == 4 && string(key) != string(other):
				db.Move(e, key, o, other)
			case op == 5:
				forks = append(forks, kept{db.Fork(), records(t, db)})
			case op == 6:
				old := db
				db = db.Fork()
				forks = append(forks, kept{old, records(t, old)})
			}
		}
		checkWhole(t, db)
		for _, f := range forks {
			checkWhole(t, f.db)
			if !equal(records(t, f.db), f.records) {
				t.Fatalf("a fork shows what was changed after it")
			}
		}
	})
}

// TestMutableChangesNoState checks that asking for a container to change does not
// depend on this node's forks.
func TestMutableChangesNoState(t *testing.T) {
	a, b := New(), New()
	for _, db := range []*DB{a, b} {
		db.PutContainer(entry(1, 1), []byte("k"), &words{all: []string{"v"}}, 0)
	}
	a.Fork()
	for _, db := range []*DB{a, b} {
		e := entry(2, 1)
		db.Mutable(e, []byte("k"), db.Find(e, []byte("k")))
	}
	if !equal(records(t, a), records(t, b)) {
		t.Fatal("a fork made a difference to the state")
	}
}

// TestReadsPanicOnWrites checks that no write passes under a read's environment.
func TestReadsPanicOnWrites(t *testing.T) {
	db := New()
	e := entry(1, 1)
	db.PutContainer(e, []byte("c"), &words{}, 0)
	db.SetText(e, []byte("s"), "v", 5)
	read := entry(2, 10)
	read.ReadOnly = true
	for name, write := range map[string]func(){
		"set":    func() { db.SetText(read, []byte("k"), "v", 0) },
		"append": func() { db.AppendText(read, []byte("k"), nil, []byte("v")) },
		"remove": func() { db.Remove(read, []byte("s")) },
		"flush":  func() { db.Flush(read) },
		"sweep":  func() { db.Sweep(read, 1) },
		"expire": func() { db.SetExpire(read, db.Find(read, []byte("c")), 9) },
		"mutate": func() { db.Mutable(read, []byte("c"), db.Find(read, []byte("c"))) },
		"change": func() { db.Changed(read, []byte("c"), 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			write()
		}()
	}
	if db.Len() != 2 {
		t.Errorf("%d keys", db.Len())
	}
}
