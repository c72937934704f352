package command_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/script"
)

// programs are the programs of a file, which stand between lines of three hyphens.
func programs(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n---\n")
}

// evalStep is an EVAL of a program with one key and two arguments.
func evalStep(program string) *scripttest.Step {
	argv := [][]byte{[]byte("EVAL"), []byte(program), []byte("1"), []byte("k1"), []byte("a1"), []byte("42")}
	return &scripttest.Step{Argv: argv, Origin: command.RESP, As: acl.Trusted(acl.DefaultName), Text: program}
}

func (r *replica) words(now int64, words ...string) {
	r.t.Helper()
	s := &scripttest.Step{Origin: command.RESP, As: acl.Trusted(acl.DefaultName)}
	for _, w := range words {
		s.Argv = append(s.Argv, []byte(w))
	}
	if v := r.run(now, s); v.IsError() {
		r.t.Fatalf("%q: %s", words, v.Text())
	}
}

// growPrey makes the large values that hostile programs look for.
func (r *replica) growPrey(now int64) {
	for i := range 20 {
		list, set := []string{"RPUSH", "biglist"}, []string{"SADD", "bigset"}
		for j := range 1000 {
			list, set = append(list, strings.Repeat("e", j%50)), append(set, strings.Repeat("m", i+1)+string(rune('a'+j%26))+strings.Repeat("n", j/26))
		}
		r.words(now, list...)
		r.words(now, set...)
	}
}

// TestHostileScripts gives scripts that try to run for ever, to take all memory, to leave
// the sandbox or to see what differs between nodes to two replicas and one that is
// restored again and again: all answer alike and in time, and none is harmed.
func TestHostileScripts(t *testing.T) {
	a, b, now := newReplica(t), newReplica(t), int64(scripttest.Start)
	for _, r := range []*replica{a, b} {
		(&workbench{replica: r}).limit(0, 500_000) // many of them use all of it
		r.growPrey(now)
	}
	slowest, worst := time.Duration(0), ""
	for i, program := range programs(t, "testdata/hostile.txt") {
		s := evalStep(program)
		began := time.Now()
		va := a.run(now, s)
		if took := time.Since(began); took > slowest {
			slowest, worst = took, program
		}
		if vb := b.run(now, s); !va.Equal(vb) {
			t.Errorf("%s: replicas answer %.200s and %.200s", program, scripttest.Print(va), scripttest.Print(vb))
		}
		if i%4 == 0 {
			b.restore()
		}
		if a.digest() != b.digest() {
			t.Fatalf("%s: replicas differ", program)
		}
		if stop := strings.Contains(va.Text(), "script engine"); stop {
			t.Errorf("%s: %s", program, va.Text())
		}
	}
	t.Logf("the slowest took %v: %s", slowest, worst)
	if got := scripttest.Print(a.run(now, evalStep("return redis.call('PING')"))); got != "PONG" {
		t.Errorf("afterwards: %s", got)
	}
}

// BenchmarkHostileScripts tells how long the log stands still for each program that
// spends its budget: on average, and at worst.
func BenchmarkHostileScripts(b *testing.B) {
	for _, program := range programs(b, "testdata/hostile.txt") {
		b.Run(script.Digest(program)[:8], func(b *testing.B) {
			r := newReplica(b)
			r.growPrey(scripttest.Start)
			s := evalStep(program)
			slowest := time.Duration(0)
			for b.Loop() {
				began := time.Now()
				r.run(scripttest.Start, s)
				slowest = max(slowest, time.Since(began))
			}
			b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-at-worst")
		})
	}
}
