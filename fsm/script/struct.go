package script

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// structLibrary packs values as C structures lie in memory.
func structLibrary(vm *lua.State) *lua.Table {
	t := vm.NewTable(0, 0)
	vm.Register(t, []lua.Named{
		lua.Define("pack", lua.Metered, structPack), lua.Define("unpack", lua.Metered, structUnpack), lua.Define("size", lua.Metered, structSize),
	})
	return t
}

const (
	maxIntSize = 32 // of I and i in bytes
	maxAlign   = 8  // of the type that needs most

	// formatPerStep is the number of bytes of a format that are read for one step, in addition
	// to the step for each option.
	formatPerStep = 8

	// optionCost is the cost of an option in steps in addition to that one, bytesOfInteger the number of bytes of a
	// number that are read or written for one more.
	optionCost     = 3
	bytesOfInteger = 4
)

// layout reads a format.
type layout struct {
	vm     *lua.State
	format string
	at     int
	big    bool
	align  int
}

func newLayout(vm *lua.State, format string) *layout {
	vm.Step(len(format) / formatPerStep)
	return &layout{vm: vm, format: format, align: 1}
}

// number returns the number at the current place, def if there is none.
func (l *layout) number(def int) int {
	if l.at >= len(l.format) || l.format[l.at] < '0' || l.format[l.at] > '9' {
		return def
	}
	n := 0
	for l.at < len(l.format) && '0' <= l.format[l.at] && l.format[l.at] <= '9' {
		digit := int(l.format[l.at] - '0')
		if n > (math.MaxInt32-digit)/10 {
			l.vm.Errorf("integral size overflow")
		}
		n = 10*n + digit
		l.at++
	}
	return n
}

// next is the next option with its size and the bytes that align it at an offset.
func (l *layout) next(total int) (option byte, size, padding int) {
	option = l.format[l.at]
	l.at++
	size = l.size(option)
	align := size
	if align == 0 || option == 'x' || option == 's' || option == 'c' {
		return option, size, 0
	}
	if align > l.align {
		align = l.align
	}
	if align > 1 {
		padding = (align - total&(align-1)) & (align - 1)
	}
	return option, size, padding
}

func (l *layout) size(option byte) int {
	switch option {
	case 'b', 'B', 'x':
		return 1
	case 'h', 'H':
		return 2
	case 'l', 'L', 'T', 'd':
		return 8
	case 'f':
		return 4
	case 'c':
		return l.number(1)
	case 'i', 'I':
		n := l.number(4)
		if n > maxIntSize {
			l.vm.Errorf("integral size " + strconv.Itoa(n) + " is larger than limit of " + strconv.Itoa(maxIntSize))
		}
		return n
	}
	return 0
}

// control takes an option that only changes how others are read.
func (l *layout) control(option byte) {
	switch option {
	case ' ':
	case '>':
		l.big = true
	case '<':
		l.big = false
	case '!':
		l.align = l.number(maxAlign)
		if l.align == 0 || l.align&(l.align-1) != 0 {
			l.vm.Errorf("alignment " + strconv.Itoa(l.align) + " is not a power of 2")
		}
	default:
		l.vm.ArgError(1, "invalid format option '"+string([]byte{option})+"'")
	}
}

func structPack(vm *lua.State, args []lua.Value) {
	l, n := newLayout(vm, vm.CheckText(args, 1)), 1
	args = append(slices.Clone(args), lua.Nil) // the first that is missing reads as nil, and ends the packing
	var out []byte
	for l.at < len(l.format) {
		option, size, padding := l.next(len(out))
		vm.Step(1)
		vm.Step(optionCost + size/bytesOfInteger)
		vm.Alloc(size + padding)
		out = append(out, make([]byte, padding)...)
		switch option {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			n++
			out = l.appendInt(out, vm.CheckNumber(args, n), size)
		case 'x':
			out = append(out, 0)
		case 'f':
			n++
			out = l.appendUint(out, uint64(math.Float32bits(float32(vm.CheckNumber(args, n)))), 4)
		case 'd':
			n++
			out = l.appendUint(out, math.Float64bits(vm.CheckNumber(args, n)), 8)
		case 'c', 's':
			n++
			out = l.appendText(out, vm.CheckText(args, n), option, size, n)
		default:
			l.control(option)
		}
	}
	vm.Return(vm.String(string(out)))
}

