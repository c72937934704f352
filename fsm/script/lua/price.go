package lua

import "math"

// Prices: whatever a program has done is paid for by the length of what it touches, before it is done or while it is.
// Operators charge in the methods of Budget below, one for each thing that texts and numbers are put to. A library
// function is registered together with its Price.

// How many bytes are looked at for one step.
const (
	scanPerStep   = 64 // compared, searched for a byte or copied
	parsePerStep  = 8  // read one by one
	digitsPerStep = 4  // of a number of any base
)

// What operations on one value cost, in steps.
const (
	hopCost       = 1  // to go on to the next node of a chain
	freeHops      = 3  // that every search may make
	metaHopCost   = 6  // to ask the next table of a chain of __index or __newindex
	probeCost     = 1  // of a border in the nodes of a table
	probesPerStep = 8  // in its array
	slotsSkipped  = 8  // of a table that are empty, for one step
	nodeSteps     = 1  // of an element of a list that is not in the array
	bitCost       = 2  // of a quotient that math.fmod subtracts
	integerCost   = 5  // to print an integer
	functionCost  = 4  // to make a library function for the program
	setCost       = 2  // to look a character up in a set of a pattern
	escapeCost    = 2  // of a replacement of string.gsub
	replaceCost   = 2  // to put something in place of a match
	formatCost    = 24 // to print a number that is no integer
	directiveCost = 10 // of string.format
	frameCost     = 48 // to leave a call by an error
	slotsPerStep  = 8  // variables of a function made nil for one step
	valuesPerArg  = 4  // arguments looked at for one step

	// A decimal number of more than exactDigits digits may have to be compared with the two nearest doubles digit
	// by digit, of which the first slowDigits count.
	exactDigits   = 19
	slowDigits    = 800
	stepsPerDigit = 4
	widthPerStep  = 8 // bytes of padding
	digitsPerBit  = 1 // steps for each bit of the exponent of a number that is printed exactly
)

// The cost of compiling in steps, in addition to loadCost: so many bytes of the text for one, and each token.
const (
	sourcePerStep = 2
	tokenCost     = 16
)

// sizeToken is the memory of the compiled form of a token, in bytes.
const sizeToken = 128

// stackPerCall is the number of bytes that a call takes of the stack below the interpreter, for each of Proto.weight.
const (
	stackPerCall = 1 << 10
	stackCost    = 64 // steps to make room for it
)

// Price is the cost of a call of a library function in addition to callCost. The zero Price is none: Func refuses it.
type Price struct {
	given bool
	steps int
	read  func(b *Budget, args []Value)
}

// Constant is the price of a function whose work doesn't grow with anything that a program chooses.
var Constant = Fixed(0)

// Metered is the price of a function that spends the budget itself while it works, because its work shows only then.
var Metered = Fixed(0)

// Fixed is a price of some steps.
func Fixed(steps int) Price { return Price{given: true, steps: steps} }

// Scans is the price of a function that searches, compares or copies all bytes of the arguments with these numbers,
// counted from 1.
func Scans(arguments ...int) Price { return reads(scanPerStep, arguments) }

// Parses is the price of a function that looks at the bytes of the arguments with these numbers one by one.
func Parses(arguments ...int) Price { return reads(parsePerStep, arguments) }

func reads(per int, arguments []int) Price {
	return Price{given: true, read: func(b *Budget, args []Value) {
		for _, n := range arguments {
			if s, ok := arg(args, n).ref.(*Str); ok {
				b.Step(len(s.s) / per)
			}
		}
	}}
}

// EachArgument is the price of a function that looks at every argument.
var EachArgument = Price{given: true, read: func(b *Budget, args []Value) { b.Step(len(args) / valuesPerArg) }}

// charge spends the price of a call.
func (p *Price) charge(b *Budget, args []Value) {
	if p.steps > 0 {
		b.Step(p.steps)
	}
	if p.read != nil {
		p.read(b, args)
	}
}

// Scan spends what it costs to compare, search or copy n bytes.
func (b *Budget) Scan(n int) { b.Step(n / scanPerStep) }

// Hold spends n bytes of memory and no steps.
func (b *Budget) Hold(n int) {
	if b.Bytes -= int64(n); b.Bytes < 0 {
		b.stop()
	}
}

// Fits ends the script if n more bytes would be too many. They are spent when they have been made.
func (b *Budget) Fits(n int) {
	if int64(n) > b.Bytes {
		b.Bytes = -1
		b.stop()
	}
}

// sameText compares two texts.
func (b *Budget) sameText(x, y string) bool {
	if len(x) != len(y) {
		return false
	}
	if len(x) >= scanPerStep {
		b.Scan(len(x))
	}
	return x == y
}

// rawEqual compares without metamethods.
func (b *Budget) rawEqual(x, y Value) bool {
	switch s := x.ref.(type) {
	case *numberTag:
		return y.isNumber() && x.n == y.n
	case *boolTag:
		_, ok := y.ref.(*boolTag)
		return ok && x.n == y.n
	case *Str:
		t, ok := y.ref.(*Str)
		return ok && (s == t || b.sameText(s.s, t.s))
	}
	return x.ref == y.ref
}

// lessText is x < y.
func (b *Budget) lessText(x, y string) bool {
	b.Step(min(len(x), len(y)) / bytesPerStep)
	return x < y
}

// parse reads a text as a number.
func (b *Budget) parse(s string) (float64, bool) {
	if n := len(s); n > exactDigits {
		b.Step(n/parsePerStep + stepsPerDigit*min(n-exactDigits, slowDigits))
	}
	return ParseNumber(s)
}

// ParseNumber reads a text as a number, as arithmetic converts it.
func (b *Budget) ParseNumber(s string) (float64, bool) { return b.parse(s) }

// ToNumber converts as arithmetic does.
func (b *Budget) ToNumber(v Value) (float64, bool) {
	switch o := v.ref.(type) {
	case *numberTag:
		return v.n, true
	case *Str:
		return b.parse(o.s)
	}
	return 0, false
}

// Text converts as concatenation does: a string, or a number as one.
func (b *Budget) Text(v Value) (string, bool) {
	switch o := v.ref.(type) {
	case *Str:
		return o.s, true
	case *numberTag:
		return b.format(v.n), true
	}
	return "", false
}

// format prints a number.
func (b *Budget) format(n float64) string {
	b.Formatting(n, 14)
	return FormatNumber(n)
}

// Formatting spends what printing a number with so many digits costs.
func (b *Budget) Formatting(n float64, digits int) {
	if digits < 14 || math.Abs(n) >= 1e14 || math.Trunc(n) != n {
		b.Step(formatCost)
	} else {
		b.Step(integerCost)
	}
}

// isText reports whether concatenation takes a value as it is.
func isText(v Value) bool {
	switch v.ref.(type) {
	case *Str, *numberTag:
		return true
	}
	return false
}
