package script

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// packDepth is the greatest depth of packed tables; nil stands for deeper ones.
const packDepth = 16

// unpackDepth is the greatest depth of unpacked data.
const unpackDepth = 7900

func messagePackLibrary(vm *lua.State) *lua.Table {
	t := vm.NewTable(0, 0)
	vm.Register(t, []lua.Named{
		lua.Define("pack", lua.Metered, packValues),
		lua.Define("unpack", lua.Metered, func(vm *lua.State, args []lua.Value) { unpackValues(vm, args, 0, 0) }),
		lua.Define("unpack_one", lua.Metered, func(vm *lua.State, args []lua.Value) { unpackValues(vm, args, 1, vm.OptInt(args, 2, 0)) }),
		lua.Define("unpack_limit", lua.Metered, func(vm *lua.State, args []lua.Value) {
			unpackValues(vm, args, vm.CheckInt(args, 2), vm.OptInt(args, 3, 0))
		}),
	})
	t.SetField("_NAME", lua.String("cmsgpack"))
	t.SetField("_VERSION", lua.String("lua-cmsgpack 0.4.0"))
	t.SetField("_COPYRIGHT", lua.String("Copyright (C) 2012, Salvatore Sanfilippo"))
	t.SetField("_DESCRIPTION", lua.String("MessagePack C implementation for Lua"))
	return t
}

func packValues(vm *lua.State, args []lua.Value) {
	if len(args) == 0 {
		vm.ArgError(0, "MessagePack pack needs input.")
	}
	p := packer{vm: vm}
	for _, v := range args {
		p.value(v, 0)
	}
	vm.Return(vm.String(string(p.out)))
}

type packer struct {
	vm  *lua.State
	out []byte
}

func (p *packer) value(v lua.Value, depth int) {
	p.vm.Step(2)
	p.vm.Alloc(9)
	if s, ok := v.Text(); ok {
		p.vm.Alloc(len(s))
		p.size(len(s), 32, 0xa0, 0xd9, 0xda)
		p.out = append(p.out, s...)
		return
	}
	if n, ok := v.Number(); ok {
		p.number(n)
		return
	}
	if b, ok := v.Bool(); ok {
		p.out = append(p.out, map[bool]byte{false: 0xc2, true: 0xc3}[b])
		return
	}
	if t := v.Table(); t != nil && depth < packDepth {
		p.table(t, depth)
		return
	}
	p.out = append(p.out, 0xc0)
}

// size writes the head of something that has a length: with the length in the byte
// itself below small, else in one (if of8 is not 0), two or four bytes behind it.
func (p *packer) size(n, small int, fixed, of8, of16 byte) {
	switch {
	case n < small:
		p.out = append(p.out, fixed|byte(n))
	case n <= math.MaxUint8 && of8 != 0:
		p.out = append(p.out, of8, byte(n))
	case n <= math.MaxUint16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, of16), uint16(n))
	default:
		p.out = binary.BigEndian.AppendUint32(append(p.out, of16+1), uint32(n))
	}
}

func (p *packer) number(n float64) {
	if i := lua.ToInt64(n); float64(i) == n && !(n == 0x1p63) {
		p.integer(i)
		return
	}
	if f := float32(n); float64(f) == n {
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xca), math.Float32bits(f))
		return
	}
	p.out = binary.BigEndian.AppendUint64(append(p.out, 0xcb), math.Float64bits(n))
}

func (p *packer) integer(n int64) {
	switch {
	case n >= -32 && n <= 127:
		p.out = append(p.out, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		p.out = append(p.out, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xce), uint32(n))
	case n >= 0:
		p.out = binary.BigEndian.AppendUint64(append(p.out, 0xcf), uint64(n))
	case n >= math.MinInt8:
		p.out = append(p.out, 0xd0, byte(n))
	case n >= math.MinInt16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, 0xd1), uint16(n))
	case n >= math.MinInt32:
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xd2), uint32(n))
	default:
		p.out = binary.BigEndian.AppendUint64(append(p.out, 0xd3), uint64(n))
	}
}

func (p *packer) table(t *lua.Table, depth int) {
	count, array := 0, true
	most := 0.0
	for k, _, at := t.After(0); !k.IsNil(); k, _, at = t.After(at) {
		n, ok := k.Number()
		array = array && ok && n >= 1 && n == math.Floor(n)
		most = max(most, n)
		count++
	}
	p.vm.Step(count)
	if array && most == float64(count) {
		p.size(count, 16, 0x90, 0, 0xdc)
		for i := 1; i <= count; i++ {
			p.value(t.Index(i), depth+1)
		}
		return
	}
	p.size(count, 16, 0x80, 0, 0xde)
	for k, v, at := t.After(0); !k.IsNil(); k, v, at = t.After(at) {
		p.value(k, depth+1)
		p.value(v, depth+1)
	}
}

