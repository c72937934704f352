package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// listFields reads a key and gathers fields, values or both of its hash in the form of
// shape.
func listFields(tx *Tx, a *Args, fields, values bool, shape func(...reply.Value) reply.Value) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	_, h, ok := findHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	shown := h.Len(tx.Time)
	if fields && values {
		shown *= 2
	}
	all := make([]reply.Value, 0, shown) // which grows no more: copies of a long slice stop all goroutines for milliseconds
	h.All(tx.Time, func(field, value string) bool {
		tx.CountSteps(stepsPerElement)
		if fields {
			all = append(all, reply.Bulk(field))
		}
		if values {
			all = append(all, reply.Bulk(value))
		}
		return true
	})
	return shape(all...)
}

func hGetAll(tx *Tx, a *Args) reply.Value { return listFields(tx, a, true, true, reply.Map) }

func hKeys(tx *Tx, a *Args) reply.Value { return listFields(tx, a, true, false, reply.Array) }

func hVals(tx *Tx, a *Args) reply.Value { return listFields(tx, a, false, true, reply.Array) }

func hScan(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	cursor, ok := tx.cursor(a.Bytes())
	if !ok {
		return ErrCursor
	}
	o, h, ok := findHash(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return emptyPage()
	}
	opts := readPageOptions(tx, a, true)
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.lookAt(int64(min(opts.count, h.Len(tx.Time)))) {
		return reply.Nil()
	}
	var found []reply.Value
	next := h.Scan(tx.Time, cursor, opts.count, func(field, value string) {
		if !opts.shows(tx, field) {
			return
		}
		found = append(found, reply.Bulk(field))
		if !opts.noValues {
			found = append(found, reply.Bulk(value))
		}
	})
	return page(next, found)
}

func hRandField(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if a.Left() == 0 {
		return randomField(tx, key)
	}
	count, values := a.drawCount(), a.Word("WITHVALUES")
	if values && (count > math.MaxInt64/2 || count < -math.MaxInt64/2) {
		a.Fail(errRepeats)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	_, h, ok := findHash(tx, key)
	if !ok {
		return ErrWrongType
	}
	shape := reply.Array
	if values {
		shape = reply.Pairs
	}
	return randomFields(tx, h, count, values).reply(count, shape)
}

func randomField(tx *Tx, key []byte) reply.Value {
	o, h, ok := findHash(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Nil()
	}
	field, _ := h.Picker(tx.Time)(tx.IntN(h.Len(tx.Time)))
	return reply.Bulk(field)
}

func randomFields(tx *Tx, h *keyspace.Fields, count int64, values bool) *drawn {
	d := &drawn{}
	pick := h.Picker(tx.Time)
	tx.draw(h.Len(tx.Time), count, func(i int) bool {
		field, value := pick(i)
		if values {
			return d.add(field, value) || count > 0
		}
		return d.add(field) || count > 0
	})
	return d
}
