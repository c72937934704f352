package script

import (
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// world is a host that knows no commands.
type world struct{}

func (world) Call([][]byte, *lua.Budget) reply.Value { return reply.OK() }
func (world) Double(f float64) reply.Value           { return reply.Number(f) }
func (world) Permitted([][]byte) (ok, known bool)    { return true, true }
func (world) Uint64() uint64                         { return 7 }

// run evaluates a program with one argument.
func run(t *testing.T, e *Engine, program, arg string) (reply.Value, error) {
	t.Helper()
	b := BudgetOf(testSteps)
	return e.Eval(&Program{Name: "fuzz", Body: program, Args: [][]byte{[]byte(arg)}}, world{}, &b)
}

// bounded fails if a program with a short argument breaks the engine or takes long.
func bounded(t *testing.T, e *Engine, program, arg string) reply.Value {
	t.Helper()
	began := time.Now()
	v, stop := run(t, e, program, arg)
	if _, spent := stop.(*lua.Stopped); stop != nil && !spent {
		t.Fatalf("%q: %v", arg, stop)
	}
	if took := time.Since(began); took > time.Minute {
		t.Fatalf("%q took %v", arg, took)
	}
	return v
}

// FuzzJSON decodes any text. What is read is written in a form that reads the same.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "null", "[1,2.5,-3e5]", `{"a":[{"b":null}],"c":"\\u00e9\\ud83d\\ude00"}`, "[[[[", "nan", "0x1p4", "+5", `"\\`, "{\"a\":1,}", "1 2"} {
		f.Add(s)
	}
	const program = `local ok, v = pcall(cjson.decode, ARGV[1])
if not ok then return 'refused' end
cjson.encode_invalid_numbers(true) cjson.encode_sparse_array(true)
local text = cjson.encode(v)
local again = cjson.encode(cjson.decode(text))
return text == again and 'same' or {text, again}`
	e := NewEngine()
	f.Fuzz(func(t *testing.T, text string) {
		v := bounded(t, e, program, text)
		if s := v.Text(); !v.IsError() && s != "refused" && s != "same" {
			if second := v.Elems(); len(second[0].Text()) == len(second[1].Text()) {
				return // the order of keys may differ after they were read in another order
			}
			t.Fatalf("%q: %v", text, v.Elems())
		}
	})
}

// FuzzMessagePack unpacks any bytes. What is read is packed in a form that reads the
// same.
func FuzzMessagePack(f *testing.F) {
	for _, s := range []string{"", "\x01", "\x93\x01\x02\x03", "\x81\xa1a\xc0", "\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", "\x91\x91\x91", "\xd9"} {
		f.Add(s)
	}
	const program = `local r = {pcall(cmsgpack.unpack, ARGV[1])}
if not r[1] or #r ~= 2 or type(r[2]) == 'nil' then return 'refused' end
local packed = cmsgpack.pack(r[2])
return #packed == #cmsgpack.pack(cmsgpack.unpack(packed)) and 'same' or packed`
	e := NewEngine()
	f.Fuzz(func(t *testing.T, text string) {
		v := bounded(t, e, program, text)
		if s := v.Text(); !v.IsError() && s != "refused" && s != "same" {
			t.Fatalf("%q became %q", text, s)
		}
	})
}

// FuzzProgram compiles and runs any text, and restores the interpreter after it.
func FuzzProgram(f *testing.F) {
	for _, s := range []string{"return 1", "local t = {} t[1]=2 return t", "while true do end", "return ('a'):rep(10):gsub('a', '%0%0')", "return (((", "goto x", "return coroutine.wrap(function() coroutine.yield(1) end)()", "return struct.pack('i4', 1)"} {
		f.Add(s)
	}
	e := NewEngine()
	f.Fuzz(func(t *testing.T, program string) {
		first := bounded(t, e, program, "")
		if second := bounded(t, e, program, ""); !first.Equal(second) {
			t.Fatalf("%q answers %v, then %v", program, first, second)
		}
	})
}

// FuzzPattern matches any pattern on any text.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a", "(a*)%1", "[^a-c%d]+$", "%b()", "%f[%w]", "()", "[]", "%", "(((", ".-.-.-b"} {
		f.Add(s, "aaa(b)c1")
	}
	e := NewEngine()
	f.Fuzz(func(t *testing.T, pattern, text string) {
		bounded(t, e, "local p = ARGV[1] return {pcall(string.find, "+quoted(text)+", p)}", pattern)
		bounded(t, e, "local p = ARGV[1] return {pcall(string.gsub, "+quoted(text)+", p, '%0')}", pattern)
	})
}

// quoted is a text as a literal of a program.
func quoted(s string) string {
	b := []byte{'"'}
	for i := range len(s) {
		b = append(b, '\\', '0'+s[i]/100, '0'+s[i]/10%10, '0'+s[i]%10)
	}
	return string(append(b, '"'))
}
