package fsm_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
)

var replayCommands = flag.Int("replay", 60_000, "how many random commands TestReplay runs")

// log makes entries as a leader would, from a seed.
type log struct {
	r       *rand.Rand
	index   uint64
	term    uint64
	now     int64
	session uint64
	seq     uint64
}

func newLog(seed uint64) *log {
	return &log{r: rand.New(rand.NewPCG(seed, 1)), term: 3, now: 1_790_000_000_000}
}

// entry packs requests into the next entry.
func (l *log) entry(requests ...fsm.Request) []byte {
	l.index++
	l.now += l.r.Int64N(40)
	e := fsm.Entry{Stamp: l.now, Term: l.term, Requests: requests}
	if l.r.IntN(20) == 0 {
		e.Stamp -= 500 // a new leader whose clock is behind
	}
	for i := range e.Seed {
		e.Seed[i] = byte(l.r.Uint32())
	}
	if l.session != 0 {
		e.LowWaters = []fsm.LowWater{{Session: l.session, Below: l.seq - min(l.seq, 40+uint64(l.r.IntN(100)))}}
	}
	return e.Encode()
}

// request is the next request of the log's one session.
func (l *log) request(b fsm.Batch) fsm.Request {
	l.seq++
	return fsm.Request{Session: l.session, Seq: l.seq, Code: fsm.Exec.Code, Body: fsm.Exec.Body(b)}
}

// batch draws a request of one to a few random commands.
func (l *log) batch() fsm.Batch {
	b := fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.Origin(l.r.IntN(3)), Mode: fsm.Mode(l.r.IntN(3))}
	if l.r.IntN(30) == 0 {
		b.As.User = acl.ReadOnlyName
	}
	b.As.DB = []string{"", "", "", "a", "b"}[l.r.IntN(5)]
	n := 1
	if b.Mode != fsm.Single {
		n += l.r.IntN(6)
	}
	for range n {
		b.Rows = append(b.Rows, commandtest.Random(l.r))
	}
	if l.r.IntN(8) == 0 {
		b.Retry = b.IdempotencyKey(strconv.Itoa(l.r.IntN(500)))
	}
	return b
}

// administer is a request that makes or deletes a database, or resets its tokens.
func (l *log) administer() fsm.Request {
	l.seq++
	q := fsm.Request{Session: l.session, Seq: l.seq}
	d := fsm.DatabaseTokens{Name: []string{"a", "b", "default", "none", "-"}[l.r.IntN(5)]}
	d.Standard[0], d.ReadOnly[0] = byte(1+l.r.IntN(255)), 1
	switch n := l.r.IntN(9); {
	case n == 0:
		q.Code, q.Body = fsm.DeleteDatabase.Code, fsm.DeleteDatabase.Body(fsm.DatabaseName{Name: d.Name})
	case n < 3:
		q.Code, q.Body = fsm.ResetTokens.Code, fsm.ResetTokens.Body(d)
	default:
		q.Code, q.Body = fsm.CreateDatabase.Code, fsm.CreateDatabase.Body(d)
	}
	return q
}

// open registers the session.
func (l *log) open(apply func([]byte) []fsm.Outcome) {
	data := l.entry(fsm.Request{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})},
		fsm.Request{Code: fsm.Register.Code, Body: fsm.Register.Body(fsm.Registration{Node: "n1", Disk: "d", Boot: 1})})
	l.session = apply(data)[1].Value.(fsm.Session).ID
}

// TestReplay feeds one log to two machines, and to a third that is restored from a
// snapshot midway and again later, and compares outcomes and digests. The second one reads every batch into new
// memory, so a command that keeps slices of its words makes a difference.
func TestReplay(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			replay(t, seed, *replayCommands/3)
		})
	}
}