func (l *layout) appendText(out []byte, s string, option byte, size, n int) []byte {
	if size == 0 {
		size = len(s)
	}
	if len(s) < size {
		l.vm.ArgError(n+1, "string too short")
	}
	l.vm.Alloc(size)
	out = append(out, s[:size]...)
	if option == 's' {
		out = append(out, 0)
	}
	return out
}

// appendInt appends an integer of size bytes.
func (l *layout) appendInt(out []byte, x float64, size int) []byte {
	n := uint64(lua.ToInt64(x))
	if x >= 0x1p63 && x < 0x1p64 {
		n = uint64(x)
	}
	return l.appendUint(out, n, size)
}

// appendUint appends the lowest size bytes of a number, zeros for those beyond eight.
func (l *layout) appendUint(out []byte, n uint64, size int) []byte {
	var b [maxIntSize]byte
	binary.LittleEndian.PutUint64(b[:], n)
	for i := range size {
		if l.big {
			out = append(out, b[size-1-i])
		} else {
			out = append(out, b[i])
		}
	}
	return out
}

func structUnpack(vm *lua.State, args []lua.Value) {
	l, data := newLayout(vm, vm.CheckText(args, 1)), vm.CheckText(args, 2)
	pos := vm.OptInt(args, 3, 1) - 1
	if pos < 0 {
		vm.ArgError(3, "offset must be 1 or greater")
	}
	var out []lua.Value
	for l.at < len(l.format) {
		option, size, padding := l.next(pos)
		vm.Step(1)
		vm.Step(optionCost)
		pos += padding
		if size > len(data) || pos > len(data)-size {
			vm.ArgError(2, "data string too short")
		}
		if len(out) >= unpackDepth {
			vm.Errorf("stack overflow (too many results)")
		}
		switch option {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			vm.Step(size / bytesOfInteger)
			out = append(out, lua.Number(l.integer(data[pos:pos+size], option >= 'a')))
		case 'x':
		case 'f':
			out = append(out, lua.Number(float64(math.Float32frombits(uint32(l.uint(data[pos:pos+4]))))))
		case 'd':
			out = append(out, lua.Number(math.Float64frombits(l.uint(data[pos:pos+8]))))
		case 'c':
			if size == 0 {
				out, size = l.counted(out, data, pos)
			}
			out = append(out, vm.Copy(data[pos:pos+size]))
		case 's':
			end := strings.IndexByte(data[pos:], 0)
			if end < 0 {
				vm.Scan(len(data) - pos)
				vm.Errorf("unfinished string in data")
			}
			size = end + 1
			out = append(out, vm.Copy(data[pos:pos+end]))
		default:
			l.control(option)
		}
		pos += size
	}
	vm.Return(append(out, lua.Int(pos+1))...)
}

// counted unpacks c0: the value before is the length of the text, which replaces it.
func (l *layout) counted(out []lua.Value, data string, pos int) ([]lua.Value, int) {
	if len(out) == 0 {
		l.vm.Errorf("format 'c0' needs a previous size")
	}
	n, ok := l.vm.ToNumber(out[len(out)-1])
	if !ok {
		l.vm.Errorf("format 'c0' needs a previous size")
	}
	if !(n >= 0 && n <= float64(len(data)-pos)) {
		l.vm.ArgError(2, "data string too short")
	}
	return out[:len(out)-1], int(n)
}

// uint is the number in up to eight lowest bytes.
func (l *layout) uint(b string) (n uint64) {
	for i := range len(b) {
		c := b[len(b)-1-i]
		if l.big {
			c = b[i]
		}
		n = n<<8 | uint64(c)
	}
	return n
}

func (l *layout) integer(b string, signed bool) float64 {
	n := l.uint(b)
	if !signed {
		return float64(n)
	}
	if unused := 64 - 8*len(b); unused > 0 {
		return float64(int64(n<<unused) >> unused)
	}
	return float64(int64(n))
}

func structSize(vm *lua.State, args []lua.Value) {
	l, pos := newLayout(vm, vm.CheckText(args, 1)), 0
	for l.at < len(l.format) {
		option, size, padding := l.next(pos)
		vm.Step(1)
		pos += padding
		switch {
		case option == 's':
			vm.ArgError(1, "option 's' has no fixed size")
		case option == 'c' && size == 0:
			vm.ArgError(1, "option 'c0' has no fixed size")
		case strings.IndexByte(" <>!", option) >= 0:
			l.control(option)
		}
		pos += size
	}
	vm.Return(lua.Int(pos))
}
