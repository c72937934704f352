package command

import (
	"math"
	"math/big"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errBounds       = reply.Error("ERR LBOUND must not be greater than UBOUND")
	errENXTime      = reply.Error("ERR ENX needs one of EX, PX, EXAT and PXAT")
	errIncrementFit = reply.Error("ERR the applied increment would overflow")
)

// bounded is the words of INCREX. Numbers stay words until the kind of the increment is known,
// which any of them may say.
type bounded struct {
	options
	byFloat            bool
	by, least, most    []byte // nil where not given
	saturate, onlyOnce bool
}

func readBounded(a *Args) (p bounded) {
	for a.Left() > 0 && !a.bad {
		switch more := a.Left() > 1; {
		case more && p.by == nil && a.Word("BYINT"):
			p.by = a.Bytes()
		case more && p.by == nil && a.Word("BYFLOAT"):
			p.by, p.byFloat = a.Bytes(), true
		case more && p.least == nil && a.Word("LBOUND"):
			p.least = a.Bytes()
		case more && p.most == nil && a.Word("UBOUND"):
			p.most = a.Bytes()
		case a.Word("SATURATE"):
			p.saturate = true
		case a.Word("ENX"):
			p.onlyOnce = true
		case a.Word("PERSIST"):
			p.persist = true
		case p.when == nil && p.time(a):
		default:
			a.Fail(ErrSyntax)
		}
	}
	switch {
	case p.persist && p.when != nil:
		a.Fail(ErrSyntax)
	case p.onlyOnce && p.when == nil:
		a.Fail(errENXTime)
	}
	return p
}

// incrEx judges all words before the value of the key.
func incrEx(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	p := readBounded(a)
	var whole wholeSum
	var float floatSum
	if p.byFloat {
		float = p.floats(a)
	} else {
		whole = p.integers(a)
	}
	at, bad := p.deadline(tx.Env, "increx")
	if bad != nil {
		a.Fail(*bad)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	if p.byFloat {
		return float.apply(tx, &p, key, o, at)
	}
	return whole.apply(tx, &p, key, o, at)
}

// write stores the new number and its deadline, which is the old one unless one was asked for.
func (b *bounded) write(tx *Tx, key []byte, o *keyspace.Object, text, event string, at keyspace.Deadline) {
	before := keyspace.Deadline(0)
	if o != nil {
		before = o.Expire
	}
	set := at != 0 && !(b.onlyOnce && before != 0)
	switch {
	case b.persist:
		at = 0
	case !set:
		at = before
	}
	tx.setText(key, []byte(text), at, event)
	switch {
	case set && tx.comes(at):
		tx.Event(GenericEvent, "expire", key)
	case b.persist && before != 0:
		tx.Event(GenericEvent, "persist", key)
	}
}

// wholeSum is the numbers of INCREX with integers.
type wholeSum struct{ by, least, most int64 }

func (b *bounded) integers(a *Args) wholeSum {
	read := func(word []byte, absent int64) int64 {
		if word == nil {
			return absent
		}
		n, ok := ParseInt(word)
		if !ok {
			a.Fail(ErrNotInteger)
		}
		return n
	}
	s := wholeSum{by: read(b.by, 1), least: read(b.least, math.MinInt64), most: read(b.most, math.MaxInt64)}
	if s.least > s.most {
		a.Fail(errBounds)
	}
	return s
}

func (s wholeSum) apply(tx *Tx, p *bounded, key []byte, o *keyspace.Object, at keyspace.Deadline) reply.Value {
	old, ok := int64(0), true
	if o != nil {
		if old, ok = parseIntString(o.Text()); !ok {
			return ErrNotInteger
		}
	}
	sum := old + s.by
	switch { // a sum beyond the type is beyond any bound
	case s.by > 0 && sum < old:
		sum, ok = s.most, false
	case s.by < 0 && sum > old:
		sum, ok = s.least, false
	case sum > s.most:
		sum, ok = s.most, false
	case sum < s.least:
		sum, ok = s.least, false
	}
	if !ok && !p.saturate {
		return reply.Array(reply.Int(old), reply.Int(0))
	}
	applied := sum - old
	if (applied > 0) != (sum > old) && sum != old {
		return errIncrementFit
	}
	p.write(tx, key, o, strconv.FormatInt(sum, 10), "incrby", at)
	return reply.Array(reply.Int(sum), reply.Int(applied))
}

// floatSum is the numbers of INCREX with floats, computed with as INCRBYFLOAT does. Sums are
// bounded by what a double holds, so that RESP3 can show them.
type floatSum struct{ by, least, most *big.Float }

func (b *bounded) floats(a *Args) floatSum {
	read := func(word []byte, absent float64) *big.Float {
		if word == nil {
			return new(big.Float).SetPrec(longDoubleBits).SetFloat64(absent)
		}
		f, ok := parseFinite(string(word))
		if !ok {
			a.Fail(ErrNotFloat)
		}
		return f
	}
	s := floatSum{by: read(b.by, 1), least: read(b.least, -math.MaxFloat64), most: read(b.most, math.MaxFloat64)}
	if !a.bad && s.least.Cmp(s.most) > 0 {
		a.Fail(errBounds)
	}
	return s
}

// parseFinite reads a long double that a double can hold.
func parseFinite(s string) (*big.Float, bool) {
	f, ok := parseLongDouble(s)
	if !ok || f.IsInf() {
		return nil, false
	}
	d, _ := f.Float64()
	return f, !math.IsInf(d, 0)
}

func (s floatSum) apply(tx *Tx, p *bounded, key []byte, o *keyspace.Object, at keyspace.Deadline) reply.Value {
	old := new(big.Float).SetPrec(longDoubleBits)
	if o != nil {
		var ok bool
		if old, ok = parseFinite(o.Text()); !ok {
			return ErrNotFloat
		}
	}
	sum := new(big.Float).SetPrec(longDoubleBits).Add(old, s.by)
	within := true
	switch {
	case sum.Cmp(s.most) > 0:
		sum, within = s.most, false
	case sum.Cmp(s.least) < 0:
		sum, within = s.least, false
	}
	if !within && !p.saturate {
		return reply.Array(longDouble(old), longDouble(new(big.Float)))
	}
	applied := s.by
	if !within {
		applied = new(big.Float).SetPrec(longDoubleBits).Sub(sum, old)
		if d, _ := applied.Float64(); math.IsInf(d, 0) {
			return errIncrementFit
		}
	}
	p.write(tx, key, o, formatLongDouble(sum), "incrbyfloat", at)
	return reply.Array(longDouble(sum), longDouble(applied))
}

// longDouble is a double for RESP3, with the digits of INCRBYFLOAT for RESP2.
func longDouble(f *big.Float) reply.Value {
	d, _ := f.Float64()
	return reply.Double(d, formatLongDouble(f))
}
