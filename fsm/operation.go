package fsm

import (
	"errors"
	"fmt"

	"trireme/fsm/env"
	"trireme/fsm/wire"
)

// Errors that stop a node: the log holds what this binary doesn't know.
var (
	ErrUnknownOperation = errors.New("fsm: the log holds an operation this binary doesn't know; start the node with the version that wrote it, or a newer one")
	ErrUnknownLevel     = errors.New("fsm: the log raises the feature level beyond this binary; start the node with the version that it ran last, or a newer one")
)

// ErrMalformed is the outcome of a request whose body can't be decoded: nothing was
// changed.
var ErrMalformed = &Error{Code: "malformed", Text: "the request's body can't be decoded"}

// Error is what an operation that changed nothing says, as values that travel
// between nodes. errors.Is compares the Code.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Code + ": " + e.Text }

// RefusalCode is the Code. Packages below have errors of their own with one.
func (e *Error) RefusalCode() string { return e.Code }

// Is tells whether target is an error of the same Code: an Error, or that of a package below.
func (e *Error) Is(target error) bool {
	t, ok := target.(interface{ RefusalCode() string })
	return ok && t.RefusalCode() == e.Code
}

// Operation is a typed operation of the log: its code, and how its argument and its
// result are written and applied.
type Operation[A, R any] struct {
	Code  uint16
	Name  string
	Since env.Level

	encode  func(*wire.Writer, A)
	decode  func(*wire.Reader) (A, error)
	encodeR func(*wire.Writer, R)
	decodeR func(*wire.Reader) (R, error)
	apply   func(*State, *env.Env, A) (R, error)
	// revokes tells whether an argument may take rights away; nil if none does.
	revokes func(A) bool
}

// Body is an argument in the form of a Request.
func (o *Operation[A, R]) Body(arg A) []byte {
	var w wire.Writer
	o.encode(&w, arg)
	return w.B
}

// Argument reads what Body wrote, ErrMalformed if it can't be read.
func (o *Operation[A, R]) Argument(body []byte) (A, error) {
	arg, err := o.decode(wire.NewReader(body))
	if err != nil {
		return arg, ErrMalformed
	}
	return arg, nil
}

// operation is an Operation without its types.
type operation interface {
	code() uint16
	name() string
	since() env.Level
	run(*State, *env.Env, []byte) (any, error)
	encodeResult(*wire.Writer, any)
	decodeResult(*wire.Reader) (any, error)
}

func (o *Operation[A, R]) code() uint16     { return o.Code }
func (o *Operation[A, R]) name() string     { return o.Name }
func (o *Operation[A, R]) since() env.Level { return o.Since }

func (o *Operation[A, R]) run(s *State, e *env.Env, body []byte) (any, error) {
	arg, err := o.Argument(body)
	if err != nil {
		return nil, err
	}
	return o.apply(s, e, arg)
}

func (o *Operation[A, R]) encodeResult(w *wire.Writer, v any) { o.encodeR(w, v.(R)) }

func (o *Operation[A, R]) decodeResult(r *wire.Reader) (any, error) { return o.decodeR(r) }

// find is the operation of a code; the level says what is switched on.
func find(code uint16, level env.Level) (operation, error) {
	if int(code) >= len(byCode) || byCode[code] == nil || byCode[code].since() > level {
		return nil, fmt.Errorf("%w: code %d at level %d", ErrUnknownOperation, code, level)
	}
	return byCode[code], nil
}
