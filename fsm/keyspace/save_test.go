package keyspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
)

// failer is the part of a test that the helpers need; rapid's T has it too.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func records(t failer, db *DB) [][]byte {
	t.Helper()
	var out [][]byte
	err := db.Save(func(r []byte) error {
		out = append(out, bytes.Clone(r))
		return nil
	})
	if err != nil {
		t.Fatalf("save: %v", err)
	}
	return out
}

func load(records [][]byte) (*DB, error) {
	l := NewLoader()
	for _, r := range records {
		if err := l.Add(r); err != nil {
			return nil, err
		}
	}
	return l.Finish()
}

func entry(index uint64, now int64) *env.Env {
	return env.New(index, now, env.Latest, [16]byte{}, 0)
}

// account is the memory of db counted from nothing.
func account(db *DB) (used int64) {
	db.keys.All(func(o *Object, _ struct{}) bool {
		used += cost(o.key(), o)
		return true
	})
	return used
}

// checkWhole fails if the parts of db contradict one another.
func checkWhole(t failer, db *DB) {
	t.Helper()
	if want := account(db); db.Used() != want {
		t.Fatalf("used %d, counted anew %d", db.Used(), want)
	}
	keys, fields := 0, 0
	db.keys.All(func(o *Object, _ struct{}) bool {
		key := o.key()
		if h, ok := o.Data().(*Fields); ok {
			checkHash(t, h)
		}
		if s, ok := o.Data().(*StreamLog); ok {
			checkStream(t, s)
		}
		s := o.schedule()
		if s.gone != 0 {
			keys++
			if _, ok := db.dues.Get(due{s.gone, key}); !ok {
				t.Fatalf("deadline of %q is not in the index", key)
			}
		}
		for _, at := range []Deadline{s.look.byTime, s.look.byWall} {
			if at == 0 {
				continue
			}
			fields++
			if _, ok := db.fields.Get(due{at, key}); !ok {
				t.Fatalf("first deadline of a field of %q is not in the index", key)
			}
		}
		return true
	})
	if db.dues.Len() != keys || db.fields.Len() != fields {
		t.Fatalf("%d deadlines in the index, %d on keys; %d of fields, %d on hashes", db.dues.Len(), keys, db.fields.Len(), fields)
	}
}

// checkHash fails if the parts of h contradict one another.
func checkHash(t failer, h *Fields) {
	t.Helper()
	size, deadlines := int64(0), 0
	h.fields.all(func(f field) bool {
		size += f.size()
		if name, _, at := f.parts(); at != 0 {
			deadlines++
			if h.dues == nil {
				return true
			}
			if _, ok := h.dues.Get(due{at, name}); !ok {
				t.Fatalf("deadline of field %q is not in the index", name)
			}
		}
		return true
	})
	if h.size != size || h.known != h.schedule() || h.timed != deadlines || h.dues != nil && h.dues.Len() != deadlines ||
		h.dues == nil && h.fields.large != nil && deadlines > 0 {
		t.Fatalf("a hash of %d bytes counts %d, knows %v of %v", size, h.size, h.known, h.schedule())
	}
}

// change makes one random change to db.
func change(t *rapid.T, e *env.Env, db *DB) {
	key := []byte(fmt.Sprint("k", rapid.IntRange(0, 30).Draw(t, "key")))
	other := []byte(fmt.Sprint("k", rapid.IntRange(0, 30).Draw(t, "other")))
	text := rapid.StringN(0, 20, 40).Draw(t, "text")
	expire := rapid.SampledFrom([]int64{0, 0, e.Now + 1, e.Now + 3, e.Now + 100}).Draw(t, "expire")
	o := db.Find(e, key)
	if rapid.Bool().Draw(t, "container") {
		changeContainer(t, e, db, key, text, expire)
		return
	}
	switch op := rapid.IntRange(0, 8).Draw(t, "op"); {
	case op <= 1:
		db.SetText(e, key, text, Deadline(expire))
	case op <= 3:
		db.AppendText(e, key, o, []byte(text))
	case op == 4:
		db.Remove(e, key)
	case op == 5 && o != nil:
		db.SetExpire(e, o, Deadline(expire))
	case op == 6 && o != nil:
		db.Copy(e, o, other)
	case op == 7 && o != nil && !bytes.Equal(key, other):
		db.Move(e, key, o, other)
	case op == 8 && rapid.IntRange(0, 20).Draw(t, "rare") == 0:
		db.Flush(e)
	case op == 8:
		db.Sweep(e, 2)
	}
}

