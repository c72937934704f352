package fsm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// tenants is a machine with many databases. They are made without their entries, which cost more than what is measured.
type tenants struct {
	m     *Machine
	index uint64
	now   int64
}

func newTenants(tb testing.TB, table *command.Table, n int) *tenants {
	tb.Helper()
	te := &tenants{m: NewMachineWith(table), now: 1_790_000_000_000}
	te.m.state.raise(MaxLevel)
	te.m.state.settings.MaxMemory = 4 << 30
	for i := range n - 1 {
		name := tenantName(i)
		e := env.New(uint64(i), te.now, MaxLevel, [16]byte{byte(i), byte(i >> 8), byte(i >> 16)}, 0)
		if _, err := te.m.state.createDatabase(e, DatabaseTokens{Name: name, Standard: acl.DigestOf(name), ReadOnly: acl.DigestOf("ro " + name)}); err != nil {
			tb.Fatal(err)
		}
	}
	return te
}

func tenantName(i int) string { return fmt.Sprintf("tenant-%06d", i) }

// setIn is a SET in the n-th database, as the process itself makes it.
func setIn(name, key, value string) Request {
	as := acl.Trusted(acl.DefaultName)
	as.DB = name
	return Request{Code: Exec.Code, Body: Exec.Body(Batch{As: as, Origin: command.OriginHTTP, Rows: [][][]byte{{[]byte("SET"), []byte(key), []byte(value)}}})}
}

func (te *tenants) apply(tb testing.TB, requests ...Request) []Outcome {
	tb.Helper()
	te.index++
	te.now++
	e := Entry{Stamp: te.now, Term: 1, Seed: [16]byte{byte(te.index)}, Requests: requests}
	outcomes, err := te.m.Apply(te.index, 1, e.Encode())
	if err != nil {
		tb.Fatal(err)
	}
	return outcomes
}

// TestForkCopiesWhatIsTouched holds what a fork and the entry behind it allocate: as much with 10,000 databases as with 10, whether the
// entry sweeps, claims, sets a key or makes room. A loop over all of them would show in the second part, which counts the databases
// that were copied.
func TestForkCopiesWhatIsTouched(t *testing.T) {
	table := command.NewTable()
	allocations := func(n int) float64 {
		te := newTenants(t, table, n)
		next := 0
		return testing.AllocsPerRun(50, func() {
			te.m.Fork()
			next++
			te.apply(t, setIn(tenantName(next%9), "key", "value"), Request{Code: Advance.Code, Body: Advance.Body(AdvanceLimit{Sweep: 10, Deliver: true, Term: 1, Claims: 10})})
		})
	}
	few, many := allocations(10), allocations(10_000)
	t.Logf("%.0f allocations with 10 databases, %.0f with 10,000", few, many)
	if many > few+20 {
		t.Errorf("a fork and an entry take %.0f allocations with 10,000 databases and %.0f with 10", many, few)
	}
	te := newTenants(t, table, 10_000)
	f := te.m.Fork()
	te.apply(t, setIn(tenantName(3), "key", "value"), setIn(tenantName(5), "key", "value"))
	copied := 0
	for p, name, ok := te.m.state.databases.Next("", true, nil); ok; p, name, ok = te.m.state.databases.Next(name, false, nil) {
		if was, _ := f.s.databases.Get(name); was != p {
			copied++
		}
	}
	if copied != 3 { // and default, for which there may always be something to advance
		copied--
	}
	if copied > 3 {
		t.Errorf("two databases were written to, and %d were copied", copied)
	}
}

