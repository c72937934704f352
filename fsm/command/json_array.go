package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// arrays is an alteration of arrays.
func arrays(event string, check func(*jsondoc.Tree, []*jsondoc.Match) *reply.Value, alter func(t *jsondoc.Tree, m *jsondoc.Match, n int) reply.Value) alteration {
	return alteration{
		event: event, kinds: []jsondoc.Kind{jsondoc.KindArray}, expected: "array", check: check,
		alter: func(t *jsondoc.Tree, m *jsondoc.Match) reply.Value {
			return alter(t, m, m.Value.(*jsondoc.Array).Len())
		},
	}
}

// jsonArrLen asks for the number of elements.
var jsonArrLen = askRow(question{expected: "array", ask: func(v jsondoc.Value, _ *jsondoc.Work) (reply.Value, bool) {
	a, ok := v.(*jsondoc.Array)
	if !ok {
		return reply.Nil(), false
	}
	return reply.Int(int64(a.Len())), true
}})

// jsons reads all words left as JSON values.
func (a *Args) jsons() []jsondoc.Value {
	var values []jsondoc.Value
	for a.Left() > 0 && !a.bad {
		values = append(values, a.json())
	}
	return values
}

func jsonArrAppend(tx *Tx, a *Args) reply.Value {
	key, p := a.Bytes(), jsondoc.Root()
	if a.Left() > 1 {
		p = a.path()
	}
	values := a.jsons()
	if err, ok := a.Done(); !ok {
		return err
	}
	room := func(t *jsondoc.Tree, found []*jsondoc.Match) *reply.Value { return roomFor(t, found, 1, values...) }
	return tx.alter(key, p, arrays("json.arrappend", room, func(t *jsondoc.Tree, m *jsondoc.Match, n int) reply.Value {
		t.Insert(m, n, values)
		return reply.Int(int64(n + len(values)))
	}))
}

func jsonArrInsert(tx *Tx, a *Args) reply.Value {
	key, p, index, values := a.Bytes(), a.path(), a.Int(), a.jsons()
	if err, ok := a.Done(); !ok {
		return err
	}
	place := func(n int) (at int64, ok bool) {
		at = index
		if at < 0 {
			at += int64(n)
		}
		return at, 0 <= at && at <= int64(n)
	}
	check := func(t *jsondoc.Tree, found []*jsondoc.Match) *reply.Value {
		for _, m := range found {
			if _, ok := place(m.Value.(*jsondoc.Array).Len()); !ok {
				return &errArrayBounds
			}
		}
		return roomFor(t, found, 1, values...)
	}
	return tx.alter(key, p, arrays("json.arrinsert", check, func(t *jsondoc.Tree, m *jsondoc.Match, n int) reply.Value {
		at, _ := place(n)
		t.Insert(m, int(at), values)
		return reply.Int(int64(n + len(values)))
	}))
}

func jsonArrPop(tx *Tx, a *Args) reply.Value {
	key, p, index := a.Bytes(), a.path(), int64(-1)
	if a.Left() > 0 {
		index = a.Int()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.alter(key, p, arrays("json.arrpop", nil, func(t *jsondoc.Tree, m *jsondoc.Match, n int) reply.Value {
		if n == 0 {
			return reply.Nil()
		}
		return textOf(jsondoc.Format{}, t.Pop(m, int(clamp(index, int64(n)))))
	}))
}

// clamp is a position, of which negative ones count from the end, as one of n elements,
// the nearest if it is none of theirs.
func clamp(i, n int64) int64 {
	if i < 0 {
		i += n
	}
	return max(min(i, n-1), 0)
}

func jsonArrTrim(tx *Tx, a *Args) reply.Value {
	key, p, start, stop := a.Bytes(), a.path(), a.Int(), a.Int()
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.alter(key, p, arrays("json.arrtrim", nil, func(t *jsondoc.Tree, m *jsondoc.Match, n int) reply.Value {
		from, to := span(start, stop, n)
		t.Trim(m, from, to)
		return reply.Int(int64(to - from))
	}))
}

// jsonArrIndex takes positions as RedisJSON does: a start beyond the end is the last
// element, and a stop of 0 is the end.
func jsonArrIndex(tx *Tx, a *Args) reply.Value {
	key, p, want, start, stop := a.Bytes(), a.path(), a.json(), int64(0), int64(0)
	if a.Left() > 0 {
		start = a.Int()
	}
	if a.Left() > 0 {
		stop = a.Int()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.ask(key, p, question{expected: "array", ask: func(v jsondoc.Value, w *jsondoc.Work) (reply.Value, bool) {
		array, ok := v.(*jsondoc.Array)
		if !ok {
			return reply.Nil(), false
		}
		n := int64(array.Len())
		end := stop
		if end <= 0 {
			end += n
		}
		return reply.Int(indexOf(array, want, clamp(start, n), end, w)), true
	}})
}

// indexOf is the position of the first element equal to want from start on and before
// stop, -1 if there is none.
func indexOf(a *jsondoc.Array, want jsondoc.Value, start, stop int64, w *jsondoc.Work) int64 {
	at := int64(-1)
	a.From(int(start), func(i int, v jsondoc.Value) bool {
		if int64(i) < stop && jsondoc.Equal(v, want, w) {
			at = int64(i)
		}
		return at < 0 && int64(i+1) < stop && w.Err() == nil
	})
	return at
}
