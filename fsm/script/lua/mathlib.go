package lua

import "math"

func (st *State) openMath() {
	t := st.NewTable(0, 28)
	slow := func(name string, f func(float64) float64) Named {
		return Named{name, Fixed(powerCost), func(vm *State, args []Value) { vm.Return(Number(f(vm.CheckNumber(args, 1)))) }}
	}
	slower := func(name string, f func(float64) float64) Named { // two exponentials
		n := slow(name, f)
		n.price = Fixed(2 * powerCost)
		return n
	}
	one := func(name string, f func(float64) float64) Named {
		return Named{name, Constant, func(vm *State, args []Value) { vm.Return(Number(f(vm.CheckNumber(args, 1)))) }}
	}
	two := func(name string, f func(x, y float64) float64) Named {
		return Named{name, Fixed(powerCost), func(vm *State, args []Value) {
			vm.Return(Number(f(vm.CheckNumber(args, 1), vm.CheckNumber(args, 2))))
		}}
	}
	st.Register(t, []Named{
		one("abs", math.Abs), one("acos", math.Acos), one("asin", math.Asin), two("atan2", math.Atan2), one("atan", math.Atan),
		one("ceil", math.Ceil), slower("cosh", cosh), one("cos", math.Cos), one("deg", degrees), slow("exp", exponential),
		one("floor", math.Floor), {"fmod", Fixed(powerCost), mathFmod}, {"frexp", Constant, mathFrexp}, {"ldexp", Constant, mathLdexp}, slow("log10", logarithm10),
		slow("log", logarithm), {"max", EachArgument, mathMax}, {"min", EachArgument, mathMin}, {"modf", Constant, mathModf}, {"pow", Fixed(powerCost + powerMore), mathPow}, one("rad", radians),
		{"random", Constant, mathRandom}, {"randomseed", Constant, mathRandomSeed}, slower("sinh", sinh), one("sin", math.Sin), one("sqrt", squareRoot),
		slower("tanh", tanh), one("tan", math.Tan),
	})
	t.SetField("pi", Number(math.Pi))
	t.SetField("huge", Number(math.Inf(1)))
	t.SetField("mod", t.Field("fmod"))
	st.Globals.SetField("math", TableValue(t))
}

func mathPow(vm *State, args []Value) {
	vm.Return(Number(power(vm.CheckNumber(args, 1), vm.CheckNumber(args, 2))))
}

func squareRoot(x float64) float64 {
	if x < 0 {
		return negativeNaN
	}
	return math.Sqrt(x)
}

func degrees(x float64) float64 { return x / (math.Pi / 180) }

func radians(x float64) float64 { return x * (math.Pi / 180) }

// mathFmod has the sign of the dividend. It subtracts bit by bit.
func mathFmod(vm *State, args []Value) {
	x, y := vm.CheckNumber(args, 1), vm.CheckNumber(args, 2)
	if y == 0 || math.IsInf(x, 0) {
		vm.Return(Number(negativeNaN))
		return
	}
	_, high := math.Frexp(x)
	_, low := math.Frexp(y)
	vm.Step(max(0, high-low) * bitCost)
	vm.Return(Number(math.Mod(x, y)))
}

func mathFrexp(vm *State, args []Value) {
	m, e := math.Frexp(vm.CheckNumber(args, 1))
	vm.Return(Number(m), Int(e))
}

func mathLdexp(vm *State, args []Value) {
	x := vm.CheckNumber(args, 1)
	vm.Return(Number(math.Ldexp(x, clampInt(vm.CheckInt(args, 2)))))
}

func mathModf(vm *State, args []Value) {
	x := vm.CheckNumber(args, 1)
	whole, part := math.Trunc(x), math.Copysign(0, x)
	if !math.IsInf(x, 0) {
		part = math.Copysign(x-whole, x)
	}
	vm.Return(Number(whole), Number(part))
}

func mathMax(vm *State, args []Value) {
	best := vm.CheckNumber(args, 1)
	for i := 2; i <= len(args); i++ {
		if n := vm.CheckNumber(args, i); n > best {
			best = n
		}
	}
	vm.Return(Number(best))
}

func mathMin(vm *State, args []Value) {
	best := vm.CheckNumber(args, 1)
	for i := 2; i <= len(args); i++ {
		if n := vm.CheckNumber(args, i); n < best {
			best = n
		}
	}
	vm.Return(Number(best))
}

// randomSource draws from the state's own source until a script seeds it; from then on
// its numbers follow from the seed.
type randomSource struct {
	seeded bool
	state  uint64 // 48 bits
}

// draw is a number in [0, 2^31): the generator that Redis has in scripts, or 31 bits of
// the state's source.
func (st *State) draw() uint32 {
	if !st.random.seeded {
		if st.Random == nil {
			return 0
		}
		return uint32(st.Random() >> 33)
	}
	st.random.state = (st.random.state*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return uint32(st.random.state >> 17)
}

func mathRandomSeed(vm *State, args []Value) {
	seed := uint32(int32(ToInt64(vm.CheckNumber(args, 1))))
	vm.random = randomSource{true, uint64(seed)<<16 | 0x330E}
	vm.Return()
}

func mathRandom(vm *State, args []Value) {
	const limit = 1<<31 - 1
	r := float64(vm.draw()%limit) / limit
	switch len(args) {
	case 0:
		vm.Return(Number(r))
	case 1:
		u := vm.CheckInt(args, 1)
		if u < 1 {
			vm.ArgError(1, "interval is empty")
		}
		vm.Return(Number(math.Floor(float64(r*float64(u))) + 1))
	case 2:
		l, u := vm.CheckInt(args, 1), vm.CheckInt(args, 2)
		if l > u {
			vm.ArgError(2, "interval is empty")
		}
		vm.Return(Number(math.Floor(float64(r*(float64(u)-float64(l)+1))) + float64(l)))
	default:
		vm.Errorf("wrong number of arguments")
	}
}
