package lua

import "strings"

func (st *State) openString() {
	t := st.NewTable(0, 15)
	st.Register(t, []Named{
		{"byte", Metered, stringByte}, {"char", EachArgument, stringChar}, {"dump", Constant, stringDump}, {"find", Parses(2), stringFind},
		{"format", Metered, stringFormat}, {"gfind", Constant, stringGmatch}, {"gmatch", Constant, stringGmatch}, {"gsub", Metered, stringGsub},
		{"len", Constant, stringLen}, {"lower", Metered, stringLower}, {"match", Metered, stringMatch}, {"rep", Metered, stringRep},
		{"reverse", Metered, stringReverse}, {"sub", Metered, stringSub}, {"upper", Metered, stringUpper},
	})
	st.Globals.SetField("string", TableValue(t))
	st.strings = st.NewTable(0, 0)
	st.strings.SetField("__index", TableValue(t))
}

// position is a position in a string of n bytes: negative ones count from its end.
func position(i, n int) int {
	if i < 0 {
		i += n + 1
	}
	return max(i, 0)
}

func stringByte(vm *State, args []Value) {
	s := vm.CheckText(args, 1)
	from := position(vm.OptInt(args, 2, 1), len(s))
	to := min(position(vm.OptInt(args, 3, from), len(s)), len(s))
	from = max(from, 1)
	if from > to {
		vm.Return()
		return
	}
	if to-from+1 > maxUnpack {
		vm.Errorf("stack overflow (string slice too long)")
	}
	vm.Step((to - from) / 4)
	vm.res = vm.res[:0]
	for i := from; i <= to; i++ {
		vm.res = append(vm.res, Int(int(s[i-1])))
	}
}

