package fsm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// coldPair drives a machine whose large strings are on a disk beside one that has them in memory.
type coldPair struct {
	t         testing.TB
	l         *log
	cold, hot *fsm.Machine
	d         *disk
	walk      fsm.ColdWalk
}

func newColdPair(t testing.TB, seed uint64) *coldPair {
	p := &coldPair{t: t, l: newLog(seed), cold: fsm.NewMachine(), hot: fsm.NewMachine(), d: &disk{}}
	p.cold.KeepPayloads(p.d)
	p.apply(fsm.Request{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})})
	return p
}

func (p *coldPair) apply(q fsm.Request) (cold, hot []fsm.Outcome) {
	p.t.Helper()
	data := p.l.entry(q)
	cold, err := p.cold.Apply(p.l.index, p.l.term, data)
	if err != nil {
		p.t.Fatal(err)
	}
	if hot, err = p.hot.Apply(p.l.index, p.l.term, data); err != nil {
		p.t.Fatal(err)
	}
	return cold, hot
}

// cool has all large strings of the one machine on the disk, and their bytes nowhere else.
func (p *coldPair) cool() {
	p.t.Helper()
	for round := false; !round; {
		done, err := p.cold.ShiftValues(&p.walk, fsm.Shifting{Length: payload.Apart, Idle: -1, Keys: 10_000})
		if err != nil {
			p.t.Fatal(err)
		}
		round = done.Round
	}
	p.d.forget()
}

// both runs a command as a read and as an entry on both machines: they answer alike.
func (p *coldPair) both(argv [][]byte) {
	p.t.Helper()
	p.cool()
	read := func(m *fsm.Machine) (v reply.Value) {
		exec := func(view *fsm.View) { v = view.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, argv) }
		if !m.ViewBriefly(env.Time{}, [16]byte{1}, exec) {
			m.ViewFork(env.Time{}, [16]byte{1}, exec)
		}
		return v
	}
	if x, y := read(p.cold), read(p.hot); !x.Equal(y) {
		p.t.Fatalf("a read of %.200q answers %.200v, from the disk %.200v", argv, y, x)
	}
	p.cool()
	body := fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginInternal, Mode: fsm.Pipeline, Rows: [][][]byte{argv}})
	x, y := p.apply(fsm.Request{Code: fsm.Exec.Code, Body: body})
	for i := range x {
		v, w := x[i].Value.(fsm.Results).Values, y[i].Value.(fsm.Results).Values
		for j := range v {
			if !v[j].Equal(w[j]) {
				p.t.Fatalf("%.200q answers %.200v, from the disk %.200v", argv, w[j], v[j])
			}
		}
	}
}

// same compares the machines.
func (p *coldPair) same() {
	p.t.Helper()
	p.cool()
	reads := p.d.reads
	x, y := p.cold.Fork(), p.hot.Fork()
	if x.Digest() != y.Digest() {
		p.t.Fatal("the digest depends on where strings are")
	}
	if p.d.reads != reads {
		p.t.Fatal("a digest reads the disk")
	}
	if usedBytes(p.cold) != usedBytes(p.hot) {
		p.t.Fatalf("%d bytes are used, %d if they are on the disk", usedBytes(p.hot), usedBytes(p.cold))
	}
}

// restored checks that a snapshot that names cold strings, and one with their bytes, give the same state, cold strings in the
// first one stay on the disk, and a backup of it is that of the other machine.
func (p *coldPair) restored() {
	p.t.Helper()
	p.cool()
	f := p.cold.Fork()
	before, _ := coldValues(p.cold)
	reads := p.d.reads
	var named, whole, other bytes.Buffer
	if err := f.WriteReferences(&named, p.d); err != nil {
		p.t.Fatal(err)
	}
	if p.d.reads != reads {
		p.t.Error("a snapshot reads the disk")
	}
	if err := f.Write(&whole); err != nil {
		p.t.Fatal(err)
	}
	if err := p.hot.Fork().Write(&other); err != nil || !bytes.Equal(whole.Bytes(), other.Bytes()) {
		p.t.Error("the snapshot with bytes depends on where strings are", err)
	}
	for _, b := range []*bytes.Buffer{&named, &whole} {
		again := fsm.NewMachine()
		again.KeepPayloads(p.d)
		if err := again.Restore(b); err != nil {
			p.t.Fatal(err)
		}
		if again.Fork().Digest() != f.Digest() || usedBytes(again) != usedBytes(p.cold) {
			p.t.Error("the state differs after a restore")
		}
		if n, _ := coldValues(again); b == &named && n != before {
			p.t.Errorf("%d strings are on the disk after a restore, not %d", n, before)
		}
	}
	twoKeepers{&deliverer{t: p.t.(*testing.T), a: p.cold, b: p.hot}, p.d}.backedUp()
}