// unpackValues returns up to limit values of a text from an offset, all for 0; with a
// limit the first result is the offset of the next value, -1 at the end.
func unpackValues(vm *lua.State, args []lua.Value, limit, offset int) {
	s := vm.CheckText(args, 1)
	if limit < 0 || offset < 0 {
		vm.Errorf("Invalid request to unpack with offset of " + strconv.Itoa(offset) + " and limit of " + strconv.Itoa(len(s)) + ".")
	}
	if offset > len(s) {
		vm.Errorf("Start offset " + strconv.Itoa(offset) + " greater than input length " + strconv.Itoa(len(s)) + ".")
	}
	u := unpacker{vm: vm, in: s[offset:]}
	var values []lua.Value
	if limit > 0 {
		values = append(values, lua.Nil)
	}
	for n := 0; len(u.in) > 0 && (limit == 0 || n < limit); n++ {
		if n >= unpackDepth {
			vm.Errorf("stack overflow (too many values to unpack)")
		}
		values = append(values, u.value(0))
	}
	if limit > 0 {
		values[0] = lua.Int(-1)
		if len(u.in) > 0 {
			values[0] = lua.Int(len(s) - len(u.in))
		}
	}
	vm.Return(values...)
}

type unpacker struct {
	vm *lua.State
	in string
}

// take cuts n bytes off the input.
func (u *unpacker) take(n int) string {
	if n > len(u.in) {
		u.vm.Errorf("Missing bytes in input.")
	}
	s := u.in[:n]
	u.in = u.in[n:]
	return s
}

// unsigned is a number of n bytes.
func (u *unpacker) unsigned(n int) (v uint64) {
	for _, c := range []byte(u.take(n)) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (u *unpacker) text(n int) lua.Value {
	s := u.take(n)
	u.vm.Alloc(n)
	return u.vm.Copy(s)
}

func (u *unpacker) value(depth int) lua.Value {
	u.vm.Step(2)
	u.vm.Step(2)
	switch c := u.take(1)[0]; {
	case c < 0x80:
		return lua.Int(int(c))
	case c < 0x90:
		return u.table(int(c&15), depth)
	case c < 0xa0:
		return u.list(int(c&15), depth)
	case c < 0xc0:
		return u.text(int(c & 31))
	case c >= 0xe0:
		return lua.Int(int(int8(c)))
	default:
		return u.typed(c, depth)
	}
}

// typed reads what stands behind a byte that only says a type.
func (u *unpacker) typed(c byte, depth int) lua.Value {
	switch c {
	case 0xc0:
		return lua.Nil
	case 0xc2, 0xc3:
		return lua.Bool(c == 0xc3)
	case 0xca:
		return lua.Number(float64(math.Float32frombits(uint32(u.unsigned(4)))))
	case 0xcb:
		return lua.Number(math.Float64frombits(u.unsigned(8)))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return lua.Number(float64(u.unsigned(1 << (c - 0xcc))))
	case 0xd0:
		return lua.Number(float64(int8(u.unsigned(1))))
	case 0xd1:
		return lua.Number(float64(int16(u.unsigned(2))))
	case 0xd2:
		return lua.Number(float64(int32(u.unsigned(4))))
	case 0xd3:
		return lua.Number(float64(int64(u.unsigned(8))))
	case 0xd9, 0xda, 0xdb:
		return u.text(int(u.unsigned(1 << (c - 0xd9))))
	case 0xdc, 0xdd:
		return u.list(int(u.unsigned(2<<(c-0xdc))), depth)
	case 0xde, 0xdf:
		return u.table(int(u.unsigned(2<<(c-0xde))), depth)
	}
	u.vm.Errorf("Bad data format in input.")
	return lua.Nil
}

func (u *unpacker) nest(depth int) {
	if depth >= unpackDepth {
		u.vm.Errorf("stack overflow (in function mp_decode_to_lua_array)")
	}
}

func (u *unpacker) list(n, depth int) lua.Value {
	u.nest(depth)
	t := u.vm.NewTable(0, 0)
	for i := 1; i <= n; i++ {
		t.SetIndex(i, u.value(depth+1))
	}
	return lua.TableValue(t)
}

func (u *unpacker) table(n, depth int) lua.Value {
	u.nest(depth)
	t := u.vm.NewTable(0, 0)
	for range n {
		key := u.value(depth + 1)
		v := u.value(depth + 1)
		if key.IsNil() {
			u.vm.Throw(u.vm.String("table index is nil"))
		}
		if x, ok := key.Number(); ok && x != x {
			u.vm.Throw(u.vm.String("table index is NaN"))
		}
		t.Set(key, v)
	}
	return lua.TableValue(t)
}
