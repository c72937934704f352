package fsm

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Errors that stop a node: the log holds what this binary doesn't know, or no longer reads.
var (
	ErrUnknownOperation = errors.New("fsm: the log holds an operation this binary doesn't know; start the node with the version that wrote it, or a newer one")
	ErrUnknownLevel     = errors.New("fsm: the log raises the feature level beyond this binary; start the node with the version that it ran last, or a newer one")
	// ErrFormerLevel says that data is of a level below env.Base: see FormerLevel.
	ErrFormerLevel = errors.New("this version does not read")
)

// ErrMalformed is the outcome of a request whose body can't be decoded: nothing was
// changed.
var ErrMalformed = &Error{Code: "malformed", Text: "the request's body can't be decoded"}

// Error refuses an operation, which has changed nothing. It travels between nodes as
// values; errors.Is compares the Code.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Code + ": " + e.Text }

// RefusalCode is the Code. Packages below have errors of their own with one.
func (e *Error) RefusalCode() string { return e.Code }

// Is reports whether target is an error of the same Code: an Error, or that of a package below.
func (e *Error) Is(target error) bool {
	t, ok := target.(interface{ RefusalCode() string })
	return ok && t.RefusalCode() == e.Code
}

// Operation is a typed operation of the log. A is its argument and R its result, which both are wire.Records.
type Operation[A, R any] struct {
	Code uint16
	Name string
	// Since is the feature level from which on it may be in the log.
	Since env.Level

	argument func(*A) wire.Record
	result   func(*R) wire.Record
	apply    func(*State, *env.Env, A) (R, error)
	// price returns the work and the memory of the operation before it is applied: see price.go.
	price func(*State, *env.Env, *A) env.Price
	// revoking reports whether an argument may take rights away; nil if none does.
	revoking func(*A) bool
	// cloned: a result aliases what it is read from, which is copied for it.
	cloned bool
	// owned applies it to the messages and workflows of a database, and ownedPrice is its price there; nil if it is no operation on
	// these.
	owned      func(tenant, *env.Env, A) (R, error)
	ownedPrice func(tenant, *env.Env, *A) env.Price
	// lend returns an argument and a codec in memory of the applier, to be read into; nil if both are in use.
	lend func(*applier) (*A, *wire.Codec)
}

// record is a pointer to a T that names its fields.
type record[T any] interface {
	*T
	wire.Record
}

// operation is an Operation without its types.
type operation interface {
	code() uint16
	name() string
	since() env.Level
	isOwned() bool
	run(*State, *env.Env, []byte) (any, error)
	runIn(tenant, *env.Env, []byte) (any, error)
	priceIn(tenant, *env.Env, []byte) (env.Price, error)
	encodeResult(*wire.Writer, any)
	decodeResult(*wire.Reader) (any, error)
}

// byCode finds an operation by its code.
var byCode [96]operation

// define makes an operation and puts it into byCode. There is no operation without a price.
func define[A, R any, PA record[A], PR record[R]](code uint16, name string, since env.Level, price func(*State, *env.Env, *A) env.Price, apply func(*State, *env.Env, A) (R, error)) *Operation[A, R] {
	o := &Operation[A, R]{Code: code, Name: name, Since: since, price: price, apply: apply,
		argument: func(a *A) wire.Record { return PA(a) }, result: func(r *R) wire.Record { return PR(r) }}
	if byCode[code] != nil {
		panic(fmt.Sprintf("fsm: operations %q and %q have the code %d", byCode[code].name(), name, code))
	}
	byCode[code] = o
	return o
}

// defineOwned is define for what belongs to a database: by itself it is applied to the database default, and to any
// other one by InDatabase.
func defineOwned[A, R any, PA record[A], PR record[R]](code uint16, name string, since env.Level, price func(tenant, *env.Env, *A) env.Price, apply func(tenant, *env.Env, A) (R, error)) *Operation[A, R] {
	o := define[A, R, PA, PR](code, name, since, func(s *State, e *env.Env, a *A) env.Price { return price(tenant{s, s.home}, e, a) },
		func(s *State, e *env.Env, a A) (R, error) { return apply(tenant{s, s.openWork(s.home)}, e, a) })
	o.owned, o.ownedPrice = apply, price
	return o
}