func coldValues(m *fsm.Machine) (number, length int64) {
	m.View(0, [16]byte{}, func(v *fsm.View) { number, length = v.ColdValues() })
	return number, length
}

// large makes some words of a command large, the same ones for the same generator.
func large(r *rand.Rand, argv [][]byte) [][]byte {
	for i, w := range argv {
		if s := string(w); i > 1 && (s == "hello" || s == "a" || strings.HasPrefix(s, "xxxx")) {
			argv[i] = []byte(strings.Repeat(fmt.Sprint(r.IntN(10)), 1000+r.IntN(3000)))
		}
	}
	return argv
}

// TestColdValuesAnswerAlike: random commands answer alike whether large strings are in memory or on the disk, as reads and as
// entries, and leave the same state.
func TestColdValuesAnswerAlike(t *testing.T) {
	p := newColdPair(t, 71)
	r := rand.New(rand.NewPCG(71, 1))
	for i := range 3000 {
		p.both(large(r, commandtest.Random(r)))
		if i%500 == 0 {
			p.same()
		}
	}
	p.same()
	p.restored()
}

// TestEveryCommandOnColdValues calls each command of the table with cold strings under all its keys, and with several words
// behind them.
func TestEveryCommandOnColdValues(t *testing.T) {
	p := newColdPair(t, 73)
	fills := []string{"0", "1", "-1", "GET", "100", "value"}
	n := 0
	for _, c := range p.cold.Table().Rows() {
		if len(c.Keys.Positions(make([][]byte, 8))) == 0 && c.Keys.Find == nil {
			continue
		}
		least := max(c.Arity, -c.Arity)
		for words := least; words <= least+2 && c.Takes(words); words++ {
			for k, fill := range fills {
				for i := range 4 {
					p.both(words2("SET", fmt.Sprint("k", i), strings.Repeat(string(rune('a'+i)), 1500+i)))
				}
				argv := strings.Fields(c.Name)
				for len(argv) < words {
					argv = append(argv, fills[(k+len(argv))%len(fills)])
				}
				argv[len(argv)-1] = fill
				all := words2(argv...)
				for i, at := range c.Keys.Positions(all) {
					all[at] = []byte(fmt.Sprint("k", i%4))
				}
				p.both(all)
				n++
			}
		}
	}
	p.same()
	p.restored()
	if n < 1000 {
		t.Errorf("%d calls only", n)
	}
}

func words2(list ...string) (argv [][]byte) {
	for _, w := range list {
		argv = append(argv, []byte(w))
	}
	return argv
}

// TestColdValuesReturn: a string that is read is in memory again, one that was changed meanwhile stays what it is, and metadata
// are told without reading the disk.
func TestColdValuesReturn(t *testing.T) {
	p := newColdPair(t, 79)
	p.both(words2("SET", "k", strings.Repeat("v", 5000)))
	p.cool()
	if n, length := coldValues(p.cold); n != 1 || length != 5000 {
		t.Fatalf("%d strings of %d bytes are on the disk", n, length)
	}
	ask := func(line string) {
		p.cold.View(0, [16]byte{}, func(v *fsm.View) { get(v, strings.Fields(line)...) })
	}
	reads := p.d.reads
	for _, line := range []string{"STRLEN k", "TYPE k", "TTL k", "EXISTS k", "OBJECT ENCODING k", "MEMORY USAGE k", "SCAN 0"} {
		if ask(line); p.d.reads != reads {
			t.Errorf("%s reads the disk", line)
		}
	}
	if ask("GETRANGE k 0 9"); p.d.reads != reads+1 {
		t.Errorf("GETRANGE reads the disk %d times", p.d.reads-reads)
	}
	if ask("GET k"); p.d.reads != reads+1 {
		t.Errorf("the second read has read the disk %d times", p.d.reads-reads)
	}
	done, err := p.cold.ShiftValues(&p.walk, fsm.Shifting{Length: payload.Apart, Idle: 1 << 40, Back: true, Keys: 100})
	if n, _ := coldValues(p.cold); err != nil || done.Back != 1 || n != 0 {
		t.Errorf("%+v: %d strings are on the disk: %v", done, n, err)
	}
	p.same()
}

