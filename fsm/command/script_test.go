package command_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var update = flag.Bool("update", false, "rewrite the expected replies of the scripts")

// replica is one state machine that is fed a log of its own.
type replica struct {
	t     testing.TB
	m     *fsm.Machine
	index uint64
}

func newReplica(t testing.TB) *replica { return &replica{t: t, m: newMachine(t), index: 1} }

// sharedTable is the table of all machines of these tests: making one takes longer than making a machine.
var sharedTable = sync.OnceValue(command.NewTable)

// newMachine is an empty machine at the latest feature level, with a small budget for scripts: the default lets each run
// for a second, and many tests have scripts that never end. Entry 1 has set both.
func newMachine(t testing.TB) *fsm.Machine {
	t.Helper()
	m := fsm.NewMachineWith(sharedTable())
	var limits fsm.Settings
	limits.SetWork(command.DefaultMaxWork, 2_000_000)
	entry := fsm.Entry{Term: 1, Requests: []fsm.Request{
		{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})},
		{Code: fsm.Configure.Code, Body: fsm.Configure.Body(limits)},
	}}
	if _, err := m.Apply(1, 1, entry.Encode()); err != nil {
		t.Fatal(err)
	}
	return m
}

// apply runs rows as one entry at a time.
func (r *replica) apply(now int64, s *scripttest.Step, mode fsm.Mode, rows ...[][]byte) []reply.Value {
	r.t.Helper()
	r.index++
	body := fsm.Exec.Body(fsm.Batch{As: s.As, Origin: s.Origin, Mode: mode, Rows: rows})
	entry := fsm.Entry{Stamp: now, Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: body}}}
	outcomes, err := r.m.Apply(r.index, 1, entry.Encode())
	if err != nil || outcomes[0].Err != nil || outcomes[0].Status != fsm.Applied {
		r.t.Fatalf("line %d: apply: %v, %+v", s.Line, err, outcomes)
	}
	return outcomes[0].Value.(fsm.Results).Values
}

// run runs one step the way a node does: what only reads on a view, the rest by an
// entry.
func (r *replica) run(now int64, s *scripttest.Step) reply.Value {
	r.t.Helper()
	if r.reads(now, s) {
		return r.view(now, s)
	}
	return r.apply(now, s, fsm.Single, s.Argv)[0]
}

func (r *replica) view(now int64, s *scripttest.Step) (v reply.Value) {
	r.m.View(now, [16]byte{1}, func(view *fsm.View) { v = view.Exec(s.As, s.Origin, s.Argv) })
	return v
}

// check is the refusal of a step before it runs, nil if it can run.
func (r *replica) check(now int64, s *scripttest.Step) (c *command.Command, refusal *reply.Value) {
	r.m.View(now, [16]byte{}, func(view *fsm.View) { c, refusal = view.Check(s.As, s.Origin, s.Argv) })
	return c, refusal
}

func (r *replica) reads(now int64, s *scripttest.Step) bool {
	c, refusal := r.check(now, s)
	return refusal != nil || c.OnlyReads(s.Argv)
}

func (r *replica) digest() string { return r.m.Fork().Digest() }

// restore replaces the machine by one that was restored from its snapshot.
func (r *replica) restore() {
	r.t.Helper()
	var snapshot bytes.Buffer
	if err := r.m.Fork().Write(&snapshot); err != nil {
		r.t.Fatalf("snapshot: %v", err)
	}
	m := fsm.NewMachineWith(sharedTable())
	if err := m.Restore(&snapshot); err != nil {
		r.t.Fatalf("restore: %v", err)
	}
	before, after := r.digest(), m.Fork().Digest()
	if before != after {
		r.t.Fatalf("digest %s, restored %s", before, after)
	}
	r.m = m
}

func expect(t *testing.T, s *scripttest.Step, v reply.Value) {
	t.Helper()
	if got := s.Shown(v); got != s.Want {
		t.Errorf("line %d: %s\ngot:\n%s\nwant:\n%s", s.Line, s.Text, got, s.Want)
	}
}

// The ways a script is run. Every way expects the same replies.
var ways = []struct {
	name string
	run  func(*testing.T, []scripttest.Step)
}{
	{"plainly", plainly},
	{"transactions", inTransactions},
	{"snapshots", throughSnapshots},
	{"replicas", onReplicas},
	{"lua", fromLua},
}

func plainly(t *testing.T, steps []scripttest.Step) {
	r, now := newReplica(t), int64(scripttest.Start)
	for i := range steps {
		s := &steps[i]
		now += s.After
		expect(t, s, r.run(now, s))
	}
}

