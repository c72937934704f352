package script

import (
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// jsonConfig holds the settings of cjson that a script may change. It lasts as long as the script.
type jsonConfig struct {
	sparseConvert           bool
	sparseRatio, sparseSafe int
	encodeDepth             int
	decodeDepth             int
	precision               int
	keepBuffer              bool
	encodeInvalid           string // off, on or null
	decodeInvalid           bool
}

// moduleCost is the price in steps of making a module without its functions.
const moduleCost = 200

// deepest bounds nesting whatever a script sets.
const deepest = 10_000

func newJSONConfig() jsonConfig {
	return jsonConfig{sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000, precision: 14, keepBuffer: true, encodeInvalid: "off", decodeInvalid: true}
}

// jsonLibrary makes a cjson module with the settings at c.
func jsonLibrary(vm *lua.State, c *jsonConfig) *lua.Table {
	t := vm.NewTable(0, 0)
	vm.Register(t, []lua.Named{
		lua.Define("encode", lua.Metered, func(vm *lua.State, args []lua.Value) {
			one(vm, args)
			e := encoder{vm: vm, config: c, out: vm.NewBuffer()}
			e.value(args[0], 0)
			vm.Return(e.out.String())
		}),
		lua.Define("decode", lua.Metered, func(vm *lua.State, args []lua.Value) {
			one(vm, args)
			vm.Return(decodeJSON(vm, c, vm.CheckText(args, 1)))
		}),
		lua.Define("encode_sparse_array", lua.Constant, c.sparse),
		lua.Define("encode_max_depth", lua.Constant, integerOption(&c.encodeDepth, 1, math.MaxInt32)),
		lua.Define("decode_max_depth", lua.Constant, integerOption(&c.decodeDepth, 1, math.MaxInt32)),
		lua.Define("encode_number_precision", lua.Constant, integerOption(&c.precision, 1, 14)),
		lua.Define("encode_keep_buffer", lua.Constant, booleanOption(&c.keepBuffer)),
		lua.Define("encode_invalid_numbers", lua.Constant, c.invalid),
		lua.Define("decode_invalid_numbers", lua.Constant, booleanOption(&c.decodeInvalid)),
		lua.Define("new", lua.Metered, func(vm *lua.State, _ []lua.Value) {
			vm.Step(moduleCost)
			config := newJSONConfig()
			vm.Return(lua.TableValue(jsonLibrary(vm, &config)))
		}),
	})
	t.SetField("null", lua.Null)
	t.SetField("_NAME", lua.String("cjson"))
	t.SetField("_VERSION", lua.String("2.1.0"))
	return t
}

func one(vm *lua.State, args []lua.Value) {
	if len(args) != 1 {
		vm.ArgError(1, "expected 1 argument")
	}
}

func atMost(vm *lua.State, args []lua.Value, n int) {
	if len(args) > n {
		vm.ArgError(n+1, "found too many arguments")
	}
}

// given reports whether argument n, counted from 1, is there and not nil.
func given(args []lua.Value, n int) bool { return n <= len(args) && !args[n-1].IsNil() }

func setInteger(vm *lua.State, args []lua.Value, n int, setting *int, low, high int) lua.Value {
	if given(args, n) {
		v := vm.CheckInt(args, n)
		if v < low || v > high {
			vm.ArgError(n, "expected integer between "+strconv.Itoa(low)+" and "+strconv.Itoa(high))
		}
		*setting = v
	}
	return lua.Int(*setting)
}

func setBoolean(vm *lua.State, args []lua.Value, n int, setting *bool) lua.Value {
	if given(args, n) {
		v, ok := args[n-1].Bool()
		if !ok {
			v = option(vm, args, n, "off", "on") == "on"
		}
		*setting = v
	}
	return lua.Bool(*setting)
}

func option(vm *lua.State, args []lua.Value, n int, words ...string) string {
	text := vm.CheckText(args, n)
	for _, w := range words {
		if w == text {
			return w
		}
	}
	vm.ArgError(n, "invalid option '"+text+"'")
	return ""
}

func integerOption(setting *int, low, high int) lua.GoFunc {
	return func(vm *lua.State, args []lua.Value) {
		atMost(vm, args, 1)
		vm.Return(setInteger(vm, args, 1, setting, low, high))
	}
}

func booleanOption(setting *bool) lua.GoFunc {
	return func(vm *lua.State, args []lua.Value) {
		atMost(vm, args, 1)
		vm.Return(setBoolean(vm, args, 1, setting))
	}
}

func (c *jsonConfig) sparse(vm *lua.State, args []lua.Value) {
	atMost(vm, args, 3)
	vm.Return(setBoolean(vm, args, 1, &c.sparseConvert), setInteger(vm, args, 2, &c.sparseRatio, 0, math.MaxInt32), setInteger(vm, args, 3, &c.sparseSafe, 0, math.MaxInt32))
}

func (c *jsonConfig) invalid(vm *lua.State, args []lua.Value) {
	atMost(vm, args, 1)
	if given(args, 1) {
		if v, ok := args[0].Bool(); ok {
			c.encodeInvalid = map[bool]string{false: "off", true: "on"}[v]
		} else {
			c.encodeInvalid = option(vm, args, 1, "off", "on", "null")
		}
	}
	switch c.encodeInvalid {
	case "null":
		vm.Return(lua.String("null"))
	default:
		vm.Return(lua.Bool(c.encodeInvalid == "on"))
	}
}

// encoder writes one value as JSON.
type encoder struct {
	vm     *lua.State
	config *jsonConfig
	out    *lua.Buffer
}

func (e *encoder) write(s string) { e.out.Write(s) }

func (e *encoder) refuse(v lua.Value, reason string) {
	e.vm.Errorf("Cannot serialise " + v.Type() + ": " + reason)
}

func (e *encoder) value(v lua.Value, depth int) {
	e.vm.Step(2)
	if n, ok := v.Number(); ok {
		e.number(v, n)
		return
	}
	if s, ok := v.Text(); ok {
		e.text(s)
		return
	}
	if b, ok := v.Bool(); ok {
		e.write(strconv.FormatBool(b))
		return
	}
	switch t := v.Table(); {
	case t != nil:
		e.table(v, t, depth+1)
	case v.IsNil(), v == lua.Null:
		e.write("null")
	default:
		e.refuse(v, "type not supported")
	}
}

func (e *encoder) number(v lua.Value, n float64) {
	if n != n || math.IsInf(n, 0) {
		switch {
		case e.config.encodeInvalid == "off":
			e.refuse(v, "must not be NaN or Inf")
		case e.config.encodeInvalid == "null":
			e.write("null")
			return
		case n != n:
			e.write("nan")
			return
		}
	}
	e.vm.Formatting(n, e.config.precision)
	var text [32]byte
	b := lua.AppendNumber(text[:0], n, e.config.precision)
	e.write(unsafe.String(unsafe.SliceData(b), len(b)))
}

func (e *encoder) table(v lua.Value, t *lua.Table, depth int) {
	if depth > e.config.encodeDepth || depth > deepest {
		e.vm.Errorf("Cannot serialise, excessive nesting (" + strconv.Itoa(depth) + ")")
	}
	n := e.arrayLength(v, t)
	if n <= 0 {
		e.object(t, depth)
		return
	}
	e.write("[")
	for i := 1; i <= n; i++ {
		if i > 1 {
			e.write(",")
		}
		e.value(t.Index(i), depth)
	}
	e.write("]")
}

// arrayLength is the largest index of a table that has no other keys; -1 for others.
func (e *encoder) arrayLength(v lua.Value, t *lua.Table) int {
	most, items := 0.0, 0
	for k, _, at := t.After(0); !k.IsNil(); k, _, at = t.After(at) {
		e.vm.Step(1)
		n, ok := k.Number()
		if !ok || n < 1 || math.Floor(n) != n {
			return -1
		}
		most = max(most, n)
		items++
	}
	if c := e.config; c.sparseRatio > 0 && most > float64(items*c.sparseRatio) && most > float64(c.sparseSafe) {
		if !c.sparseConvert {
			e.refuse(v, "excessively sparse array")
		}
		return -1
	}
	return int(min(most, math.MaxInt32))
}

func (e *encoder) object(t *lua.Table, depth int) {
	e.write("{")
	first := true
	for k, v, at := t.After(0); !k.IsNil(); k, v, at = t.After(at) {
		if !first {
			e.write(",")
		}
		first = false
		if n, ok := k.Number(); ok {
			e.write(`"`)
			e.number(k, n)
			e.write(`":`)
		} else if s, ok := k.Text(); ok {
			e.text(s)
			e.write(":")
		} else {
			e.refuse(k, "table key must be a number or string")
		}
		e.value(v, depth)
	}
	e.write("}")
}

// escapes are the characters that have a name in JSON, escapeNames the names, and escaped what can't stand for itself.
const (
	escapes     = "\"\\/\b\f\n\r\t"
	escapeNames = `"\/bfnrt`
)

var escaped = [256]bool{127: true}

func init() {
	for c := range ' ' {
		escaped[c] = true
	}
	for i := range len(escapes) {
		escaped[escapes[i]] = true
	}
}

func (e *encoder) text(s string) {
	e.vm.Step(len(s) / bytesPerLineStep)
	e.out.Byte('"')
	plain := 0 // what stands before it is written
	for i := range len(s) {
		c := s[i]
		if !escaped[c] {
			continue
		}
		e.vm.Step(1)
		at := strings.IndexByte(escapes, c)
		e.write(s[plain:i])
		plain = i + 1
		if at >= 0 {
			e.out.Byte('\\')
			e.out.Byte(escapeNames[at])
			continue
		}
		e.write(`\u00`)
		e.out.Byte("0123456789abcdef"[c>>4])
		e.out.Byte("0123456789abcdef"[c&15])
	}
	e.write(s[plain:])
	e.out.Byte('"')
}