// revokes has proposers wait for the revocation barrier after an argument of which may reports that it takes rights
// away.
func (o *Operation[A, R]) revokes(may func(*A) bool) *Operation[A, R] {
	o.revoking = may
	return o
}

// lending is for arguments that can be read into memory of the applier, which gets it back when they were applied.
func (o *Operation[A, R]) lending(lend func(*applier) (*A, *wire.Codec)) *Operation[A, R] {
	o.lend = lend
	return o
}

func always[A any](*A) bool { return true }

// aliasing is for results with texts or bytes that alias what they are read from.
func (o *Operation[A, R]) aliasing() *Operation[A, R] {
	o.cloned = true
	return o
}

// Body is an argument in the form of a Request.
func (o *Operation[A, R]) Body(arg A) []byte { return o.body(&arg) }

func (o *Operation[A, R]) body(arg *A) []byte { return wire.Marshal(o.argument(arg)) }

// Argument reads what Body wrote, ErrMalformed if it can't be read.
func (o *Operation[A, R]) Argument(body []byte) (arg A, err error) {
	return arg, o.read(&arg, body)
}

func (o *Operation[A, R]) read(arg *A, body []byte) error {
	if wire.Unmarshal(body, o.argument(arg)) != nil {
		return ErrMalformed
	}
	return nil
}

func (o *Operation[A, R]) code() uint16     { return o.Code }
func (o *Operation[A, R]) name() string     { return o.Name }
func (o *Operation[A, R]) since() env.Level { return o.Since }
func (o *Operation[A, R]) isOwned() bool    { return o.owned != nil }

func (o *Operation[A, R]) run(s *State, e *env.Env, body []byte) (any, error) {
	if o.lend != nil {
		if arg, c := o.lend(&s.applier); arg != nil {
			if c.Unmarshal(body, o.argument(arg)) != nil {
				return nil, ErrMalformed
			}
			return o.apply(s, e, *arg)
		}
	}
	if o.owned != nil {
		s.applier.at(s.home)
		return o.runIn(tenant{s, s.openWork(s.home)}, e, body)
	}
	var arg A
	if err := o.read(&arg, body); err != nil {
		return nil, err
	}
	return o.apply(s, e, arg)
}

func (o *Operation[A, R]) runIn(t tenant, e *env.Env, body []byte) (any, error) {
	if o.owned == nil {
		return nil, ErrMalformed
	}
	var arg A
	if err := o.read(&arg, body); err != nil {
		return nil, err
	}
	if err := t.admit(e, o.Name, len(body), o.ownedPrice(t, e, &arg)); err != nil {
		return nil, err
	}
	t.setRoom(e)
	r, err := o.owned(t, e, arg)
	t.endRoom()
	return r, err
}

// priceIn is the price of an argument, in a database if that is an operation of databases.
func (o *Operation[A, R]) priceIn(t tenant, e *env.Env, body []byte) (env.Price, error) {
	var arg A
	if err := o.read(&arg, body); err != nil {
		return env.Price{}, err
	}
	p := bodyPrice(len(body))
	if o.owned == nil {
		p.Add(o.price(t.s, e, &arg))
	} else {
		p.Add(o.ownedPrice(t, e, &arg))
	}
	return p, nil
}

func (o *Operation[A, R]) encodeResult(w *wire.Writer, v any) {
	r := v.(R)
	w.Put(o.result(&r))
}

func (o *Operation[A, R]) decodeResult(in *wire.Reader) (any, error) {
	var v R
	b := in.Rest()
	if o.cloned {
		b = bytes.Clone(b)
	}
	err := wire.Unmarshal(b, o.result(&v))
	return v, err
}

// find is the operation of a code; the level says what is switched on.
func find(code uint16, level env.Level) (operation, error) {
	if int(code) >= len(byCode) || byCode[code] == nil || byCode[code].since() > level {
		return nil, fmt.Errorf("%w: code %d at level %d", ErrUnknownOperation, code, level)
	}
	return byCode[code], nil
}