func replay(t *testing.T, seed uint64, commands int) {
	machines := []*fsm.Machine{fsm.NewMachine(), fsm.NewMachine(), fsm.NewMachine()}
	machines[1].LendNoRoom()
	l := newLog(seed)
	apply := func(data []byte) (first []fsm.Outcome) {
		for i, m := range machines {
			o, err := m.Apply(l.index, l.term, data)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = o
			}
			sameOutcomes(t, l.index, first, o)
		}
		return first
	}
	l.open(apply)
	done, restores, worked := 0, 0, map[string]int{}
	for done < commands {
		var requests []fsm.Request
		var batches []fsm.Batch
		for range 1 + l.r.IntN(20) {
			q := l.batch()
			batches = append(batches, q)
			done += len(q.Rows)
			requests = append(requests, l.request(q))
		}
		if l.r.IntN(20) == 0 {
			requests = append(requests, l.administer())
		}
		if l.r.IntN(10) == 0 {
			requests = append(requests, requests[0]) // a repetition within the entry
			requests = append(requests, fsm.Request{Code: fsm.Advance.Code, Body: fsm.Advance.Body(fsm.AdvanceLimit{Sweep: 50})})
		}
		countWork(worked, batches, apply(l.entry(requests...)))
		if done > commands*(restores+1)/3 && restores < 2 {
			restores++
			machines[2] = restored(t, machines[0])
		}
	}
	digest := machines[0].Fork().Digest()
	for i, m := range machines {
		if other := m.Fork().Digest(); other != digest {
			t.Fatalf("digests differ after %d commands: %s, machine %d %s", done, digest, i+1, other)
		}
	}
	for _, name := range []string{"XADD", "XREADGROUP", "XAUTOCLAIM", "JSON.SET", "JSON.MERGE", "SPOP", "PEXPIRE", "HSET", "GETDEL", "SORT", "EVAL", "EVALSHA", "FCALL", "FUNCTION", "SCRIPT", "ACL", "CONFIG",
		"ARSET", "ARRING", "INCREX", "XNACK", "SDIFFCARD", "VECTOR.CREATE", "VECTOR.ADD", "VECTOR.QUERY", "VECTOR.DEL", "SEARCH.CREATE", "SEARCH.DROP", "SEARCH.ALIASADD"} {
		if worked[name] == 0 {
			t.Errorf("no %s did anything among %d commands", name, done)
		}
	}
	var keys int
	machines[0].View(0, [16]byte{}, func(v *fsm.View) { keys, _ = v.Usage() })
	t.Logf("%d commands, %d entries, %d keys left, one digest", done, l.index, keys)
}

// countWork counts the commands by name that were not answered with an error.
func countWork(worked map[string]int, batches []fsm.Batch, outcomes []fsm.Outcome) {
	for i, b := range batches {
		results, ran := outcomes[i].Value.(fsm.Results)
		for j := range b.Rows {
			if ran && j < len(results.Values) && !results.Values[j].IsError() {
				worked[string(b.Rows[j][0])]++
			}
		}
	}
}

func restored(t *testing.T, m *fsm.Machine) *fsm.Machine {
	var snapshot bytes.Buffer
	if err := m.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	b := fsm.NewMachine()
	if err := b.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	return b
}

func sameOutcomes(t *testing.T, index uint64, x, y []fsm.Outcome) {
	for i := range x {
		if fmt.Sprint(x[i]) != fmt.Sprint(y[i]) {
			t.Fatalf("entry %d, request %d: %v and %v", index, i, x[i], y[i])
		}
	}
}

