package script

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/script/lua"
	"github.com/trireme-dev/trireme/internal/testcpu"
)

// scale runs programs in a state with all libraries and tells what they are charged and what they take.
type scale struct {
	t  *testing.T
	in *interpreter
}

// newScale is a state for scripts, or one of a library that is being loaded.
func newScale(t *testing.T, loads bool) *scale {
	s := &scale{t: t, in: newInterpreter(loads)}
	if loads {
		s.in.loading = &loading{callbacks: map[string]lua.Value{}}
	}
	return s
}

// begin gives the state a budget and returns the function that a recipe makes for a size.
func (s *scale) begin(recipe string, n int, b lua.Budget) lua.Value {
	s.t.Helper()
	p, err := lua.Compile("=recipe", "local n = ... "+recipe)
	if err != nil {
		s.t.Fatalf("%s: %v", recipe, err)
	}
	s.in.begin(world{}, b)
	s.call(recipe, s.in.vm.Closure(p), lua.Int(n))
	if r := s.in.vm.Results(); len(r) == 1 && r[0].IsFunction() {
		return r[0]
	}
	s.t.Fatalf("%s: returns no function", recipe)
	return lua.Nil
}

func (s *scale) call(recipe string, f lua.Value, args ...lua.Value) {
	s.t.Helper()
	defer func() {
		if r := recover(); r != nil {
			s.t.Fatalf("%s: %v", recipe, r)
		}
	}()
	s.in.vm.Call(f, args...)
}

// fits reports whether a recipe runs with a size: some of what it makes is limited, and some takes more than its size says.
func (s *scale) fits(recipe string, n int) (fits bool) {
	p, err := lua.Compile("=recipe", "local n = ... "+recipe)
	if err != nil {
		s.t.Fatalf("%s: %v", recipe, err)
	}
	defer func() { fits = recover() == nil }()
	in := newScale(s.t, s.in.loading != nil).in
	in.begin(world{}, lua.Budget{Steps: 10_000_000, Bytes: 1 << 30})
	in.vm.Call(in.vm.Closure(p), lua.Int(n))
	in.vm.Call(in.vm.Results()[0])
	return true
}

// enough is the least duration of a measurement.
const enough = 200 * time.Microsecond

// rate returns the steps that a function is charged for each microsecond.
func (s *scale) rate(recipe string, f lua.Value) float64 {
	began, before := testcpu.Used(s.t), s.in.vm.Left()
	for batch := 1; ; batch *= 2 {
		for range batch {
			s.call(recipe, f)
		}
		if took := testcpu.Used(s.t) - began; took >= enough {
			return float64(before-s.in.vm.Left()) * 1000 / float64(took)
		}
	}
}

// plainLoop is the measure of everything else.
const plainLoop = "return function() local s = 0 for i = 1, 1000 do s = s + i % 7 end return s end"

// What anything may take for a step, in times of what the plain loop takes, and how often it is tried, because a
// processor that others use is slow now and then.
const (
	mostTimes = 10
	tries     = 25
)

var unlimited = lua.Budget{Steps: 1 << 50, Bytes: 1 << 50}

// times returns the time of a step of a recipe divided by that of one of the plain loop, at best of some tries: it stops at
// the first that is good enough.
func (s *scale) times(recipe string, n int) float64 {
	loops := newScale(s.t, false)
	loop, f := loops.begin(plainLoop, 0, unlimited), s.begin(recipe, n, unlimited)
	best := 0.0
	for i := range tries {
		if times := loops.rate(plainLoop, loop) / s.rate(recipe, f); i == 0 || times < best {
			best = times
		}
		if best <= mostTimes {
			break
		}
	}
	return best
}

// check runs a recipe at each of its sizes.
func (s *scale) check(name string, r recipe) {
	n := r.n
	if n == 0 {
		n = 1000
	}
	least := n
	for n = testcpu.Scale(n); n > least && !s.fits(r.lua, 4*n); {
		n /= 2
	}
	for _, n := range []int{n, 2 * n, 4 * n} {
		if times := s.times(r.lua, n); times > mostTimes {
			s.t.Errorf("%s: with n = %d a step takes %.0f times as long as in a plain loop: too little is charged for\n%s", name, n, times, r.lua)
			return
		}
	}
}

// functions are all library functions of a state by their names.
func (s *scale) functions() []string {
	names := map[string]bool{}
	var walk func(t *lua.Table, prefix string)
	walk = func(t *lua.Table, prefix string) {
		for k, v, at := t.After(0); !k.IsNil(); k, v, at = t.After(at) {
			name, _ := k.Text()
			switch {
			case v.IsFunction():
				names[prefix+name] = true
			case v.Table() != nil && prefix == "" && name != "_G" && name != "server":
				walk(v.Table(), name+".")
			}
		}
	}
	walk(s.in.vm.Globals, "")
	return slices.Sorted(maps.Keys(names))
}

// TestLibraryFunctionsArePaidFor gives each library function more and more of everything it can be given, and holds what it
// is charged against the time that it takes. A function without a recipe fails.
func TestLibraryFunctionsArePaidFor(t *testing.T) {
	scripts, loads := newScale(t, false), newScale(t, true)
	seen := map[string]bool{}
	for _, s := range []*scale{scripts, loads} {
		for _, name := range s.functions() {
			if seen[name] {
				continue
			}
			seen[name] = true
			if len(recipes[name]) == 0 {
				t.Errorf("%s: no recipe measures what it is charged", name)
			}
			for _, r := range recipes[name] {
				s.check(name, r)
			}
		}
	}
	for name := range recipes {
		if !seen[name] {
			t.Errorf("%s: there is no such function", name)
		}
	}
}

// TestOperationsArePaidFor is TestLibraryFunctionsArePaidFor of the operators, which it finds by compiling all texts that may
// be one, and of what statements do.
func TestOperationsArePaidFor(t *testing.T) {
	s := newScale(t, false)
	for _, name := range operators() {
		if len(operations[name]) == 0 {
			t.Errorf("%s: no recipe measures what it is charged", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		for _, r := range operations[name] {
			s.check(name, r)
		}
	}
}

// operators are all operators of the language, between or before names of operands.
func operators() (names []string) {
	valid := func(expression string) bool {
		_, err := lua.Compile("=x", "local a, b return "+expression)
		return err == nil
	}
	words := []string{"and", "or", "not", "div", "mod", "xor", ".."}
	const signs = "!#$%&*+-/<=>?@\\^`|~"
	for _, c := range signs {
		words = append(words, string(c))
		for _, d := range signs {
			if both := string(c) + string(d); !valid(string(d) + " b") { // that would be two of them, or a comment
				words = append(words, both)
			}
		}
	}
	for _, w := range words {
		if valid("a " + w + " b") {
			names = append(names, "a "+w+" b")
		}
		if valid(w + " a") {
			names = append(names, w+" a")
		}
	}
	return names
}
