package command_test

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

// BenchmarkScripts tells what scripts of common kinds cost an apply.
func BenchmarkScripts(b *testing.B) {
	for name, program := range map[string]string{
		"nothing": "return 1",
		"get":     "return redis.call('GET', KEYS[1])",
		"counter": "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return n",
		"loop":    "local s = 0 for i = 1, 10000 do s = s + i % 7 end return s",
		"strings": "local t = {} for i = 1, 200 do t[#t + 1] = 'k' .. i end return #table.concat(t, ',')",
		"json":    "return cjson.encode(cjson.decode('{\"a\":[1,2,3],\"b\":{\"c\":\"text\"}}'))",
	} {
		b.Run(name, func(b *testing.B) {
			r, s := newReplica(b), evalStep(program)
			for b.Loop() {
				r.apply(scripttest.Start, s, 0, s.Argv)
			}
		})
	}
}