// TestWalkSkipsDatabases has many databases, of which one has a large string: a walk over all of them looks at that one only.
func TestWalkSkipsDatabases(t *testing.T) {
	p := newColdPair(t, 1)
	for i := range 300 {
		p.apply(fsm.Request{Code: fsm.CreateDatabase.Code, Body: fsm.CreateDatabase.Body(tokensOf(fmt.Sprintf("tenant-%03d", i)))})
	}
	set := func(database string, length int) {
		argv := [][]byte{[]byte("SET"), []byte("k"), bytes.Repeat([]byte("v"), length)}
		p.apply(fsm.Request{Code: fsm.Exec.Code, Body: fsm.Exec.Body(fsm.Batch{As: acl.Identity{DB: database, By: acl.ByProcess, User: acl.DefaultName}, Origin: command.OriginInternal, Mode: fsm.Pipeline, Rows: [][][]byte{argv}})})
	}
	for i := range 100 {
		set(fmt.Sprintf("tenant-%03d", i), payload.Apart-1)
	}
	set("tenant-250", payload.Apart)
	done, err := p.cold.ShiftValues(&p.walk, fsm.Shifting{Length: payload.Apart, Idle: -1, Keys: 10})
	if err != nil || !done.Round || done.Gone != 1 {
		t.Fatalf("a walk over 301 databases that may look at ten keys did %+v, %v; want its end, and the one string gone", done, err)
	}
	set("tenant-250", 1)
	if done, err = p.cold.ShiftValues(&p.walk, fsm.Shifting{Length: payload.Apart, Idle: -1, Keys: 1}); err != nil || !done.Round {
		t.Fatalf("a walk when the last large string is gone did %+v, %v; want its end at once", done, err)
	}
}

// TestWritesWinOverShifts: a string that is changed, removed or made anew while its bytes go to the disk is what the write has made of it.
func TestWritesWinOverShifts(t *testing.T) {
	p := newColdPair(t, 101)
	large := strings.Repeat("v", 3000)
	for i, line := range []string{"SET k %s", "APPEND k %s", "DEL k", "RENAME k other", "EXPIRE k 100", "SETRANGE k 9 %s"} {
		p.apply(setting("k", large))
		if strings.Contains(line, "%") {
			line = fmt.Sprintf(line, strings.Repeat(fmt.Sprint(i), 2000))
		}
		p.d.during = func() {
			p.d.during = nil
			body := fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: [][][]byte{words(line)}})
			p.apply(fsm.Request{Code: fsm.Exec.Code, Body: body})
		}
		p.cool()
		for _, read := range []string{"GET k", "TTL k", "STRLEN k", "GET other"} {
			p.both(words(read))
		}
		p.same()
	}
}

// ways are the requests by which a command comes into the log.
func ways(row [][]byte) map[string]fsm.Request {
	list := make([]string, len(row))
	for i, word := range row {
		list[i] = string(word)
	}
	text, _ := json.Marshal([][]string{list}) // texts have no errors
	step := fsm.Submit.Body(workflow.Submissions{Items: []workflow.Submission{{Kind: workflow.StepSubmission, RunID: "r"}, {Kind: workflow.StepSubmission, RunID: "r", Commit: text}}})
	owned := fsm.Owned{Database: acl.DefaultName, Code: fsm.Submit.Code, Body: step}
	return map[string]fsm.Request{
		"a command":             {Code: fsm.Exec.Code, Body: fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: [][][]byte{row}})},
		"a step":                {Code: fsm.Submit.Code, Body: step},
		"a step in a database":  {Code: fsm.InDatabase.Code, Body: fsm.InDatabase.Body(owned)},
		"an answer to delivery": {Code: fsm.FinishCommit.Code, Body: fsm.FinishCommit.Body(queue.Answer{Commit: text})},
	}
}