// TestRequestsAreAppliedOnce proposes requests again, in later entries and after a
// restore, and counts.
func TestRequestsAreAppliedOnce(t *testing.T) {
	m := fsm.NewMachine()
	l := newLog(7)
	apply := func(data []byte) []fsm.Outcome {
		o, err := m.Apply(l.index, l.term, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	l.open(apply)
	incr := fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{{[]byte("INCR"), []byte("n")}}}
	sent := []fsm.Request{}
	for range 200 {
		q := l.request(incr)
		sent = append(sent, q)
		if o := apply(l.entry(q)); o[0].Status != fsm.Applied {
			t.Fatalf("first application of %d: %v", q.Seq, o[0])
		}
		again := sent[l.r.IntN(len(sent))]
		if o := apply(l.entry(again)); o[0].Status == fsm.Applied {
			t.Fatalf("sequence %d was applied twice", again.Seq)
		}
		if l.r.IntN(50) == 0 {
			m = restored(t, m)
		}
	}
	if got := text(m, "GET", "n"); got != "200" {
		t.Fatalf("200 increments gave %s", got)
	}
	// A sequence below the low-water mark is refused, also if it never came before.
	if o := apply(l.entry(fsm.Request{Session: l.session, Seq: 1, Code: fsm.Exec.Code, Body: fsm.Exec.Body(incr)})); o[0].Status != fsm.SessionExpired {
		t.Fatalf("a sequence below the low-water mark: %v", o[0])
	}
	// A later boot replaces the session; an earlier one changes nothing.
	old := l.session
	o := apply(l.entry(fsm.Request{Code: fsm.Register.Code, Body: fsm.Register.Body(fsm.Registration{Node: "n1", Disk: "d", Boot: 2})}))
	l.session = o[0].Value.(fsm.Session).ID
	o = apply(l.entry(fsm.Request{Code: fsm.Register.Code, Body: fsm.Register.Body(fsm.Registration{Node: "n1", Disk: "d", Boot: 1})}))
	if o[0].Value.(fsm.Session).ID != 0 {
		t.Fatal("the late registration of an earlier boot opened a session")
	}
	if o := apply(l.entry(fsm.Request{Session: old, Seq: 10_000, Code: fsm.Exec.Code, Body: fsm.Exec.Body(incr)})); o[0].Status != fsm.SessionExpired {
		t.Fatalf("a request of a replaced session: %v", o[0])
	}
}

// TestEntryOfAnotherTermIsRefused applies an entry whose own term is not the log's.
func TestEntryOfAnotherTermIsRefused(t *testing.T) {
	m := fsm.NewMachine()
	l := newLog(8)
	apply := func(data []byte) []fsm.Outcome {
		o, _ := m.Apply(l.index, l.term, data)
		return o
	}
	l.open(apply)
	q := l.request(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{{[]byte("SET"), []byte("k"), []byte("v")}}})
	data := l.entry(q)
	o, err := m.Apply(l.index, l.term+1, data)
	if err != nil || o[0].Status != fsm.Refused {
		t.Fatalf("%v %v", o, err)
	}
	if got := text(m, "GET", "k"); got != "" {
		t.Fatalf("a refused entry wrote %q", got)
	}
	if o := apply(l.entry(q)); o[0].Status != fsm.Applied {
		t.Fatalf("a refused request may come again: %v", o[0])
	}
}

func text(m *fsm.Machine, words ...string) (s string) {
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	m.View(0, [16]byte{}, func(v *fsm.View) { s = v.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, argv).Text() })
	return s
}

// TestMemoryLimit fills a machine up to its limit: the write that would go on is
// refused, reads and deletes go on.
func TestMemoryLimit(t *testing.T) {
	m := fsm.NewMachine()
	l := newLog(9)
	apply := func(data []byte) []fsm.Outcome {
		o, err := m.Apply(l.index, l.term, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	l.open(apply)
	apply(l.entry(fsm.Request{Code: fsm.Configure.Code, Body: fsm.Configure.Body(fsm.Settings{MaxMemory: 10_000})}))
	run := func(words ...string) string {
		argv := make([][]byte, len(words))
		for i, w := range words {
			argv[i] = []byte(w)
		}
		o := apply(l.entry(l.request(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{argv}})))
		return o[0].Value.(fsm.Results).Values[0].Text()
	}
	refused := ""
	for i := range 1000 {
		if refused = run("SET", strconv.Itoa(i), "0123456789"); refused != "OK" {
			break
		}
	}
	if refused != "OOM command not allowed when used memory > 'maxmemory'." {
		t.Fatalf("over the limit a write answers %q", refused)
	}
	if got := text(m, "GET", "0"); got != "0123456789" {
		t.Fatalf("reads go on: %q", got)
	}
	for i := range 10 {
		run("DEL", strconv.Itoa(i))
	}
	if got := run("SET", "k", "v"); got != "OK" {
		t.Fatalf("after deletes: %q", got)
	}
}