func stringChar(vm *State, args []Value) {
	b := make([]byte, len(args))
	for i := range args {
		c := vm.CheckInt(args, i+1)
		if c < 0 || c > 255 {
			vm.ArgError(i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	vm.Return(vm.String(string(b)))
}

func stringDump(vm *State, args []Value) {
	vm.checkFunction(args, 1)
	vm.Errorf("unable to dump given function")
}

func stringLen(vm *State, args []Value) { vm.Return(Int(len(vm.CheckText(args, 1)))) }

func stringLower(vm *State, args []Value) {
	vm.mapBytes(vm.CheckText(args, 1), 'A', 'Z', 'a'-'A')
}

func stringUpper(vm *State, args []Value) {
	vm.mapBytes(vm.CheckText(args, 1), 'a', 'z', 256-('a'-'A'))
}

// mapBytes returns a string whose bytes between lo and hi are shifted.
func (st *State) mapBytes(s string, lo, hi byte, by int) {
	st.Alloc(sizeString + len(s))
	b := []byte(s)
	for i, c := range b {
		if lo <= c && c <= hi {
			b[i] = c + byte(by)
		}
	}
	st.Return(made(b))
}

// maxRep is the longest string that rep makes.
const maxRep = 512 << 20

func stringRep(vm *State, args []Value) {
	s, n := vm.CheckText(args, 1), clampInt(vm.CheckInt(args, 2))
	if n <= 0 || s == "" {
		vm.Return(vm.String(""))
		return
	}
	if n > maxRep/len(s) {
		panic(stoppedBytes)
	}
	vm.Alloc(sizeString + n*len(s))
	vm.Return(Value{ref: &Str{s: strings.Repeat(s, n)}})
}

func stringReverse(vm *State, args []Value) {
	s := vm.CheckText(args, 1)
	vm.Alloc(sizeString + len(s))
	b := make([]byte, len(s))
	for i := range b {
		b[i] = s[len(s)-1-i]
	}
	vm.Return(made(b))
}

func stringSub(vm *State, args []Value) {
	s := vm.CheckText(args, 1)
	from, to := max(position(vm.CheckInt(args, 2), len(s)), 1), min(position(vm.OptInt(args, 3, -1), len(s)), len(s))
	if from > to {
		vm.Return(vm.String(""))
		return
	}
	vm.Return(vm.Copy(s[from-1 : to]))
}

// searchedHead is the number of bytes of a text that are searched for at once. Shorter texts are found in linear time on
// every processor; the first candidates of longer ones would be compared whole for nothing.
const searchedHead = 16

// indexText returns the index of p in s, -1 if s does not contain it. Every candidate is paid for.
func (st *State) indexText(s, p string) int {
	if len(p) <= searchedHead {
		return strings.Index(s, p)
	}
	for at := 0; len(s)-at >= len(p); at++ {
		i := strings.Index(s[at:len(s)-len(p)+searchedHead], p[:searchedHead])
		if i < 0 {
			return -1
		}
		at += i
		st.Step(1)
		if st.sameText(s[at:at+len(p)], p) {
			return at
		}
	}
	return -1
}

// patternSpecials are the characters that make a pattern more than a text.
const patternSpecials = "^$*+?.([%-"

func stringFind(vm *State, args []Value) { vm.search(args, true) }

func stringMatch(vm *State, args []Value) { vm.search(args, false) }

func (st *State) search(args []Value, find bool) {
	s, p := st.CheckText(args, 1), st.CheckText(args, 2)
	init := min(max(position(st.OptInt(args, 3, 1), len(s))-1, 0), len(s))
	if find && (arg(args, 4).Truth() || !strings.ContainsAny(p, patternSpecials)) {
		st.Step((len(s) - init) / 8)
		if i := st.indexText(s[init:], p); i >= 0 {
			st.Return(Int(init+i+1), Int(init+i+len(p)))
			return
		}
		st.Return(Nil)
		return
	}
	anchored := p != "" && p[0] == '^'
	if anchored {
		p = p[1:]
	}
	m := &matcher{vm: st, text: s, pattern: p}
	for i := init; ; i++ {
		m.captures = m.captures[:0]
		if e := m.match(i, 0); e != failed {
			if find {
				st.Return(append([]Value{Int(i + 1), Int(e)}, m.all(i, e, false)...)...)
			} else {
				st.Return(m.all(i, e, true)...)
			}
			return
		}
		if i >= len(s) || anchored {
			break
		}
	}
	st.Return(Nil)
}

func stringGmatch(vm *State, args []Value) {
	s, p := vm.CheckText(args, 1), vm.CheckText(args, 2)
	at := 0
	vm.Return(vm.Func("gmatch step", Metered, func(vm *State, _ []Value) {
		m := &matcher{vm: vm, text: s, pattern: p}
		for i := at; i <= len(s); i++ {
			m.captures = m.captures[:0]
			if e := m.match(i, 0); e != failed {
				if at = e; e == i {
					at++
				}
				vm.Return(m.all(i, e, true)...)
				return
			}
		}
		vm.Return(Nil)
	}))
}

func stringGsub(vm *State, args []Value) {
	s, p := vm.CheckText(args, 1), vm.CheckText(args, 2)
	replacement := arg(args, 3)
	switch {
	case replacement.Table() != nil, replacement.IsFunction():
	default:
		text, ok := vm.Text(replacement)
		if !ok {
			vm.ArgError(3, "string/function/table expected")
		}
		if replacement.isNumber() {
			replacement = String(text)
		}
	}
	most := clampInt(vm.OptInt(args, 4, len(s)+1))
	anchored := p != "" && p[0] == '^'
	if anchored {
		p = p[1:]
	}
	m := &matcher{vm: vm, text: s, pattern: p}
	var out Buffer
	out.vm = vm
	at, n := 0, 0
	for n < most {
		m.captures = m.captures[:0]
		e := m.match(at, 0)
		if e != failed {
			n++
			vm.Step(replaceCost)
			out.replace(m, at, e, replacement)
		}
		if e != failed && e > at {
			at = e
		} else if at < len(s) {
			out.Byte(s[at])
			at++
		} else {
			break
		}
		if anchored {
			break
		}
	}
	out.Write(s[min(at, len(s)):])
	vm.Return(out.String(), Int(n))
}

// replace appends what stands for the match from s to e.
func (b *Buffer) replace(m *matcher, s, e int, replacement Value) {
	vm := b.vm
	var v Value
	switch {
	case replacement.Table() != nil:
		v = (&frame{vm: vm}).index(replacement, m.capture(0, s, e), nil)
	case replacement.IsFunction():
		vm.Call(replacement, m.all(s, e, true)...)
		v = vm.result()
	default:
		b.expand(m, s, e, replacement)
		return
	}
	if !v.Truth() {
		b.Write(m.text[s:e])
		return
	}
	text, ok := vm.Text(v)
	if !ok {
		vm.Errorf("invalid replacement value (a " + v.Type() + ")")
	}
	b.Write(text)
}

// expand appends a replacement text with captures in place of %0 to %9.
func (b *Buffer) expand(m *matcher, s, e int, replacement Value) {
	text, _ := replacement.Text()
	for i := 0; i < len(text); i++ {
		at := strings.IndexByte(text[i:], '%')
		if at < 0 {
			b.Write(text[i:])
			return
		}
		b.Write(text[i : i+at])
		i += at + 1
		b.vm.Step(escapeCost)
		switch {
		case i >= len(text):
			b.Byte(0)
		case !isDigit(text[i]):
			b.Byte(text[i])
		case text[i] == '0':
			b.Write(m.text[s:e])
		default:
			v, _ := b.vm.Text(m.capture(int(text[i]-'1'), s, e))
			b.Write(v)
		}
	}
}