// TestSummariesAreRight compares what the tree of databases knows of them with what they are, under everything that the model does:
// databases come and go, expire keys, publish, start runs, fill up, are put in quarantine, and the state is forked at any moment. A
// fork must not change, and a machine that was never forked must come to the same.
func TestSummariesAreRight(t *testing.T) {
	table := command.NewTable()
	rapid.Check(t, func(t *rapid.T) {
		a, b := newModelled(table), newModelled(table)
		type kept struct {
			f      *Frozen
			digest string
		}
		var forks []kept
		for range rapid.IntRange(1, 60).Draw(t, "entries") {
			var requests []Request
			for range rapid.IntRange(1, 4).Draw(t, "requests") {
				requests = append(requests, a.draw(t))
			}
			step := rapid.SampledFrom([]int64{1, 1, 50, 1000, 20_000, 40_000_000}).Draw(t, "milliseconds")
			if rapid.IntRange(0, 3).Draw(t, "fork") == 0 {
				f := a.m.Fork()
				forks = append(forks, kept{f, f.Digest()})
			}
			a.apply(t, step, requests)
			b.apply(t, step, requests)
			if rapid.IntRange(0, 9).Draw(t, "isolate") == 0 {
				name := rapid.SampledFrom([]string{"default", "a", "b"}).Draw(t, "isolated")
				if d := a.m.state.database(name); d != nil {
					order := QuarantineOrder{Database: name, Number: d.id, Index: a.index + 1}
					a.m.Isolate(order)
					b.m.Isolate(order)
				}
			}
			checkDirectory(t, a.m.state)
		}
		if x, y := a.m.Fork().Digest(), b.m.Fork().Digest(); x != y {
			t.Fatalf("a machine that was forked has the digest %s, another one %s", x, y)
		}
		again := NewMachineWith(table)
		var snapshot bytes.Buffer
		if err := a.m.Fork().Write(&snapshot); err != nil {
			t.Fatal(err)
		}
		if err := again.Restore(&snapshot); err != nil {
			t.Fatal(err)
		}
		checkDirectory(t, again.state)
		if x, y := a.m.Fork().Digest(), again.Fork().Digest(); x != y {
			t.Fatalf("a machine has the digest %s, and its snapshot %s", x, y)
		}
		for _, k := range forks {
			if now := k.f.Digest(); now != k.digest {
				t.Fatalf("a fork has changed: %s, was %s", now, k.digest)
			}
		}
	})
}

// modelled is a machine whose entries the model draws.
type modelled struct {
	tenants
	numbers map[string]uint64
}

func newModelled(table *command.Table) *modelled {
	mo := &modelled{tenants{m: NewMachineWith(table), now: 1_790_000_000_000}, map[string]uint64{}}
	mo.m.state.raise(MaxLevel)
	return mo
}

func (mo *modelled) apply(t *rapid.T, step int64, requests []Request) {
	mo.index++
	mo.now += step
	e := Entry{Stamp: mo.now, Term: 1, Seed: [16]byte{byte(mo.index), byte(mo.index >> 8)}, Requests: requests}
	if _, err := mo.m.Apply(mo.index, 1, e.Encode()); err != nil {
		t.Fatal(err)
	}
}

