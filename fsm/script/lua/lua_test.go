package lua

import (
	"strings"
	"testing"
)

// state is one to run programs on, with what it is reset to.
type state struct {
	vm   *State
	mark Mark
}

func newState() *state {
	vm := NewState()
	return &state{vm, vm.Seal()}
}

// run runs a program under a budget and shows what it returned: its values joined by
// blanks, or the error.
func (s *state) run(t *testing.T, program string, b Budget) (shown string, stopped error) {
	t.Helper()
	p, err := Compile("@test", program)
	if err != nil {
		return "syntax: " + err.Error(), nil
	}
	s.vm.Reset(s.mark, b)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			shown = "error: " + r.Error()
		case *Stopped:
			shown, stopped = "stopped", r
		default:
			t.Errorf("%s: panic: %v", program, r)
		}
	}()
	s.vm.SetRoot()
	s.vm.Call(s.vm.Closure(p))
	var words []string
	for _, v := range s.vm.Results() {
		text, _ := s.vm.ToString(v).Text()
		words = append(words, text)
	}
	return strings.Join(words, " "), nil
}

var plenty = Budget{Steps: 1 << 30, Bytes: 1 << 30}

// TestPrograms has a program for each part of the language and what it answers.
func TestPrograms(t *testing.T) {
	s := newState()
	for _, c := range []struct{ program, want string }{
		// numbers and their texts
		{"return 1, 1/0, -1/0, 0/0", "1 inf -inf -nan"},
		{"return -0, 1/0", "-0 -inf"}, // one constant, as in Lua 5.1
		{"return 2^53, 1e15, 1e14, 0.1, 1/3", "9.007199254741e+15 1e+15 1e+14 0.1 0.33333333333333"},
		{"return 7 % 3, -7 % 3, 7 % -3, 5.5 % 2", "1 2 -2 1.5"},
		{"return '10' + 5, '0x10' * 1, ' 2 ' ^ 2, 10 .. 20", "15 16 4 1020"},
		{"return tonumber('z', 36), tonumber('1e1'), tonumber(''), tonumber('10', 2)", "35 10 nil 2"},
		{"return 3 == 3.0, 1 < 2, 'a' < 'b', 2 <= 2, not nil", "true true true true true"},
		// logic, precedence and assignment
		{"return 1 and 2, nil and 2, false or 3, nil or false", "2 nil 3 false"},
		{"return 2 + 3 * 4 ^ 2 / 2, -2 ^ 2, not 1 == 2, 'a' .. 'b' .. 'c' == 'abc'", "26 -4 false true"},
		{"local a, b, c = 1, 2 a, b = b, a return a, b, c", "2 1 nil"},
		{"local t = {} local i = 1 i, t[i] = i + 1, 20 return i, t[1], t[2]", "2 20 nil"},
		// control
		{"local n = 0 for i = 10, 1, -3 do n = n * 100 + i end return n", "10070401"},
		{"local n = 0 for i = 1, 3 do for j = 1, 3 do if j == 2 then break end n = n + 1 end end return n", "3"},
		{"local n = 0 repeat local done = n >= 3 n = n + 1 until done return n", "4"},
		{"local n = 5 while n > 0 do n = n - 2 if n < 2 then return n end end", "1"},
		// functions, closures and varargs
		{"local function f(...) return select('#', ...), ... end return f(nil, 2, nil)", "3 nil 2 nil"},
		{"local fs = {} for i = 1, 3 do fs[i] = function() i = i + 1 return i end end return fs[1](), fs[1](), fs[2]()", "2 3 3"},
		{"local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(15)", "610"},
		{"local function loop(n) if n == 0 then return 'end' end return loop(n - 1) end return loop(100000)", "end"},
		{"return (select(2, 'a', 'b', 'c'))", "b"},
		{"local t = {f = function(self, x) return self.n + x end, n = 2} return t:f(3), ('x'):rep(3)", "5 xxx"},
		// tables
		{"local t = {1, 2, nil, 4, n = 'x', [2.5] = 'y', 5} return #t, t.n, t[2.5], t[5]", "5 x y 5"},
		{"local t = {3, 1, 2} table.sort(t) return table.concat(t, ',') .. table.remove(t) .. #t", "1,2,332"},
		{"local t = {} for i = 1, 300 do t[i] = i end for i = 300, 1, -1 do t[i] = nil end return #t, next(t)", "0 nil"},
		{"local o = '' for k, v in pairs({'a', 'b', x = 1}) do o = o .. tostring(k) .. tostring(v) end return o", "1a2bx1"},
		{"local t = setmetatable({}, {__index = function(t, k) return k .. '!' end, __newindex = function(t, k, v) rawset(t, k, v * 2) end, __call = function(self, a) return a + 1 end}) t.a = 4 return t.a, t.b, t(1)", "8 b! 2"},
		{"local mt = {__add = function(a, b) return 'add' end, __eq = function() return true end, __lt = function() return true end, __concat = function() return 'cat' end, __unm = function() return 'neg' end} local a, b = setmetatable({}, mt), setmetatable({}, mt) return a + 1, a == b, a < b, a .. 'x', -a", "add true true cat neg"},
		// strings
		{"return ('hello'):sub(2, -2), ('x'):byte(), string.char(65, 66), ('aBc'):upper(), ('abc'):reverse(), #'a\\0b'", "ell 120 AB ABC cba 3"},
		{"return ('key=val'):match('(%w+)=(%w+)')", "key val"},
		{"return ('abc'):gsub('%w', '%0%0'), ('hello world'):find('o w'), ('a.b'):find('.', 1, true)", "aabbcc 5 2 2"},
		{"local o = '' for w in ('one two'):gmatch('%a+') do o = o .. w:len() end return o", "33"},
		{"return string.format('%5d|%-5s|%05.1f|%x|%q|%%|%g', 42, 'ab', 3.14159, 255, 'a\\n', 1e20)", "   42|ab   |003.1|ff|\"a\\\n\"|%|1e+20"},
		{"return ('THE (quick) fox'):find('%((%a+)%)'), ('x'):rep(0), ('[[x]]'):match('^%[%[(.*)%]%]$')", "5  x"},
		// errors
		{"return pcall(error, {1}) == false, select(2, pcall(error, 'x', 0))", "true x"},
		{"return pcall(function() local t = nil; return t.x end)", "false test:1: attempt to index local 't' (a nil value)"},
		{"return pcall(function() return 1 + {} end)", "false test:1: attempt to perform arithmetic on a table value"},
		{"return pcall(function() return {} < {} end)", "false test:1: attempt to compare two table values"},
		{"return xpcall(function() error('a') end, function(e) return e .. '?' end)", "false test:1: a?"},
		{"error({code = 7})", "error: (error object is a table value)"},
		{"local function f() return f() + 1 end return pcall(f)", "false test:1: stack overflow"},
		{"if", "syntax: test:1: unexpected symbol near '<eof>'"},
		{"x = = 1", "syntax: test:1: unexpected symbol near '='"},
		{"goto l", "syntax: test:1: '=' expected near 'l'"},
		// coroutines
		{"local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end) return co(1), co(10)", "2 20"},
		{"local co = coroutine.create(function() error('in') end) local ok, e = coroutine.resume(co) return ok, e, coroutine.status(co)", "false test:1: in dead"},
		{"return coroutine.running(), select(2, pcall(coroutine.yield))", "nil attempt to yield across metamethod/C-call boundary"},
		// what there is not
		{"return io, debug, package, os, require, dofile, loadfile, print", "nil nil nil nil nil nil nil nil"},
	} {
		if got, _ := s.run(t, c.program, plenty); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.program, got, c.want)
		}
	}
}

