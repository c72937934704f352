package main

import (
	"math/rand"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && runChild(os.Args[1], os.Args[2:]) {
		return
	}
	os.Exit(m.Run())
}

// short is the number of trials in a test run; the command does the full number
// and the experiments that are not named here.
var short = map[string]int{
	"flip-live": 40, "flip-meta": 20,
	"cut-end": 10, "zero-live-page": 10,
	"flip-log": 40, "flip-log-of-killed": 40, "torn-log": 20,
	"snapshot-damage": 30, "kill": 6, "kill-tiny-segments": 4,
	"kill-at-system-call": 2, "sync-EIO": 2, "full-disk": 1, "power-cut": 2,
}

// Broken nodes are opened in this process, so that a crash which nobody can
// recover from fails the test.
func TestTrials(t *testing.T) {
	for _, e := range experiments() {
		n := short[e.name]
		if n == 0 {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			if e.can != nil {
				if testing.Short() {
					t.Skip("short")
				}
				if err := e.can(); err != nil {
					t.Skip(err)
				}
			}
			got, err := one(e, &rig{n: n, ops: 80, rng: rand.New(rand.NewSource(1))}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Log(got.line(e.name))
			if got.total != n || got.bad() > 0 {
				t.Fail()
			}
		})
	}
}

// The rig itself: a lost tail, a changed entry and an old vote must be called
// silent, or no trial proves anything.
func TestRigSeesWhatIsWrong(t *testing.T) {
	m := newModel()
	for _, op := range []string{"T 3", "S 1 10 3", "D 1 2"} {
		m.apply(op)
	}
	good := func() *observation {
		return &observation{Open: true, First: 3, Last: 10, Terms: []uint64{3, 3, 3, 3, 3, 3, 3, 3}, Term: 3, Vote: vote}
	}
	if v, d := m.judge(good()); v != unharmed {
		t.Fatal(v, d)
	}
	for want, damage := range map[verdict]func(*observation){
		silent + " wrong entry":       func(s *observation) { s.Terms[4] = wrongEntry },
		silent + " old entry back":    func(s *observation) { s.Terms[4] = 2 },
		silent + " lost tail":         func(s *observation) { s.Last, s.Terms = 9, s.Terms[:7] },
		silent + " extra tail":        func(s *observation) { s.Last, s.Terms = 11, append(s.Terms, 3) },
		silent + " wrong first":       func(s *observation) { s.First, s.Terms = 4, s.Terms[1:] },
		silent + " stable value back": func(s *observation) { s.Term = 2 },
		refused:                       func(s *observation) { s.Open, s.Damaged, s.Err = false, true, "x" },
		failed:                        func(s *observation) { s.Open, s.Err = false, "x" },
	} {
		s := good()
		damage(s)
		if v, _ := m.judge(s); v != want {
			t.Errorf("got %q, want %q", v, want)
		}
	}
	m.pending = "S 11 2 3" // either outcome of what was under way
	s := good()
	s.Last, s.Terms = 12, append(s.Terms, 3, 3)
	if v, _ := m.judge(s); v != unharmed {
		t.Error(v)
	}
	s.Last, s.Terms = 11, s.Terms[:9] // but not half of it
	if v, _ := m.judge(s); v != silent+" extra tail" {
		t.Error(v)
	}
}