// draw returns a request. Many are refused, which must change nothing either.
func (mo *modelled) draw(t *rapid.T) Request {
	name := rapid.SampledFrom([]string{"default", "a", "b", "c", "zz"}).Draw(t, "database")
	number := uint64(0)
	if d := mo.m.state.database(name); d != nil {
		number = d.id
	}
	in := func(code uint16, body []byte) Request {
		return Request{Code: InDatabase.Code, Body: InDatabase.Body(Owned{Database: name, Number: number, Code: code, Body: body})}
	}
	key, size := rapid.SampledFrom([]string{"k", "l", "m"}).Draw(t, "key"), rapid.IntRange(0, 3000).Draw(t, "size")
	switch rapid.IntRange(0, 13).Draw(t, "what") {
	case 0, 1:
		return Request{Code: CreateDatabase.Code, Body: CreateDatabase.Body(DatabaseTokens{Name: name, Standard: acl.DigestOf(name), ReadOnly: acl.DigestOf("ro " + name)})}
	case 2:
		return Request{Code: DeleteDatabase.Code, Body: DeleteDatabase.Body(DatabaseName{Name: name})}
	case 3:
		p := publicationOf("p", size)
		p.Given |= queue.GivenDelay
		p.Delay = rapid.SampledFrom([]int64{0, 10, 30_000}).Draw(t, "delay")
		return in(Publish.Code, Publish.Body(queue.Publications{Items: []queue.Publication{p}}))
	case 4:
		return Request{Code: Configure.Code, Body: Configure.Body(Settings{MaxMemory: rapid.SampledFrom([]int64{0, 10_000, 30_000}).Draw(t, "memory"), Policy: 1})}
	case 5:
		return Request{Code: ConfigureDatabase.Code, Body: ConfigureDatabase.Body(DatabaseSettings{Name: name, MaxMemory: rapid.SampledFrom([]int64{0, ShareOfMemory, 6000}).Draw(t, "own memory")})}
	case 6:
		return in(HoldExpiry.Code, HoldExpiry.Body(ExpiryHold{Millis: int64(rapid.IntRange(0, 3).Draw(t, "hold")) * 500}))
	case 7, 8:
		return Request{Code: Advance.Code, Body: Advance.Body(AdvanceLimit{Sweep: 3, Deliver: true, Term: 1, Claims: 3})}
	case 9:
		return Request{Code: Release.Code, Body: Release.Body(DatabaseName{Name: name})}
	case 10:
		run := (&pricing{}).run("wfr_" + key)
		return in(Submit.Code, Submit.Body(workflow.Submissions{Items: []workflow.Submission{run}}))
	}
	as := acl.Trusted(acl.DefaultName)
	as.DB = name
	row := [][]byte{[]byte("SET"), []byte(key), make([]byte, size)}
	switch rapid.IntRange(0, 3).Draw(t, "command") {
	case 0:
		row = append(row, []byte("PX"), []byte("700"))
	case 1:
		row = [][]byte{[]byte("EVAL"), []byte("redis.call('SET', KEYS[1], ARGV[1]); redis.call('MSG.PUBLISH', 'http://example.com', 'x')"), []byte("1"), []byte(key), []byte("v")}
	}
	return Request{Code: Exec.Code, Body: Exec.Body(Batch{As: as, Origin: command.OriginHTTP, Mode: Pipeline, Rows: [][][]byte{row, {[]byte("DEL"), []byte("none")}}})}
}

// checkDirectory compares the sums and the summaries of a state with what its databases are.
func checkDirectory(t *rapid.T, s *State) {
	if len(s.changing) > 0 {
		t.Fatalf("%d databases are open between two entries", len(s.changing))
	}
	var all sums
	joined := nothingDue()
	for d := s.first(nil); d != nil; d = s.after(d, nil) {
		n, now := s.count(d), s.summarize(d)
		all.add(&n, &sums{})
		joined.join(&now)
		if n != d.counted || now != d.summary {
			t.Fatalf("%s counts for %+v, and is %+v; its summary is %+v, and should be %+v", d.name, d.counted, n, d.summary, now)
		}
		checkNothingIsMissed(t, s, d)
		if d.name == DefaultDB && d != s.home {
			t.Fatal("the database default is another one")
		}
	}
	if all != s.sums || joined != *s.databases.Sum() {
		t.Fatalf("all come to %+v, want %+v; %+v, want %+v", s.sums, all, *s.databases.Sum(), joined)
	}
}

// saved returns what a store saves.
func saved(store interface {
	Save(emit func([]byte) error) error
}) string {
	var w wire.Writer
	_ = store.Save(func(record []byte) error { w.Bytes(record); return nil })
	return string(w.B)
}

