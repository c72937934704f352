package growth

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// nowhere is a host that knows no commands.
type nowhere struct{}

func (nowhere) Call([][]byte, *lua.Budget) reply.Value { return reply.OK() }
func (nowhere) Double(f float64) reply.Value           { return reply.Number(f) }
func (nowhere) Permitted([][]byte) (ok, known bool)    { return true, true }
func (nowhere) Uint64() uint64                         { return 7 }

// plenty is a budget that no linear reading of the largest input uses up.
var plenty = lua.Budget{Steps: 1 << 40, Bytes: 1 << 40}

// evaluated reads an argument by a program, as ARGV[1]. Hostile input may be refused.
func evaluated(program string, b lua.Budget, of func(n int) string) func(n int) func() {
	return func(n int) func() {
		e := script.NewEngine()
		p := &script.Program{Name: "growth", Body: program, Args: [][]byte{[]byte(of(n))}}
		return func() {
			left := b
			_, _ = e.Eval(p, nowhere{}, &left) // to the end, an error or the end of the budget
		}
	}
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// numbered is n bytes of texts that differ in a number.
func numbered(head, format, tail string, n int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String() + tail
}

// scriptFamilies are the decoders of the Lua libraries, with a budget that does not end
// them.
func scriptFamilies() []Family {
	var all []Family
	add := func(name, program string, of func(n int) string) {
		all = append(all, Family{name, evaluated(program, plenty, of)})
	}
	for name, of := range map[string]func(n int) string{
		"nested arrays":         func(n int) string { return filled("", "[", "", n) },
		"nested objects":        func(n int) string { return filled("", `{"a":`, "", n) },
		"arrays of arrays":      func(n int) string { return filled("[", strings.Repeat("[", 900)+strings.Repeat("]", 900)+",", "0]", n) },
		"numbers":               func(n int) string { return filled("[", "1,", "1]", n) },
		"digits":                func(n int) string { return filled("[", "1", "]", n) },
		"digits of a fraction":  func(n int) string { return filled("[0.", "0", "1]", n) },
		"digits of an exponent": func(n int) string { return filled("[1e", "9", "]", n) },
		"a long text":           func(n int) string { return filled(`["`, "a", `"]`, n) },
		"escapes":               func(n int) string { return filled(`["`, `\u00e9\n`, `"]`, n) },
		"halves of pairs":       func(n int) string { return filled(`["`, `\ud83d`, `"]`, n) },
		"one key":               func(n int) string { return filled("{", `"a":1,`, `"a":1}`, n) },
		"many keys":             func(n int) string { return numbered("{", `"%d":1,`, `"a":1}`, n) },
		"keys that are alike": func(n int) string {
			return numbered("{", `"`+strings.Repeat("a", 40)+"%06d"+strings.Repeat("a", 80)+`":1,`, `"a":1}`, n)
		},
		"blanks": func(n int) string { return filled("[", " ", "1]", n) },
	} {
		add("cjson: "+name, "return #tostring(cjson.decode(ARGV[1]))", of)
	}
	for name, of := range map[string]func(n int) string{
		"nested arrays": func(n int) string { return filled("", "\x91", "\x01", n) },
		"nested maps":   func(n int) string { return filled("", "\x81\x01", "\x01", n) },
		"one array": func(n int) string {
			return "\xdd\x00" + string([]byte{byte(n >> 16), byte(n >> 8), byte(n)}) + strings.Repeat("\x01", n)
		},
		"a promise of much": func(n int) string { return filled("\xdd\xff\xff\xff\xff", "\x01", "", n) },
		"many values":       func(n int) string { return filled("", "\xa1a", "", min(n, 14_000)) },
		"a long text": func(n int) string {
			return "\xdb\x00" + string([]byte{byte(n >> 16), byte(n >> 8), byte(n)}) + strings.Repeat("a", n)
		},
		"a map with one key": func(n int) string {
			return "\xdf\x00" + string([]byte{byte(n / 2 >> 16), byte(n / 2 >> 8), byte(n / 2)}) + strings.Repeat("\x01\x01", n/2)
		},
		"arrays within arrays": func(n int) string { return filled("\xdd\xff\xff\xff\xff", "\x91\x91\x91\x01", "", n) },
	} {
		add("cmsgpack: "+name, "return #tostring(cmsgpack.unpack(ARGV[1]))", of)
	}
	for name, of := range map[string]func(n int) string{
		"many options":   func(n int) string { return filled("", "b", "", n) },
		"empty options":  func(n int) string { return filled("", "i0", "", n) },
		"changes":        func(n int) string { return filled("", "<>!1", "", n) },
		"wide integers":  func(n int) string { return filled("", "i32", "", n) },
		"texts of zero":  func(n int) string { return filled("", "c0", "", n) },
		"padding":        func(n int) string { return filled("!8", "bd", "", n) },
		"a long number":  func(n int) string { return filled("c", "1", "", n) },
		"spaces and end": func(n int) string { return filled("", " ", "q", n) },
	} {
		add("struct.pack: "+name, "local t={} for i=1,#ARGV[1] do t[i]=1 end return struct.pack(ARGV[1],unpack(t,1,7000))", of)
		add("struct.size: "+name, "return struct.size(ARGV[1])", of)
	}
	slices.SortFunc(all, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// patternFamilies are patterns of Lua. Those that backtrack are ended by their budget,
// here that of every script: their time stops growing.
func patternFamilies() []Family {
	var all []Family
	texts := map[string]func(n int) string{"a": func(n int) string { return strings.Repeat("a", n) }, "(": func(n int) string { return strings.Repeat("(", n) }}
	for _, c := range []struct{ call, text string }{
		{"find(ARGV[1], 'a-b')", "a"},
		{"find(ARGV[1], '^a*a*a*b')", "a"},
		{"find(ARGV[1], '.-.-.-.-b')", "a"},
		{"find(ARGV[1], '%b()')", "("},
		{"find(ARGV[1], '%f[b]')", "a"},
		{"find(ARGV[1], '(a*)%1b')", "a"},
		{"find(ARGV[1], '[^b]+$')", "a"},
		{"gsub(ARGV[1], 'a', 'b')", "a"},
		{"gsub(ARGV[1], '', 'b')", "a"},
		{"gsub(ARGV[1], 'a*a*b', '')", "a"},
		{"find(('a'):rep(#ARGV[1]), ARGV[1]..'b')", "a"},
		{"find('a', ARGV[1])", "("},
		{"find(ARGV[1], ARGV[1], 1, true)", "a"},
		{"find(ARGV[1], ('a'):rep(#ARGV[1]/2)..'b', 1, true)", "a"},
		{"match(ARGV[1], '['..ARGV[1]..']*b')", "a"},
		{"format('%'..ARGV[1]:sub(1,1)..ARGV[1])", "a"},
	} {
		all = append(all, Family{"Lua: string." + c.call, evaluated("return (string."+c.call+")", script.BudgetOf(2_000_000), texts[c.text])})
	}
	return all
}
