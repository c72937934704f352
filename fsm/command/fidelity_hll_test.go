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