// checkNothingIsMissed sweeps a copy of a database in which nothing is due, by its summary: then nothing changes.
func checkNothingIsMissed(t *rapid.T, s *State, d *database) {
	if d.messages == nil || d.quarantined != 0 {
		return
	}
	e := env.New(1<<40, s.clock, s.level, [16]byte{}, 0)
	messages, runs := d.messages.Fork(), d.workflows.Fork()
	if before := saved(messages); d.summary.messages > s.clock {
		if n := messages.Sweep(e, 1000); n > 0 || saved(messages) != before {
			t.Fatalf("of %s, %d records of messages are swept that are not due", d.name, n)
		}
	}
	if before := saved(runs); d.summary.runs > s.clock {
		if n := runs.Sweep(e, messages, 1000) + runs.SweepBulk(e, messages, 1000); n > 0 || saved(runs) != before {
			t.Fatalf("of %s, %d records of runs are swept that are not due", d.name, n)
		}
	}
	if before := saved(runs); d.summary.waits > s.clock && d.summary.traits&isUntrimmed == 0 {
		if runs.Advance(e, messages); saved(runs) != before {
			t.Fatalf("of %s, a wait ends that is not due", d.name)
		}
	}
}

// TestEmptyDatabaseIsSmall holds the memory of a database that was never used.
func TestEmptyDatabaseIsSmall(t *testing.T) {
	const n, most = 20_000, 800
	table := command.NewTable()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	te := newTenants(t, table, n)
	each := (heap() - before) / n
	t.Logf("%d bytes each", each)
	if each > most {
		t.Errorf("an empty database takes %d bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(te)
}

// TestDatabasesAreBounded fills a cluster with databases. Below the level at which it may have more than versions before allow, the
// bound is theirs.
func TestDatabasesAreBounded(t *testing.T) {
	te := newTenants(t, command.NewTable(), MaxDatabases)
	one := func() error {
		return te.apply(t, Request{Code: CreateDatabase.Code, Body: CreateDatabase.Body(DatabaseTokens{Name: "more", Standard: acl.DigestOf("a"), ReadOnly: acl.DigestOf("b")})})[0].Err
	}
	if err := one(); err != ErrDatabases {
		t.Errorf("one database more than %d: %v", MaxDatabases, err)
	}
	te.apply(t, Request{Code: DeleteDatabase.Code, Body: DeleteDatabase.Body(DatabaseName{Name: tenantName(7)})})
	if err := one(); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
	te = newTenants(t, command.NewTable(), formerMaxDatabases)
	te.m.state.level = env.Base
	if err := one(); err != ErrDatabases {
		t.Errorf("one database more than %d at level %d: %v", formerMaxDatabases, env.Base, err)
	}
	te.m.state.raise(env.Files)
	if err := one(); err != nil {
		t.Errorf("at level %d: %v", env.Files, err)
	}
}

// BenchmarkApplyManyDatabases measures an entry with 33 SETs in one database of many, and in as many databases.
func BenchmarkApplyManyDatabases(b *testing.B) {
	table := command.NewTable()
	for _, n := range []int{1, 1000, 100_000} {
		te := newTenants(b, table, n)
		run := func(name func() string) func(*testing.B) {
			return func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				var entries [64][]Request
				for i := range entries {
					for range 33 {
						entries[i] = append(entries[i], setIn(name(), fmt.Sprintf("key:%012d", r.IntN(1000)), "value"))
					}
				}
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					te.apply(b, entries[i%len(entries)]...)
					i++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*33), "ns/SET")
			}
		}
		b.Run(fmt.Sprintf("databases=%d/one", n), run(func() string { return DefaultDB }))
		r := rand.New(rand.NewPCG(3, 4))
		b.Run(fmt.Sprintf("databases=%d/any", n), run(func() string {
			if n == 1 {
				return DefaultDB
			}
			return tenantName(r.IntN(n - 1))
		}))
		b.Run(fmt.Sprintf("databases=%d/fork", n), func(b *testing.B) {
			one := []Request{setIn(DefaultDB, "key", "value")}
			b.ReportAllocs()
			for b.Loop() {
				te.m.Fork()
				te.apply(b, one...)
			}
		})
	}
}
