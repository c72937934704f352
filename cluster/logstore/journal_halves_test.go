package logstore

import (
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
)

// unmoved is a store whose journal moves nothing by itself, and the entries that it was given.
type unmoved struct {
	t     *testing.T
	s     *Store
	j     *journal
	under failing // the database
	kept
}

func newUnmoved(t *testing.T) *unmoved {
	u := &unmoved{t: t, kept: kept{first: 1, term: map[uint64]uint64{}}}
	o := journaled(t.TempDir(), &deaths{})
	o.wrap = func(b backend) backend { u.under.backend = b; return &u.under }
	u.s = mustOpen(t, o)
	u.j = u.s.journal
	u.j.stop() // start has to be called before the store ends, which calls stop again
	return u
}

func (u *unmoved) put() error {
	logs := entries(u.last+1, u.last+3, 3)
	if err := u.s.StoreLogs(logs); err != nil {
		return err
	}
	for _, l := range logs {
		u.last, u.term[l.Index] = l.Index, 3
	}
	return nil
}

// fill appends until that half takes the appends.
func (u *unmoved) fill(half int) {
	u.t.Helper()
	for u.j.active != half {
		if err := u.put(); err != nil {
			u.t.Fatal(err)
		}
	}
}

// move stores the first entries of the journal in the database, as a move does that ends in between.
func (u *unmoved) move(to uint64) error {
	var logs []*raft.Log
	for i := u.first; i <= to; i++ {
		l := &raft.Log{}
		if err := u.j.GetLog(i, l); err != nil {
			return err
		}
		logs = append(logs, l)
	}
	return u.under.StoreLogs(logs)
}

func (u *unmoved) do(what error) {
	u.t.Helper()
	if what != nil {
		u.t.Fatal(what)
	}
}

// TestFullHalvesWait fills both halves of a journal that can't be moved: the next append fails, every one before it stays, and
// with room in the database appends go on.
func TestFullHalvesWait(t *testing.T) {
	u := newUnmoved(t)
	t.Cleanup(u.j.start)
	for range 2 {
		full := make([]error, 1000)
		for i := range full {
			full[i] = writeError(syscall.ENOSPC)
		}
		u.under.fail(full...)
		began, err := u.last, error(nil)
		for err == nil && u.last-began < 1000 {
			err = u.put()
		}
		if err == nil || u.last-began < 30 {
			t.Fatalf("%v after %d appended entries: two halves have %d bytes", err, u.last-began, 2*u.j.size)
		}
		u.check(t, u.s)
		if size := fileSize(u.j.path); size != 2*u.j.size {
			t.Fatalf("the file has %d bytes, want %d", size, 2*u.j.size)
		}
		u.under.fail()
		u.do(u.put())
		u.check(t, u.s)
	}
}

// TestReplayOfHalves crashes with the halves in every state between two moves, and expects every entry of the next start.
func TestReplayOfHalves(t *testing.T) {
	for name, run := range map[string]func(u *unmoved){
		"the first is in use":   func(u *unmoved) { u.do(u.put()) },
		"the first is sealed":   func(u *unmoved) { u.fill(1) },
		"the second is older":   func(u *unmoved) { u.fill(1); u.do(u.j.move()); u.fill(0) },
		"the first is moved":    func(u *unmoved) { u.fill(1); u.do(u.j.move()) },
		"moved, and not noted":  func(u *unmoved) { u.fill(1); u.do(u.j.moveAll(&u.j.halves[0])) },
		"moved in part":         func(u *unmoved) { u.fill(1); u.do(u.move(7)) },
		"moved but for the end": func(u *unmoved) { u.fill(1); u.do(u.move(u.j.halves[0].last() - 1)) },
		"the second is moved, and not noted": func(u *unmoved) {
			u.fill(1)
			u.do(u.j.move())
			u.fill(0)
			u.do(u.j.moveAll(&u.j.halves[1]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnmoved(t)
			run(u)
			u.j.start()
			crash(u.s)
			u.check(t, mustOpen(t, journaled(u.s.opts.Dir, &deaths{})))
		})
	}
}
