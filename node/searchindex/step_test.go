package searchindex

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// stepped is a machine whose indexes have no goroutine: the test takes each of its steps.
type stepped struct {
	t     *testing.T
	m     *fsm.Machine
	e     *Indexes
	index uint64
}

func newStepped(t *testing.T) *stepped { return newWorked(t, 0, 0) }

// newWorked returns a machine whose indexes have a number of workers and a memory limit.
func newWorked(t *testing.T, limit int64, workers int) *stepped {
	s := &stepped{t: t, m: fsm.NewMachine()}
	s.e = attach(s.m, limit, workers)
	t.Cleanup(s.e.Close)
	s.propose(fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel}))
	return s
}

// create makes a database with a memory limit, 0 for no limit.
func (s *stepped) create(db string, limit int64) {
	s.t.Helper()
	s.propose(fsm.CreateDatabase.Code, fsm.CreateDatabase.Body(fsm.DatabaseTokens{Name: db, Standard: acl.DigestOf(db + "-standard"), ReadOnly: acl.DigestOf(db + "-readonly")}))
	s.limit(db, limit)
}

func (s *stepped) limit(db string, limit int64) {
	s.t.Helper()
	s.propose(fsm.ConfigureDatabase.Code, fsm.ConfigureDatabase.Body(fsm.DatabaseSettings{Name: db, MaxMemory: limit}))
}

// in runs commands in a database in one entry.
func (s *stepped) in(db string, rows ...[]string) {
	s.t.Helper()
	as := process
	as.DB = db
	batch := fsm.Batch{As: as, Origin: command.OriginHTTP}
	for _, words := range rows {
		batch.Rows = append(batch.Rows, row(words))
	}
	for i, v := range s.propose(fsm.Exec.Code, fsm.Exec.Body(batch)).(fsm.Results).Values {
		if v.IsError() {
			s.t.Fatalf("%.80q: %s", rows[i], v.Text())
		}
	}
}

// ask runs a command that reads in a database.
func (s *stepped) ask(db string, words ...string) (v reply.Value) {
	as := process
	as.DB = db
	s.m.View(1_000_000, [16]byte{}, func(view *fsm.View) { v = view.Exec(as, command.OriginHTTP, row(words)) })
	return v
}

func row(words []string) (argv [][]byte) {
	for _, w := range words {
		argv = append(argv, []byte(w))
	}
	return argv
}

// finish takes steps until there is nothing to do, and returns how many.
func (s *stepped) finish() (n int) {
	for s.e.step() {
		n++
	}
	return n
}

func (s *stepped) propose(code uint16, body []byte) any {
	s.t.Helper()
	s.index++
	e := fsm.Entry{Stamp: 1_000_000, Term: 1, Requests: []fsm.Request{{Code: code, Body: body}}}
	binary.LittleEndian.PutUint64(e.Seed[:], s.index)
	outcomes, err := s.m.Apply(s.index, 1, e.Encode())
	if err != nil || outcomes[0].Err != nil {
		s.t.Fatalf("apply: %v, %+v", err, outcomes)
	}
	return outcomes[0].Value
}

// tasks are the indexes of the default database.
func (s *stepped) tasks() []*task {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return slices.Clone(s.e.databases["default"].tasks)
}

// process may do everything.
var process = acl.Identity{User: acl.DefaultName, By: acl.ByProcess}

// do runs commands in one entry.
func (s *stepped) do(lines ...string) {
	s.t.Helper()
	batch := fsm.Batch{As: process, Origin: command.OriginHTTP}
	for _, line := range lines {
		batch.Rows = append(batch.Rows, bytes.Fields([]byte(line)))
	}
	for i, v := range s.propose(fsm.Exec.Code, fsm.Exec.Body(batch)).(fsm.Results).Values {
		if v.IsError() {
			s.t.Fatalf("%s: %s", lines[i], v.Text())
		}
	}
}

// count counts the documents of the state by the values of n.
func (s *stepped) count(names []string) map[string]int64 {
	all := map[string]int64{}
	s.m.ViewFork(env.At(1_000_000), [16]byte{}, func(v *fsm.View) {
		for _, name := range names {
			if got := v.Exec(process, command.OriginHTTP, bytes.Fields([]byte("HGET "+name+" n"))); got.IsNil() {
				continue
			} else if got.IsError() {
				all["none"]++
			} else {
				all[got.Text()]++
			}
		}
	})
	return all
}

// TestChangesDuringAScan stops a scan before each of its steps, changes keys that it has looked at and keys that it hasn't, and
// expects the finished index to have what a walk over the keys finds.
func TestChangesDuringAScan(t *testing.T) {
	const keys = 2*keysPerStep + 100
	name := func(i int) string { return fmt.Sprint("doc:", i) }
	changes := map[string]func(s *stepped, i int){
		"set":     func(s *stepped, i int) { s.do("HSET " + name(i) + " n 2") },
		"delete":  func(s *stepped, i int) { s.do("DEL " + name(i)) },
		"replace": func(s *stepped, i int) { s.do("SET " + name(i) + " text") },
		"rename":  func(s *stepped, i int) { s.do("RENAME " + name(i) + " " + name(i+keys)) },
		"add":     func(s *stepped, i int) { s.do("HSET " + name(i+keys) + " n 2") },
		"flush":   func(s *stepped, i int) { s.do("FLUSHALL", "HSET "+name(i)+" n 2") },
	}
	var names, lines []string
	for i := range 2 * keys {
		if names = append(names, name(i)); i < keys {
			lines = append(lines, "HSET "+name(i)+" n 1")
		}
	}
	for what, change := range changes {
		for stop := range 4 {
			s := newStepped(t)
			s.do(lines...)
			s.do("SEARCH.CREATE i ON HASH PREFIX 1 doc: SCHEMA n U64 FAST")
			busy := true
			for i := 0; busy; i++ {
				if i == stop { // of every part of the scan are some among them
					for k := 0; k < keys; k += 40 {
						change(s, k)
					}
				}
				if busy = s.e.step(); !busy && i < stop {
					t.Fatalf("a scan of %d keys ended after %d steps", keys, i+1)
				}
			}
			want := s.count(names)
			tasks := s.tasks()
			for _, x := range tasks {
				for value, n := range map[string]int64{"1": want["1"], "2": want["2"]} {
					if got, err := x.count([]byte(`{"n":`+value+`}`), env.At(1_000_000), unlimited()); err != nil || got != n {
						t.Errorf("%s before step %d: the index has %d documents with n=%s (%v), the state %d", what, stop, got, value, err, n)
					}
				}
			}
			if d := s.e.databases["default"]; len(tasks) != 1 || !d.reached(s.index) {
				t.Errorf("%s before step %d: %d indexes up to entry %d, want 1 up to %d", what, stop, len(tasks), d.done, s.index)
			}
		}
	}
}
