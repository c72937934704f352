package script

import (
	"strings"
	"testing"
)

// TestStepsDontDependOnEarlierScripts: a script uses as many steps on an engine that is new as on one that other
// scripts have run on, also after one whose first call takes more of the stack than any other.
func TestStepsDontDependOnEarlierScripts(t *testing.T) {
	wide := "local function f(...) return select('#', ...) end return f(unpack({" + strings.Repeat("1,", 300) + "}))"
	var manyLocals strings.Builder
	for range 190 {
		manyLocals.WriteString("local a = 1 ")
	}
	programs := []string{
		"return 1", "local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(100)", wide, manyLocals.String(),
		"local co = coroutine and coroutine.wrap(function() return 1 end) return 1", "error('x')", "return cjson.encode({1, 2, 3})",
	}
	spent := func(e *Engine, program string) int64 {
		b := BudgetOf(1_000_000)
		if _, stop := e.Eval(&Program{Name: "p", Body: program, Args: [][]byte{[]byte("x")}}, world{}, &b); stop != nil {
			t.Fatalf("%.60s: %v", program, stop)
		}
		return 1_000_000 - b.Left()
	}
	for _, first := range programs {
		used := NewEngine()
		spent(used, first)
		for _, program := range programs {
			if fresh, got := spent(NewEngine(), program), spent(used, program); got != fresh {
				t.Errorf("%.60s takes %d steps after %.60s, %d on a new engine", program, got, first, fresh)
			}
		}
	}
}
