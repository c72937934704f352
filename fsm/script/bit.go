package script

import (
	"math"
	"math/bits"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// bitLibrary is the operations on 32 bits.
func bitLibrary(vm *lua.State) *lua.Table {
	t := vm.NewTable(0, 0)
	fold := func(name string, op func(a, b uint32) uint32) lua.Named {
		return lua.Define(name, lua.EachArgument, func(vm *lua.State, args []lua.Value) {
			n := bitArg(vm, args, 1)
			for i := 2; i <= len(args); i++ {
				n = op(n, bitArg(vm, args, i))
			}
			returnBits(vm, n)
		})
	}
	shift := func(name string, op func(a uint32, n int) uint32) lua.Named {
		return lua.Define(name, lua.Constant, func(vm *lua.State, args []lua.Value) {
			returnBits(vm, op(bitArg(vm, args, 1), int(bitArg(vm, args, 2)&31)))
		})
	}
	vm.Register(t, []lua.Named{
		fold("band", func(a, b uint32) uint32 { return a & b }),
		fold("bor", func(a, b uint32) uint32 { return a | b }),
		fold("bxor", func(a, b uint32) uint32 { return a ^ b }),
		shift("lshift", func(a uint32, n int) uint32 { return a << n }),
		shift("rshift", func(a uint32, n int) uint32 { return a >> n }),
		shift("arshift", func(a uint32, n int) uint32 { return uint32(int32(a) >> n) }),
		shift("rol", func(a uint32, n int) uint32 { return bits.RotateLeft32(a, n) }),
		shift("ror", func(a uint32, n int) uint32 { return bits.RotateLeft32(a, -n) }),
		lua.Define("tobit", lua.Constant, func(vm *lua.State, args []lua.Value) { returnBits(vm, bitArg(vm, args, 1)) }),
		lua.Define("bnot", lua.Constant, func(vm *lua.State, args []lua.Value) { returnBits(vm, ^bitArg(vm, args, 1)) }),
		lua.Define("bswap", lua.Constant, func(vm *lua.State, args []lua.Value) { returnBits(vm, bits.ReverseBytes32(bitArg(vm, args, 1))) }),
		lua.Define("tohex", lua.Constant, toHex),
	})
	return t
}

// bitArg is the lowest 32 bits of a number rounded to the nearest integer, as adding a
// large constant and looking at the bits gives it.
func bitArg(vm *lua.State, args []lua.Value, n int) uint32 {
	x := vm.CheckNumber(args, n)
	const shifted = 0x1p52 + 0x1p51
	return uint32(math.Float64bits(float64(x + shifted)))
}

func returnBits(vm *lua.State, n uint32) { vm.Return(lua.Number(float64(int32(n)))) }

func toHex(vm *lua.State, args []lua.Value) {
	b, n := bitArg(vm, args, 1), int32(8)
	if len(args) > 1 {
		n = int32(bitArg(vm, args, 2))
	}
	digits := "0123456789abcdef"
	if n < 0 {
		n, digits = -n, ascii.Upper(digits)
	}
	if n > 8 || n < 0 {
		n = 8
	}
	text := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		text[i] = digits[b&15]
		b >>= 4
	}
	vm.Return(vm.String(string(text)))
}
