package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errZeroID      = reply.Error("ERR The ID specified in XADD must be greater than 0-0")
	errLowID       = reply.Error("ERR The ID specified in XADD is equal or smaller than the target stream top item")
	errNoIDLeft    = reply.Error("ERR The stream has exhausted the last possible ID, unable to add more items")
	errLargeFields = reply.Error("ERR Elements are too large to be stored")
)

// addition is the arguments of XADD.
type addition struct {
	trimming
	noMake   bool
	id       keyspace.StreamID
	now      bool // *: an ID of this moment
	openSeq  bool // time-*: the next number of that time
	fields   [][]byte
	complete bool
	// once says that the addition is made once, however often it is sent: producer and iid name it, or
	// with byContent the producer and the fields.
	once, byContent bool
	producer, iid   []byte
}

func readAddition(tx *Tx, a *Args) (p addition) {
	for a.Left() > 0 && !a.bad && !p.complete {
		switch {
		case a.Word("*"):
			p.now, p.complete = true, true
		case p.option(a):
		case a.Word("NOMKSTREAM"):
			p.noMake = true
		case p.idempotent(a):
		default:
			p.complete = true
			var ok bool
			if p.id, p.openSeq, ok = parseStreamID(a.Bytes(), 0, true); !ok {
				a.Fail(errStreamID)
			}
		}
	}
	p.judge(a, false)
	if n := a.Left(); !p.complete || n < 2 || n%2 == 1 {
		a.Fail(ErrArity("xadd"))
	}
	if !p.now && !p.openSeq && p.id.Zero() {
		a.Fail(errZeroID)
	}
	p.fields = a.Rest()
	if p.byContent {
		p.iid = contentID(p.fields)
	}
	return p
}

func xAdd(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	p := readAddition(tx, a)
	if err, ok := a.Done(); !ok {
		return err
	}
	p.approximate(tx)
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil && p.noMake:
		return reply.Nil()
	}
	if id, before := p.before(e.data, tx.Now); before {
		e.write().OwnIdempotence().Duplicates++
		e.end(1, StreamEvent)
		return shownID(id)
	}
	if e.data.Last() == keyspace.MaxStreamID {
		return errNoIDLeft
	}
	id, ok := p.next(e.data.Last(), tx.Now)
	switch {
	case !ok:
		return errLowID
	case !storable(p.fields):
		return errLargeFields
	}
	s := e.write()
	s.Append(keyspace.NewStreamEntry(id, p.fields))
	if p.once {
		s.Remember(keyspace.Alias(p.producer), keyspace.Alias(p.iid), id, tx.Now)
	}
	events := []string{"xadd"}
	if p.trim(s) > 0 {
		events = append(events, "xtrim")
	}
	e.end(1, StreamEvent, events...)
	return shownID(id)
}

// storable reports whether an entry of these words is within Redis's bound.
func storable(words [][]byte) bool {
	size := 0
	for _, w := range words {
		size += len(w)
	}
	return size <= 1<<30
}

// next is the ID of a new entry behind last; it is not ok if there is no room for it.
func (ad *addition) next(last keyspace.StreamID, now int64) (id keyspace.StreamID, ok bool) {
	switch {
	case ad.now && uint64(now) > last.Ms:
		return keyspace.StreamID{Ms: uint64(now)}, true
	case ad.now:
		return last.Next()
	case ad.openSeq && ad.id.Ms == last.Ms:
		return keyspace.StreamID{Ms: last.Ms, Seq: last.Seq + 1}, last.Seq < math.MaxUint64
	}
	return ad.id, ad.id.Compare(last) > 0
}

func xTrim(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	var t trimming
	for a.Left() > 0 && !a.bad {
		if !t.option(a) {
			a.Fail(ErrSyntax)
		}
	}
	t.judge(a, true)
	if err, ok := a.Done(); !ok {
		return err
	}
	t.approximate(tx)
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil || t.excess(e.data) == 0:
		return reply.Int(0)
	}
	n := t.trim(e.write())
	e.end(1, StreamEvent, onlyIf(n > 0, "xtrim")...)
	return reply.Int(int64(n))
}
