package command

import (
	"bytes"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// side is an end of a list.
type side bool

const (
	left  side = false
	right side = true
)

// pushed is the event of elements that came in at the end.
func (s side) pushed() string {
	if s == left {
		return "lpush"
	}
	return "rpush"
}

// popped is the event of elements that went out at the end.
func (s side) popped() string {
	if s == left {
		return "lpop"
	}
	return "rpop"
}

// side reads an end.
func (a *Args) side() side {
	if a.Word("LEFT") {
		return left
	}
	if !a.Word("RIGHT") {
		a.Fail(ErrSyntax)
	}
	return right
}

// findList is the list under key, nil if the key is missing.
func findList(tx *Tx, key []byte) (*keyspace.Object, *keyspace.Elements, bool) {
	return find[*keyspace.Elements](tx, key)
}

func lookList(tx *Tx, key []byte) (edit[*keyspace.Elements], bool) {
	return look(tx, key, keyspace.NewElements)
}

func pushTo(list *keyspace.Elements, s side, element string) {
	if s == left {
		list.Insert(0, element)
	} else {
		list.Insert(list.Len(), element)
	}
}

func popFrom(list *keyspace.Elements, s side) string {
	if s == left {
		return list.Delete(0)
	}
	return list.Delete(list.Len() - 1)
}

func push(tx *Tx, a *Args, s side, must bool) reply.Value {
	key, elements := a.Bytes(), a.Rest()
	e, ok := lookList(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil && must:
		return reply.Int(0)
	}
	for _, v := range elements {
		pushTo(e.write(), s, string(v))
	}
	n := e.data.Len()
	e.end(n, ListEvent, s.pushed())
	return reply.Int(int64(n))
}

func lPush(tx *Tx, a *Args) reply.Value { return push(tx, a, left, false) }

func rPush(tx *Tx, a *Args) reply.Value { return push(tx, a, right, false) }

func lPushX(tx *Tx, a *Args) reply.Value { return push(tx, a, left, true) }

func rPushX(tx *Tx, a *Args) reply.Value { return push(tx, a, right, true) }

// take removes at most count elements from an end of the list, which is not missing.
func take(e edit[*keyspace.Elements], s side, count int64) []reply.Value {
	taken := make([]reply.Value, min(count, int64(e.data.Len())))
	for i := range taken {
		taken[i] = reply.Bulk(popFrom(e.write(), s))
	}
	e.end(e.data.Len(), ListEvent, s.popped())
	return taken
}

func pop(tx *Tx, a *Args, s side, name string) reply.Value {
	key := a.Bytes()
	if a.Left() > 1 {
		return ErrArity(name)
	}
	count, given := a.maybe((*Args).positive)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookList(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil && given:
		return reply.NilArray()
	case e.object == nil:
		return reply.Nil()
	}
	taken := take(e, s, count)
	if !given {
		return taken[0]
	}
	return reply.Array(taken...)
}

func lPop(tx *Tx, a *Args) reply.Value { return pop(tx, a, left, "lpop") }

func rPop(tx *Tx, a *Args) reply.Value { return pop(tx, a, right, "rpop") }

var errCount = reply.Error("ERR count should be greater than 0")

// popArgs are those of LMPOP and BLMPOP.
type popArgs struct {
	keys  [][]byte
	side  side
	count int64
}

func readPopArgs(a *Args) (p popArgs) {
	p.count = 1
	if p.keys = a.countedWords(ErrSyntax); a.bad {
		return p
	}
	p.side = a.side()
	for counted := false; a.Left() > 0 && !a.bad; counted = true {
		if counted || a.Left() < 2 || !a.Word("COUNT") {
			a.Fail(ErrSyntax)
		} else if p.count = a.IntOr(errCount); p.count <= 0 {
			a.Fail(errCount)
		}
	}
	return p
}

// takeFirst takes from the first list that has an element: the key and what was taken,
// or the null array.
func takeFirst(tx *Tx, p popArgs) reply.Value {
	for _, key := range p.keys {
		e, ok := lookList(tx, key)
		if !ok {
			return ErrWrongType
		}
		if e.object != nil {
			taken := take(e, p.side, p.count)
			return reply.Array(reply.Bulk(string(key)), reply.Array(taken...))
		}
	}
	return reply.NilArray()
}

func lMPop(tx *Tx, a *Args) reply.Value {
	p := readPopArgs(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	return takeFirst(tx, p)
}

// shift moves an element from an end of a list to an end of another, or of the same.
func shift(tx *Tx, from, to []byte, out, in side) reply.Value {
	source, ok := lookList(tx, from)
	switch {
	case !ok:
		return ErrWrongType
	case source.object == nil:
		return reply.Nil()
	}
	target, ok := lookList(tx, to)
	if !ok {
		return ErrWrongType
	}
	v := popFrom(source.write(), out)
	if bytes.Equal(from, to) {
		pushTo(source.write(), in, v)
		source.end(source.data.Len(), ListEvent, in.pushed(), out.popped())
		return reply.Bulk(v)
	}
	pushTo(target.write(), in, v)
	target.end(target.data.Len(), ListEvent, in.pushed())
	source.end(source.data.Len(), ListEvent, out.popped())
	return reply.Bulk(v)
}

func lMove(tx *Tx, a *Args) reply.Value {
	from, to := a.Bytes(), a.Bytes()
	out, in := a.side(), a.side()
	if err, ok := a.Done(); !ok {
		return err
	}
	return shift(tx, from, to, out, in)
}

func rPopLPush(tx *Tx, a *Args) reply.Value {
	from, to := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	return shift(tx, from, to, right, left)
}