// TestWritesNameWhatTheyRead: what the commands of an entry read of cold strings is told before it is applied, and no more, whichever way
// they came.
func TestWritesNameWhatTheyRead(t *testing.T) {
	p := newColdPair(t, 83)
	p.both(words2("SET", "k", strings.Repeat("v", 5000)))
	for line, want := range map[string]int{
		"APPEND k x": 1, "SETRANGE k 5 x": 1, "GETSET k x": 1, "SET k x GET": 1, "GETDEL k": 1, "BITOP NOT other k": 1, "INCR k": 1,
		"SET k x": 0, "DEL k": 0, "EXPIRE k 5": 0, "RENAME k other": 0, "MSET k x": 0, "APPEND none x": 0,
	} { // unordered: none is applied
		p.cool()
		for way, q := range ways(words(line)) {
			e := fsm.Entry{Stamp: 1, Term: 1, Requests: []fsm.Request{q}}
			list, bytes := p.cold.Lacking(e.Encode(), 1<<20)
			if got := len(list); got != want || bytes != 5000*got {
				t.Errorf("%s by %s reads %d strings of %d bytes, want %d", line, way, got, bytes, want)
			}
		}
	}
}

// TestLackingIsBounded: a read that asks for n, 2n and 4n cold strings has no more of them be read than its budget allows before it
// goes on on a fork, and an entry names no more of them to be read ahead than there is room for.
func TestLackingIsBounded(t *testing.T) {
	const most, size, room = 1 << 10, 2000, 100_000
	p := newColdPair(t, 89)
	for i := range most {
		p.apply(setting(fmt.Sprint("k", i), strings.Repeat("v", size)))
	}
	p.cool()
	for _, n := range []int{50, most / 4, most / 2, most} {
		argv := words2("MGET")
		for i := range n {
			argv = append(argv, fmt.Appendf(nil, "k%d", i))
		}
		p.d.forget()
		p.d.reads = 0
		brief := p.cold.ViewBriefly(env.Time{}, [16]byte{1}, func(view *fsm.View) {
			view.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, argv)
		})
		if reads := p.d.reads; reads > 200 || brief != (n == 50) {
			t.Errorf("MGET of %d: %d strings were read for a bounded read, which did (%t)", n, reads, brief)
		}
		row := append(words2("BITOP", "OR", "to"), argv[1:]...)
		body := fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: [][][]byte{row}})
		e := fsm.Entry{Stamp: 1, Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: body}}}
		p.d.forget()
		if list, bytes := p.cold.Lacking(e.Encode(), room); bytes > room+4<<10 || len(list) > room/(4<<10)+1 || len(list) < min(n, room/(4<<10)) {
			t.Errorf("%d strings of %d bytes are read ahead for an entry that names %d", len(list), bytes, n)
		}
	}
}

// setting is a request that sets a key.
func setting(key, value string) fsm.Request {
	row := words2("SET", key, value)
	return fsm.Request{Code: fsm.Exec.Code, Body: fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: [][][]byte{row}})}
}

// BenchmarkLacking measures what an entry of 800 SETs costs before it is applied while any string is cold.
func BenchmarkLacking(b *testing.B) {
	for _, line := range []string{"SET k%d value", "INCR k%d"} {
		b.Run(line[:3], func(b *testing.B) {
			p := newColdPair(b, 97)
			p.apply(setting("large", strings.Repeat("v", 5000)))
			p.cool()
			var rows [][][]byte
			for i := range 800 {
				rows = append(rows, words(fmt.Sprintf(line, i)))
			}
			e := fsm.Entry{Stamp: 1, Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: rows})}}}
			data := e.Encode()
			for b.Loop() {
				p.cold.Lacking(data, 1<<20)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/command")
		})
	}
}
