package command_test

import (
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

// luaDifferences are programs of testdata/lua.txt that we answer unlike Redis 7.0 on
// purpose.
var luaDifferences = map[string]string{
	"redis.call('set','x',123456789012345678) return redis.call('get','x')": "whole numbers of 64 bits are passed as integers",
	"return string.dump(function() end)":                                    "there is no bytecode of Lua's",
	"return os.time":                                                        "os.clock is there, as since 7.2",
}

// TestFidelityOfLua runs the programs of testdata/lua.txt here and in a real server.
func TestFidelityOfLua(t *testing.T) {
	r, ours := startRedis(t), newReplica(t)
	(&workbench{replica: ours}).limit(0, command.DefaultMaxScript)
	r.setClock(scripttest.Start)
	for _, program := range programs(t, "testdata/lua.txt") {
		s := evalStep(program)
		we, they := scripttest.Print(ours.run(scripttest.Start, s)), scripttest.Print(r.do(s.Argv...))
		if _, explained := luaDifferences[program]; (we != they) != explained {
			t.Errorf("%s\nRedis %s:\n%s\nwe:\n%s", program, r.version, they, we)
		}
	}
}

// randomPrograms is the number of random programs that are compared.
const randomPrograms = 5000

// TestFidelityOfRandomLua compares what random expressions give: numbers as texts and
// back, formats, patterns, tables, JSON, MessagePack.
func TestFidelityOfRandomLua(t *testing.T) {
	r, ours := startRedis(t), newReplica(t)
	r.setClock(scripttest.Start)
	g := commandtest.Lua{Rand: rand.New(rand.NewPCG(3, 5))}
	for i := range randomPrograms {
		program := g.Shown()
		s := evalStep(program)
		we, they := scripttest.Print(ours.run(scripttest.Start, s)), scripttest.Print(r.do(s.Argv...))
		if we != they {
			t.Errorf("program %d: %s\nRedis %s:\n%s\nwe:\n%s", i, program, r.version, they, we)
		}
	}
}
