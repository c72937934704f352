package command_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

// TestFidelityOfHyperLogLogs counts the same elements on both sides, up to many more
// than the sparse form holds, and compares the bytes and the estimates.
func TestFidelityOfHyperLogLogs(t *testing.T) {
	r, ours := startRedis(t), newReplica(t)
	random := rand.New(rand.NewPCG(3, 5))
	both := func(words ...string) {
		t.Helper()
		argv := make([][]byte, len(words))
		for i, w := range words {
			argv[i] = []byte(w)
		}
		s := &scripttest.Step{Argv: argv, Origin: command.RESP, As: acl.Trusted(acl.DefaultName)}
		if we, they := s.Shown(ours.run(scripttest.Start, s)), s.Shown(r.do(argv...)); we != they {
			t.Fatalf("%.60q: we %.400s, Redis %.400s", words, we, they)
		}
	}
	compare := func(key string) {
		t.Helper()
		both("PFCOUNT", key)
		both("PFCOUNT", key, "nothing")
		both("SETRANGE", key, "8", "\x00\x00\x00\x00\x00\x00\x00\x80") // Redis keeps its estimate here
		both("GET", key)
	}
	added := 0
	for _, upTo := range []int{10, 100, 300, 1000, 1500, 2000, 3000, 10_000, 100_000, 300_000} {
		for added < upTo {
			words := []string{"PFADD", fmt.Sprint("h", added%3)}
			for range min(1+random.IntN(200), upTo-added) {
				words = append(words, fmt.Sprintf("%x", random.Uint64()>>random.IntN(40)))
				added++
			}
			both(words...)
		}
		for i := range 3 {
			compare(fmt.Sprint("h", i))
		}
		both("PFCOUNT", "h0", "h1", "h2")
		both("PFMERGE", fmt.Sprint("merged", upTo), "h0", "h1")
		compare(fmt.Sprint("merged", upTo))
	}
}

// TestFidelityOfBrokenHyperLogLogs damages sketches of both forms in many ways, and compares what each command says of them,
// alone, beside a sound one and beside a key of another type, and what it leaves.
func TestFidelityOfBrokenHyperLogLogs(t *testing.T) {
	r, ours := startRedis(t), newReplica(t)
	random := rand.New(rand.NewPCG(7, 9))
	do := func(words ...string) (we, they string) {
		argv := make([][]byte, len(words))
		for i, w := range words {
			argv[i] = []byte(w)
		}
		s := stepOf(argv)
		return s.Shown(ours.run(scripttest.Start, s)), s.Shown(r.do(argv...))
	}
	do("PFADD", "small", "a", "b", "c", "d", "e")
	do("PFADD", "ok", "x", "y")
	do("LPUSH", "z", "1")
	do("PFADD", "packed", "a", "b", "c")
	do("PFDEBUG", "TODENSE", "packed")
	sound := []string{r.do([]byte("GET"), []byte("small")).Text(), r.do([]byte("GET"), []byte("packed")).Text()}
	commands := [][]string{{"PFADD", "b", "q"}, {"PFADD", "b"}, {"PFCOUNT", "b"}, {"PFCOUNT", "b", "ok"}, {"PFCOUNT", "ok", "b"}, {"PFCOUNT", "b", "z"}, {"PFCOUNT", "z", "b"},
		{"PFMERGE", "d", "b"}, {"PFMERGE", "b"}, {"PFMERGE", "b", "ok"}, {"PFMERGE", "d", "ok", "b"}, {"PFMERGE", "d", "b", "packed"}, {"PFMERGE", "b", "z"}, {"PFMERGE", "z", "b"}, {"PFMERGE", "d", "b", "z"}, {"PFMERGE", "d", "z", "b"},
		{"PFDEBUG", "ENCODING", "b"}, {"PFDEBUG", "DECODE", "b"}, {"PFDEBUG", "TODENSE", "b"}, {"PFDEBUG", "GETREG", "b"}, {"PFDEBUG", "NONE", "b"}}
	for i := range 120 {
		value := []byte(sound[min(i%5, 1)^1])
		switch random.IntN(4) {
		case 0: // one byte of the registers or the header
			value[random.IntN(len(value))] = byte(random.IntN(256))
		case 1:
			value = value[:random.IntN(len(value)+1)]
		case 2:
			value = append(value, byte(random.IntN(256)))
		default:
			value[4+random.IntN(12)] = byte(random.IntN(3))
		}
		for _, c := range commands {
			do("SET", "b", string(value))
			do("DEL", "d")
			if we, they := do(c...); we != they {
				t.Errorf("%q, %.60q: we %.200s, Redis %.200s", c, value, we, they)
			}
			for _, key := range []string{"b", "d"} {
				do("SETRANGE", key, "8", "\x00\x00\x00\x00\x00\x00\x00\x80") // Redis keeps its estimate here
				if we, they := do("GET", key); we != they {
					t.Errorf("%q, %.60q leaves %s as %.200s, Redis as %.200s", c, value, key, we, they)
				}
			}
		}
	}
}