// TestBudgetIsSpentAlike runs programs without an end: each stops, after as many steps
// each time, and nothing of it is seen by the next.
func TestBudgetIsSpentAlike(t *testing.T) {
	s, other := newState(), newState()
	small := Budget{Steps: 100_000, Bytes: 1 << 20}
	for _, program := range []string{
		"while true do end", "repeat until false", "for i = 1, 1e9 do end", "local function f() return f() end return f()", "while true do pcall(error) end", "local s = 'x' while true do s = s .. s end",
		"local t = {} for i = 1, 1e9 do t[i] = {} end", "local t = {} for i = 1, 1e9 do t[i * 1.5] = 1 end", "return ('x'):rep(1e9)", "return ('a'):rep(5000):find('.-.-.-.-b')", "local t = {} for i = 1, 5000 do t[i] = i end while true do table.sort(t, function(a, b) return a > b end) end",
		"while true do coroutine.wrap(function() coroutine.yield() end)() end", "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end", "return string.format(('%99d'):rep(9000), 1)", "while true do ('x'):upper() end", "xpcall(function() while true do end end, function() while true do end end)",
	} {
		var left [3]Budget
		for i, on := range []*state{s, s, other} {
			if shown, err := on.run(t, program, small); err == nil && !strings.HasPrefix(shown, "error: ") {
				t.Errorf("%s was not stopped: %s", program, shown)
			}
			left[i] = on.vm.Budget
		}
		if left[0].Steps != left[1].Steps || left[0].Bytes != left[1].Bytes || left[0].Steps != left[2].Steps || left[0].Bytes != left[2].Bytes {
			t.Errorf("%s leaves %v", program, left)
		}
		if got, _ := s.run(t, "return #('x'):rep(3), type(leak)", plenty); got != "3 nil" {
			t.Errorf("after %s: %s", program, got)
		}
	}
}

// TestSealed tries to change what the next program would see.
func TestSealed(t *testing.T) {
	s := newState()
	for _, program := range []string{"string.rep = nil", "string.x = 1", "rawset(string, 'x', 1)", "getmetatable('').__index = nil", "table.insert(string, 1)", "setmetatable(string, {})", "_G.x = 1", "x = 1", "math.pi = 3"} {
		if got, _ := s.run(t, program, plenty); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %q", program, got)
		}
		if got, _ := s.run(t, "return ('a'):rep(2), math.pi > 3.1, string.x, rawget(_G, 'x')", plenty); got != "aa true nil nil" {
			t.Errorf("after %s: %s", program, got)
		}
	}
}

// TestNumbersTravel prints numbers and reads them back.
func TestNumbersTravel(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "1e3": "1000", "0x1F": "31", " 7 ": "7", ".5": "0.5", "5.": "5", "1e-3": "0.001", "123456789012345678": "1.2345678901235e+17", "-1e400": "-inf"} {
		n, ok := ParseNumber(text)
		if got := FormatNumber(n); !ok || got != want {
			t.Errorf("%q is %s, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", " ", "x", "1x", "1e", "0x", "1 2", "--1", "1_0", "0b1"} {
		if n, ok := ParseNumber(text); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
	for n, want := range map[float64]int64{1.9: 1, -1.9: -1, 0: 0, 1 << 53: 1 << 53} {
		if got := ToInt64(n); got != want {
			t.Errorf("%v as an integer is %d", n, got)
		}
	}
}
