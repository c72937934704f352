package script

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// testSteps is a budget that loops use up in about 50 ms.
const testSteps = 2_000_000

// TestErrorsAtTheEndOfTheBudget ends scripts by errors of all types with every number of steps left from none on: each is
// answered, none ends the process.
func TestErrorsAtTheEndOfTheBudget(t *testing.T) {
	for _, program := range []string{"error(true)", "error(nil)", "error(0.1, 0)", "error({err = 0.1})", "error({})", "error('x')", "local x = nil + 1"} {
		e, failed, stopped := NewEngine(), 0, 0
		for steps := range int64(300) {
			b := lua.Budget{Steps: steps, Bytes: 1 << 20}
			v, stop := e.Eval(&Program{Name: "p", Body: program}, world{}, &b)
			switch {
			case stop != nil:
				stopped++
			case v.IsError():
				failed++
			default:
				t.Fatalf("%s with %d steps: %s", program, steps, v.Text())
			}
		}
		if failed == 0 || stopped == 0 {
			t.Errorf("%s: %d failed and %d stopped of 300: the budgets don't reach its error", program, failed, stopped)
		}
	}
}

// TestMemoryOfScriptsIsBounded runs programs that make more than they have a budget for, most of it in one step: each is
// stopped before it has made much more than that.
func TestMemoryOfScriptsIsBounded(t *testing.T) {
	const bytes = 8 << 20
	deep := "local function f(n) if n > 0 then return 1 + f(n - 1) end coroutine.yield() end "
	for name, program := range map[string]string{
		"words of a command": "local s = ('x'):rep(2^20) local t = {} for i = 1, 1000 do t[i] = s end redis.call('SET', unpack(t))",
		"words of a check":   "local s = ('x'):rep(2^20) local t = {} for i = 1, 1000 do t[i] = s end redis.acl_check_cmd('SET', unpack(t))",
		"quoted":             "local s = ('\\0'):rep(2^22) local t = {} for i = 1, 1000 do t[i] = s end return string.format(('%q'):rep(1000), unpack(t))",
		"formatted":          "local s = ('x'):rep(2^20) local t = {} for i = 1, 1000 do t[i] = s end return string.format(('%s'):rep(1000), unpack(t))",
		"joined":             "local s = ('x'):rep(2^20) local t = {} for i = 1, 1000 do t[i] = s end return table.concat(t)",
		"replaced":           "local s = ('x'):rep(2^20) return ('yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'):gsub('y', s)",
		"statuses":           "local s = {ok = ('\\n'):rep(2^20)} local t = {} for i = 1, 1000 do t[i] = s end return t",
		"errors":             "local s = {err = ('\\n'):rep(2^20) .. 'x'} local t = {} for i = 1, 1000 do t[i] = s end return t",
		"packed":             "local s = ('x'):rep(2^20) local t = {} for i = 1, 1000 do t[i] = s end return cmsgpack.pack(t)",
		"encoded":            "local s = ('\\1'):rep(2^21) local t = {} for i = 1, 1000 do t[i] = s end return cjson.encode(t)",
		"a structure":        "local s = ('x'):rep(2^20) local t = {} for i = 1, 1000 do t[i] = s end return struct.pack(('s'):rep(1000), unpack(t))",
		"compiled":           "local s = 'return ' .. ('{},'):rep(2^18) .. '1' local t = {} for i = 1, 1000 do t[i] = loadstring(s) end",
		"stacks":             deep + "local t = {} for i = 1, 900 do t[i] = coroutine.create(f) coroutine.resume(t[i], 10000) end",
		"wide stacks":        "local f = loadstring('local n = ... ' .. ('local x '):rep(190) .. ' coroutine.yield()') local t = {} for i = 1, 900 do t[i] = coroutine.create(function() local function g(n) " + strings.Repeat("local x ", 190) + " if n > 0 then return 1 + g(n - 1) end coroutine.yield() end g(1000) end) coroutine.resume(t[i]) end",
		"iterators":          "local t = {} for i = 1, 10^7 do t[1] = {t[1], ('x'):gmatch('x')} end",
		"modules":            "local t for i = 1, 10^7 do t = {t, cjson.new()} end",
	} {
		e := NewEngine()
		if v, _ := e.Eval(&Program{Name: "p", Body: "return 1"}, world{}, &lua.Budget{Steps: math.MaxInt32, Bytes: bytes}); v.IsError() {
			t.Fatal(v.Text())
		}
		before, during := made(), int64(0)
		b := lua.Budget{Reserve: 1 << 40, Bytes: bytes, Interrupted: func() bool { during = max(during, made()); return false }}
		_, stop := e.Eval(&Program{Name: "p", Body: program}, world{}, &b)
		during = max(during, made()) - before
		if stopped, ok := stop.(*lua.Stopped); !ok || !strings.Contains(stopped.What, "memory") {
			t.Errorf("%s: ended by %v", name, stop)
		}
		if during > 8*bytes {
			t.Errorf("%s: made %d MiB with a budget of %d", name, during>>20, bytes>>20)
		}
	}
}

// made returns the bytes of all objects ever allocated, in use or not, and of the stacks.
func made() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc + m.StackInuse)
}

// TestCompiledProgramsAreBounded: an engine keeps compiled programs of a bounded size, however many it runs, and finds again
// all that a database may call as known.
func TestCompiledProgramsAreBounded(t *testing.T) {
	e := NewEngine()
	body := func(i int) string { return fmt.Sprintf("return %d", i) + strings.Repeat(" + 1", 3000) }
	for i := range 150 {
		if _, err := e.compile(scriptSource, body(i)); err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, generation := range []map[programKey]*lua.Proto{e.programs.young, e.programs.old} {
			for _, p := range generation {
				size += p.Size()
			}
		}
		if size > maxPrograms {
			t.Fatalf("%d bytes are kept after %d programs", size, i+1)
		}
	}
	e, known := NewEngine(), map[int]*lua.Proto{}
	count := maxKnownBytes / len(body(1000))
	for round := range 3 {
		for i := range count {
			p, err := e.compile(scriptSource, body(i))
			if err != nil {
				t.Fatal(err)
			}
			if round > 0 && p != known[i] {
				t.Fatalf("program %d of %d was compiled again", i, count)
			}
			known[i] = p
		}
	}
}

// TestNewProgramsPayForCompiling: what a program costs that isn't known grows with its text, in proportion to the time that
// compiling it takes. A known one costs what its run does.
func TestNewProgramsPayForCompiling(t *testing.T) {
	body := "do return 1 end " + strings.Repeat("local function f() return a.b(1, 'x') end ", 100)
	cost := func(e *Engine, known bool) int64 {
		b := BudgetOf(testSteps)
		if err := e.Compile(body, known, &b); err != nil {
			t.Fatal(err)
		}
		return testSteps - b.Left()
	}
	if first, again := cost(NewEngine(), false), cost(NewEngine(), false); first < int64(len(body)) || first != again {
		t.Errorf("a new program of %d bytes costs %d steps, then %d", len(body), first, again)
	}
	if known := cost(NewEngine(), true); known != 0 {
		t.Errorf("a known program costs %d steps, want none", known)
	}
	b := BudgetOf(testSteps)
	if err := NewEngine().Compile(body+" )", false, &b); err == nil || testSteps-b.Left() < int64(len(body)) {
		t.Errorf("one that can't be compiled costs %d steps: %v", testSteps-b.Left(), err)
	}
}
