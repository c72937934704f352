package backoff

import (
	"errors"
	"fmt"
	"strconv"
)

// The bounds of an expression: bytes of text, and how deep parts stand in one another.
const (
	MaxLength = 256
	MaxDepth  = 32
)

// ErrExpression matches every error of Parse, by errors.Is.
var ErrExpression = errors.New("invalid retry delay expression")

// Expr is a parsed expression. It never changes.
type Expr struct {
	steps []step
	// height is the most values that stand on the stack.
	height int
}

// Parse reads an expression. Every error is an ErrExpression.
func Parse(text string) (*Expr, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrExpression, MaxLength)
	}
	p := &parser{text: text}
	p.expression()
	p.blanks()
	if p.at < len(text) {
		p.fail("unexpected %q", text[p.at:])
	}
	if p.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExpression, p.err)
	}
	return &Expr{p.steps, p.height}, nil
}

// parser goes down the grammar of doc.go and writes a step when its arguments are
// written. Its error is sticky and moves it to the end of the text.
type parser struct {
	text  string
	at    int
	depth int
	err   error

	steps         []step
	stack, height int
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.at = len(p.text)
}

func (p *parser) emit(s step) {
	p.steps = append(p.steps, s)
	p.stack += 1 - s.op.arity()
	p.height = max(p.height, p.stack)
}

func (p *parser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// accept takes c if it comes next, after blanks.
func (p *parser) accept(c byte) bool {
	p.blanks()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(c byte) {
	if !p.accept(c) {
		if p.at == len(p.text) {
			p.fail("%q is missing at the end", c)
		} else {
			p.fail("%q where %q is wanted", p.text[p.at:], c)
		}
	}
}

func (p *parser) expression() {
	p.term()
	for {
		switch {
		case p.accept('+'):
			p.term()
			p.emit(step{op: opAdd})
		case p.accept('-'):
			p.term()
			p.emit(step{op: opSubtract})
		default:
			return
		}
	}
}

func (p *parser) term() {
	p.factor()
	for {
		switch {
		case p.accept('*'):
			p.factor()
			p.emit(step{op: opMultiply})
		case p.accept('/'):
			p.factor()
			p.emit(step{op: opDivide})
		default:
			return
		}
	}
}

func (p *parser) factor() {
	if p.depth++; p.depth > MaxDepth {
		p.fail("more than %d parts stand in one another", MaxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept('+'):
		p.factor()
	case p.accept('-'):
		p.factor()
		p.emit(step{op: opNegate})
	case p.accept('('):
		p.expression()
		p.expect(')')
	case p.at == len(p.text):
		p.fail("it ends where a value is wanted")
	case isDigit(p.text[p.at]) || p.text[p.at] == '.':
		p.number()
	default:
		p.name()
	}
}

func (p *parser) number() {
	begin := p.at
	for p.at < len(p.text) && (isDigit(p.text[p.at]) || p.text[p.at] == '.') {
		p.at++
	}
	v, err := strconv.ParseFloat(p.text[begin:p.at], 64)
	if err != nil { // two points, or none but a point; 256 digits are no overflow
		p.fail("%q is no number", p.text[begin:p.at])
	}
	p.emit(step{number: v})
}

// call is a function: what it compiles to and how many arguments it takes; more than
// that if it is open.
type call struct {
	op        opcode
	arguments int
	open      bool
}

var calls = map[string]call{
	"pow": {opPow, 2, false}, "min": {opMin, 1, true}, "max": {opMax, 1, true},
	"sqrt": {opSqrt, 1, false}, "abs": {opAbs, 1, false}, "exp": {opExp, 1, false},
	"floor": {opFloor, 1, false}, "ceil": {opCeil, 1, false}, "round": {opRound, 1, false},
}

func (p *parser) name() {
	begin := p.at
	for p.at < len(p.text) && isLetter(p.text[p.at]) {
		p.at++
	}
	name := p.text[begin:p.at]
	f, known := calls[name]
	switch {
	case name == "":
		p.fail("unexpected %q", p.text[begin:])
	case name == "retried":
		p.emit(step{op: opRetried})
	case !known:
		p.fail("unknown name %q", name)
	default:
		p.call(name, f)
	}
}

func (p *parser) call(name string, f call) {
	p.expect('(')
	p.expression()
	n := 1
	for ; p.accept(','); n++ {
		p.expression()
		if f.op.arity() == 2 {
			p.emit(step{op: f.op})
		}
	}
	p.expect(')')
	if p.err == nil && (n < f.arguments || n > f.arguments && !f.open) {
		p.fail("%s takes another number of arguments: want %d, got %d", name, f.arguments, n)
	}
	if f.op.arity() == 1 {
		p.emit(step{op: f.op})
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter takes digits and _ too, so that an unknown name is shown as a whole.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || isDigit(c)
}
