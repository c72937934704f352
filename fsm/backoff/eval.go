package backoff

import "math"

// MaxDelay is the longest delay, in milliseconds: a day.
const MaxDelay = 86_400_000

// Default is the delay where a message names none: e^(2n) seconds before retry n,
// counted from 0, and at most a day (messages specification, publish, rule 1).
const Default = "min(86400000, 1000*exp(2*retried))"

// Math holds the functions that evaluation needs and the state machine must not have.
type Math struct {
	Exp func(x float64) float64
	Pow func(x, y float64) float64
}

// Delay is the delay in milliseconds before a message that was retried so many times is
// tried once more, from 0 to MaxDelay. ok is false if the value is no number, as that
// of 0/0 is.
func (e *Expr) Delay(retried int, m Math) (ms int64, ok bool) {
	v := e.eval(float64(retried), m)
	switch {
	case math.IsNaN(v):
		return 0, false
	case v <= 0:
		return 0, true
	case v >= MaxDelay:
		return MaxDelay, true
	}
	return int64(math.Round(v)), true
}

// step is one instruction: it takes its arguments from the stack and leaves one value.
type step struct {
	op opcode
	// number is that of opNumber.
	number float64
}

type opcode uint8

const (
	opNumber opcode = iota
	opRetried
	opNegate
	opAdd
	opSubtract
	opMultiply
	opDivide
	opMin
	opMax
	opPow
	opSqrt
	opAbs
	opExp
	opFloor
	opCeil
	opRound
)

// eval runs the program. Parse made sure that every step finds its arguments.
func (e *Expr) eval(retried float64, m Math) float64 {
	stack := make([]float64, 0, e.height)
	for _, s := range e.steps {
		switch s.op {
		case opNumber:
			stack = append(stack, s.number)
			continue
		case opRetried:
			stack = append(stack, retried)
			continue
		}
		top := len(stack) - 1
		if s.op.arity() == 1 {
			stack[top] = unary(s.op, stack[top], m)
			continue
		}
		stack[top-1] = binary(s.op, stack[top-1], stack[top], m)
		stack = stack[:top]
	}
	return stack[0]
}

func (op opcode) arity() int {
	switch op {
	case opNumber, opRetried:
		return 0
	case opAdd, opSubtract, opMultiply, opDivide, opMin, opMax, opPow:
		return 2
	}
	return 1
}

func unary(op opcode, a float64, m Math) float64 {
	switch op {
	case opNegate:
		return -a
	case opSqrt:
		return math.Sqrt(a)
	case opAbs:
		return math.Abs(a)
	case opExp:
		return m.Exp(a)
	case opFloor:
		return math.Floor(a)
	case opCeil:
		return math.Ceil(a)
	}
	return math.Round(a)
}

func binary(op opcode, a, b float64, m Math) float64 {
	switch op {
	case opAdd:
		return a + b
	case opSubtract:
		return a - b
	case opMultiply:
		return a * b
	case opDivide:
		return a / b
	case opMin:
		return math.Min(a, b)
	case opMax:
		return math.Max(a, b)
	}
	return m.Pow(a, b)
}
