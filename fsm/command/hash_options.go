package command

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errFieldsInvalid = reply.Error("ERR invalid number of fields")
	errNoTime        = reply.Error("ERR missing expire time")
	errOneCondition  = reply.Error("ERR Only one of FXX or FNX arguments can be specified")
	errOneTime       = reply.Error("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified")
)

// timeWord reads the name of a unit of time if one is next.
func (a *Args) timeWord() timeUnit {
	switch {
	case a.Word("EX"):
		return seconds
	case a.Word("PX"):
		return milliseconds
	case a.Word("EXAT"):
		return unixSeconds
	case a.Word("PXAT"):
		return unixMilliseconds
	}
	return noTime
}

func hGetDel(tx *Tx, a *Args) reply.Value {
	e, ok := lookHash(tx, a.Bytes())
	if !ok {
		return ErrWrongType
	}
	fields := a.fields(errFieldCount)
	if err, ok := a.Done(); !ok {
		return err
	}
	values := make([]reply.Value, len(fields))
	for i, word := range fields {
		field := keyspace.Alias(word)
		value, _, had := e.data.Get(tx.Time, field)
		if values[i] = valueOrNil(value, had); had {
			e.write().Delete(tx.Time, field)
		}
	}
	e.end(e.data.Len(tx.Time), HashEvent, "hdel")
	return reply.Array(values...)
}

// hGetEx takes at most one option, and then the fields.
func hGetEx(tx *Tx, a *Args) reply.Value {
	e, ok := lookHash(tx, a.Bytes())
	if !ok {
		return ErrWrongType
	}
	unit, at := a.timeWord(), keyspace.Deadline(0)
	persist := unit == noTime && a.Word("PERSIST")
	if unit != noTime {
		var bad *reply.Value
		if at, bad = fieldDeadline(a.Bytes(), unit, tx.Env, "hgetex"); bad != nil {
			a.Fail(*bad)
		}
	}
	fields := a.fields(errFieldCount)
	if err, ok := a.Done(); !ok {
		return err
	}
	values := make([]reply.Value, len(fields))
	for i, word := range fields {
		field := keyspace.Alias(word)
		value, old, had := e.data.Get(tx.Time, field)
		values[i] = valueOrNil(value, had)
		switch {
		case !had:
		case persist && old != 0:
			e.write().Set(tx.Time, field, value, 0)
		case unit != noTime:
			setFieldDeadline(tx, &e, field, value, at)
		}
	}
	event := tx.fieldEvent(at)
	if persist {
		event = "hpersist"
	}
	e.end(e.data.Len(tx.Time), HashEvent, event)
	return reply.Array(values...)
}

// hsetexOptions are the options before the fields of HSETEX, in any order.
type hsetexOptions struct {
	cond condition
	keep bool
	unit timeUnit
	at   keyspace.Deadline
}

func readHSetEx(a *Args, e *env.Env) (o hsetexOptions, pairs [][]byte) {
	for !a.bad && !a.Word("FIELDS") {
		unit := a.timeWord()
		switch {
		case unit != noTime:
			o.time(a, unit, e)
		case a.Word("KEEPTTL"):
			o.oneTime(a)
			o.keep = true
		case a.Word("FNX"):
			o.condition(a, ifMissing)
		case a.Word("FXX"):
			o.condition(a, ifExists)
		default:
			a.Fail(reply.Error("ERR unknown argument: " + shownLast(a.String())))
		}
	}
	return o, readPairs(a)
}

func (o *hsetexOptions) condition(a *Args, c condition) {
	if o.cond != always {
		a.Fail(errOneCondition)
	}
	o.cond = c
}

func (o *hsetexOptions) oneTime(a *Args) {
	if o.keep || o.unit != noTime {
		a.Fail(errOneTime)
	}
}

func (o *hsetexOptions) time(a *Args, unit timeUnit, e *env.Env) {
	if o.oneTime(a); a.Left() == 0 {
		a.Fail(errNoTime)
	}
	var bad *reply.Value
	if o.at, bad = fieldDeadline(a.Bytes(), unit, e, "hsetex"); bad != nil {
		a.Fail(*bad)
	}
	o.unit = unit
}

// readPairs reads how many fields with values there are, and all words left.
func readPairs(a *Args) [][]byte {
	if a.bad {
		return nil
	}
	if a.Left() == 0 {
		a.Fail(ErrArity("hsetex"))
	}
	n := a.IntOr(errFieldsInvalid)
	switch {
	case n <= 0:
		a.Fail(errFieldsInvalid)
	case n > int64(a.Left()) || 2*n != int64(a.Left()):
		a.Fail(ErrArity("hsetex"))
	}
	return a.Rest()
}

// allows reports whether the condition holds for all of the fields.
func (o *hsetexOptions) allows(h *keyspace.Fields, now env.Time, pairs [][]byte) bool {
	for i := 0; i < len(pairs); i += 2 {
		_, _, had := h.Get(now, keyspace.Alias(pairs[i]))
		if o.cond == ifMissing && had || o.cond == ifExists && !had {
			return false
		}
	}
	return true
}

func hSetEx(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	o, pairs := readHSetEx(a, tx.Env)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookHash(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case !o.allows(e.data, tx.Time, pairs):
		return reply.Int(0)
	}
	for i := 0; i < len(pairs); i += 2 {
		o.set(tx, &e, keyspace.Alias(pairs[i]), string(pairs[i+1]))
	}
	o.end(tx, &e)
	return reply.Int(1)
}

// end tells that fields were set, and then what became of their deadline.
func (o *hsetexOptions) end(tx *Tx, e *edit[*keyspace.Fields]) {
	n := e.data.Len(tx.Time)
	if o.unit == noTime {
		e.end(n, HashEvent, "hset")
	} else {
		e.end(n, HashEvent, "hset", tx.fieldEvent(o.at))
	}
}

// set gives a field its value and the deadline that the options say; one that has passed
// leaves no field.
func (o *hsetexOptions) set(tx *Tx, e *edit[*keyspace.Fields], field, value string) {
	_, old, had := e.data.Get(tx.Time, field)
	switch {
	case o.keep:
		e.write().Set(tx.Time, field, value, old)
	case o.unit == noTime:
		e.write().Set(tx.Time, field, value, 0)
	case tx.comes(o.at) || had:
		setFieldDeadline(tx, e, field, value, o.at)
	}
}