// TestSaveAndLoad makes random changes, and at any moment checks the account and
// the index, and that a keyspace loaded from its records is the same in all three.
// Forks and loaded copies take over at random, as after a snapshot or a script that
// was stopped; what was left behind must not change any more.
func TestSaveAndLoad(t *testing.T) {
	type version struct {
		db      *DB
		records [][]byte
	}
	rapid.Check(t, func(t *rapid.T) {
		db, now := New(), int64(1000)
		var kept []version
		for i := range rapid.IntRange(1, 150).Draw(t, "changes") {
			now += rapid.Int64Range(0, 2).Draw(t, "pause")
			change(t, entry(uint64(i+1), now), db)
			switch rapid.IntRange(0, 12).Draw(t, "turn") {
			case 0:
				kept = append(kept, version{db.Fork(), records(t, db)})
			case 1:
				fork := db.Fork()
				kept = append(kept, version{db, records(t, db)})
				db = fork
			case 2:
				db = reload(t, db)
			}
		}
		checkWhole(t, db)
		reload(t, db)
		for _, v := range kept {
			checkWhole(t, v.db)
			if !equal(records(t, v.db), v.records) {
				t.Fatalf("a version left behind has changed")
			}
		}
	})
}

func reload(t *rapid.T, db *DB) *DB {
	saved := records(t, db)
	again, err := load(saved)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	checkWhole(t, again)
	if again.Used() != db.Used() || again.Len() != db.Len() {
		t.Fatalf("loaded: used %d of %d, %d keys of %d", again.Used(), db.Used(), again.Len(), db.Len())
	}
	if !equal(records(t, again), saved) {
		t.Fatalf("a loaded keyspace saves other records")
	}
	return again
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// TestLoaderRefuses feeds records that Save never gives.
func TestLoaderRefuses(t *testing.T) {
	db := New()
	for i := range 3 {
		db.SetText(entry(1, 1), []byte(fmt.Sprint(i)), "v", 10)
	}
	good := records(t, db)
	never := binary.AppendVarint(nil, math.MinInt64) // no deadline
	for name, bad := range map[string][][]byte{
		"twice":        {good[0], good[0]},
		"out of order": {good[1], good[0]},
		"empty":        {{}},
		"cut":          {good[0][:len(good[0])-1]},
		"leftover":     {append(bytes.Clone(good[0]), 1)},
		"unknown type": {{1, 'k', 99}},
		"no type":      {{1, 'k', 0}},
		"deadline":     {append([]byte{1, 'k', 1}, never...)},
		"empty list":   {{1, 'k', 2, 0, 0, 0}},
		"cut list":     {{1, 'k', 2, 0, 0, 2, 1, 'a'}},
		"empty hash":   {{1, 'k', 3, 0, 0, 0, 0}},
		"field twice":  {{1, 'k', 3, 0, 0, 0, 2, 1, 'f', 1, 'v', 0, 1, 'f', 1, 'v', 0}},
		"cut field":    {{1, 'k', 3, 0, 0, 0, 1, 1, 'f', 1, 'v'}},
		"cut set":      {{1, 'k', 4, 0, 0, 0, 2, 1, 'm'}},
		"field time":   {append([]byte{1, 'k', 3, 0, 0, 0, 1, 1, 'f', 1, 'v'}, never...)},
		"empty set":    {{1, 'k', 4, 0, 0, 0, 0}},
		"member twice": {{1, 'k', 4, 0, 0, 0, 2, 1, 'm', 1, 'm'}},
		"large twice":  {{1, 'k', 4, 0, 0, 1, 2, 1, 'm', 1, 'm'}},
		"form":         {{1, 'k', 4, 0, 0, 2, 1, 1, 'm'}},
	} {
		if _, err := load(bad); !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v, want ErrRecord", name, err)
		}
	}
	stop := errors.New("stop")
	if err := db.Save(func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("save with a failing sink: %v", err)
	}
}

// FuzzLoader feeds any bytes: an error or a whole keyspace, never a panic.
func FuzzLoader(f *testing.F) {
	db := New()
	db.SetText(entry(7, 1), []byte("key"), "value", 10)
	f.Add(records(f, db)[0])
	for _, c := range containers() {
		one := New()
		one.PutContainer(entry(7, 1), []byte("key"), c, 10)
		f.Add(records(f, one)[0])
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		db, err := load([][]byte{record})
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		checkWhole(t, db)
		again, err := load(records(t, db))
		if err != nil {
			t.Fatalf("loading what was saved: %v", err)
		}
		checkWhole(t, again)
	})
}