// inTransactions runs everything between two moments as one transaction. What may
// not stand in one runs by itself.
func inTransactions(t *testing.T, steps []scripttest.Step) {
	r, now := newReplica(t), int64(scripttest.Start)
	var open []*scripttest.Step
	flush := func() {
		if len(open) == 0 {
			return
		}
		rows := make([][][]byte, len(open))
		for i, s := range open {
			rows[i] = s.Argv
		}
		values := r.apply(now, open[0], fsm.Transaction, rows...)
		if len(values) != len(open) {
			t.Fatalf("line %d: a transaction of %d rows answered %s", open[0].Line, len(open), scripttest.Print(reply.Array(values...)))
		}
		for i, s := range open {
			expect(t, s, values[i])
		}
		open = nil
	}
	for i := range steps {
		s := &steps[i]
		if s.After > 0 || len(open) > 0 && (open[0].Origin != s.Origin || open[0].As != s.As) {
			flush()
			now += s.After
		}
		if c, refusal := r.check(now, s); refusal != nil || c.Flags&command.NoMulti != 0 {
			flush()
			expect(t, s, r.run(now, s))
			continue
		}
		open = append(open, s)
	}
	flush()
}

func throughSnapshots(t *testing.T, steps []scripttest.Step) {
	r, now := newReplica(t), int64(scripttest.Start)
	for i := range steps {
		s := &steps[i]
		now += s.After
		expect(t, s, r.run(now, s))
		r.restore()
	}
}

// onReplicas feeds two machines the same log; one serves the reads, and the other
// is restored from its own snapshot every third entry.
func onReplicas(t *testing.T, steps []scripttest.Step) {
	a, b, now := newReplica(t), newReplica(t), int64(scripttest.Start)
	for i := range steps {
		s := &steps[i]
		now += s.After
		if a.reads(now, s) {
			expect(t, s, a.view(now, s))
			continue
		}
		va, vb := a.apply(now, s, fsm.Single, s.Argv)[0], b.apply(now, s, fsm.Single, s.Argv)[0]
		expect(t, s, va)
		if !va.Equal(vb) {
			t.Fatalf("line %d: %s: replicas answer %s and %s", s.Line, s.Text, scripttest.Print(va), scripttest.Print(vb))
		}
		if b.index%3 == 0 {
			b.restore()
		}
		if a.digest() != b.digest() {
			t.Fatalf("line %d: %s: replicas differ", s.Line, s.Text)
		}
	}
}

// scriptFiles are the scripts by their names: that of the row with hyphens for blanks.
func scriptFiles(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range paths {
		files[strings.TrimSuffix(filepath.Base(path), ".txt")] = path
	}
	return files
}

func readScript(t testing.TB, path string) []scripttest.Step {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := scripttest.Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return steps
}

func TestScripts(t *testing.T) {
	for name, path := range scriptFiles(t) {
		if *update {
			rewrite(t, path)
		}
		steps := readScript(t, path)
		t.Run(name, func(t *testing.T) {
			for _, w := range ways {
				t.Run(w.name, func(t *testing.T) { w.run(t, steps) })
			}
		})
	}
}

// TestEveryRowHasAScript keeps the table and the scripts together: a script calls
// its row, through every origin that is open to it.
func TestEveryRowHasAScript(t *testing.T) {
	files, table := scriptFiles(t), command.NewTable()
	for _, c := range table.Rows() {
		name := strings.ReplaceAll(c.Name, " ", "-")
		path, ok := files[name]
		if !ok {
			t.Errorf("no script for %s", c.Name)
			continue
		}
		delete(files, name)
		if want := filepath.Join("testdata", c.Group(), name+".txt"); path != want {
			t.Errorf("%s: the script of %s belongs in %s", path, c.Name, want)
		}
		called := 0
		for _, s := range readScript(t, path) {
			if row := table.Find(s.Argv); row != nil && row.Name == c.Name {
				called++
			}
		}
		if called < 2 {
			t.Errorf("%s calls %s %d times", path, c.Name, called)
		}
	}
	for name, path := range files {
		t.Errorf("%s: no row named %q", path, name)
	}
}

// rewrite puts the replies of a plain run into the script. Look at the difference
// before believing it.
func rewrite(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replies := map[int]string{}
	r, now := newReplica(t), int64(scripttest.Start)
	for _, s := range readScript(t, path) {
		now += s.After
		replies[s.Line] = s.Shown(r.run(now, &s))
	}
	var out strings.Builder
	inReply := false
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		shown, isCommand := replies[i+1]
		directive, _, _ := strings.Cut(line, " ")
		if line == "" || directive == "advance" || directive == "origin" || directive == "redis" || directive == "role" || line[0] == '#' {
			inReply = false
		}
		if !inReply || isCommand {
			fmt.Fprintln(&out, line)
		}
		if isCommand {
			fmt.Fprintln(&out, shown)
			inReply = true
		}
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
