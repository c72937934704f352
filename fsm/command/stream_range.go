package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func xLen(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	_, s, ok := find[*keyspace.StreamLog](tx, key)
	if !ok {
		return ErrWrongType
	}
	return reply.Int(int64(s.Len()))
}

func xRange(tx *Tx, a *Args) reply.Value { return streamRange(tx, a, false) }

func xRevRange(tx *Tx, a *Args) reply.Value { return streamRange(tx, a, true) }

// streamRange judges the start before the end, in whatever order they stand.
func streamRange(tx *Tx, a *Args, backwards bool) reply.Value {
	key, from, to := a.Bytes(), a.Bytes(), a.Bytes()
	if backwards {
		from, to = to, from
	}
	start, end := a.startID(from), a.endID(to)
	count, counted := int64(0), false
	for a.Left() > 0 && !a.bad {
		if a.Left() == 1 || !a.Word("COUNT") {
			a.Fail(ErrSyntax)
			break
		}
		count, counted = max(a.Int(), 0), true
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o, s, ok := find[*keyspace.StreamLog](tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Array()
	case counted && count == 0:
		return reply.NilArray()
	}
	return reply.Array(between(tx, s, start, end, count, backwards)...)
}

// between are the entries from start to end, both included, at most count unless that is
// 0.
func between(tx *Tx, s *keyspace.StreamLog, start, end keyspace.StreamID, count int64, backwards bool) (entries []reply.Value) {
	take := func(e keyspace.StreamEntry) bool {
		if e.ID.Compare(start) < 0 || e.ID.Compare(end) > 0 {
			return false
		}
		shown := shownEntry(e)
		entries = append(entries, shown)
		if tx.Charge(stepsPerElement * int64(1+len(shown.Elems()[1].Elems()))) {
			return false
		}
		return int64(len(entries)) != count
	}
	if !backwards {
		s.Ascend(s.From(start), take)
		return entries
	}
	last := s.Len() - 1
	if next, ok := end.Next(); ok {
		last = s.From(next) - 1
	}
	s.Descend(last, take)
	return entries
}

func xDel(tx *Tx, a *Args) reply.Value {
	e, ok := look(tx, a.Bytes(), keyspace.NewStreamLog)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return reply.Int(0)
	}
	ids := a.streamIDs(a.Left())
	if err, ok := a.Done(); !ok {
		return err
	}
	n := int64(0)
	for _, id := range ids {
		if _, found := e.data.Get(id); found {
			e.write().Delete(id)
			n++
		}
	}
	e.end(1, StreamEvent, "xdel")
	return reply.Int(n)
}

var (
	errAddedNegative = reply.Error("ERR entries_added must be positive")
	errAddedLow      = reply.Error("ERR The entries_added specified in XSETID is smaller than the target stream length")
	errSetLow        = reply.Error("ERR The ID specified in XSETID is smaller than the target stream top item")
	errSetDeleted    = reply.Error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
	errSetBelow      = reply.Error("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id")
)

func xSetID(tx *Tx, a *Args) reply.Value {
	key, last := a.Bytes(), a.streamID()
	added, deleted := int64(-1), keyspace.StreamID{}
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Left() > 1 && a.Word("ENTRIESADDED"):
			added = a.notNegativeInt(errAddedNegative)
		case a.Left() > 1 && a.Word("MAXDELETEDID"):
			if deleted = a.streamID(); last.Compare(deleted) < 0 {
				a.Fail(errSetDeleted)
			}
		default:
			a.Fail(ErrSyntax)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch s := e.data; {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return ErrNoKey
	case last.Compare(s.MaxDeleted()) < 0:
		return errSetBelow
	case s.Len() > 0 && last.Compare(s.Top()) < 0:
		return errSetLow
	case added >= 0 && int64(s.Len()) > added:
		return errAddedLow
	}
	e.write().SetLast(last, deleted, added)
	e.end(1, StreamEvent, "xsetid")
	return reply.OK()
}

// notNegativeInt reads an integer; one below 0 is the error e.
func (a *Args) notNegativeInt(e reply.Value) int64 {
	n := a.Int()
	if n < 0 {
		a.Fail(e)
	}
	return n
}
