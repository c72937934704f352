package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func xAck(tx *Tx, a *Args) reply.Value {
	key, group := a.Bytes(), a.Bytes()
	e, ok := look(tx, key, keyspace.NewStreamLog)
	if !ok {
		return ErrWrongType
	}
	g := e.data.Group(keyspace.Alias(group))
	if g == nil {
		return reply.Int(0)
	}
	ids := a.streamIDs(a.Left())
	if err, ok := a.Done(); !ok {
		return err
	}
	n := int64(0)
	for _, id := range ids {
		if _, pending := g.FindPending(id); pending {
			g = e.write().Own(g.Name)
			g.Acknowledge(id)
			n++
		}
	}
	e.end(1, StreamEvent)
	return reply.Int(n)
}

// What XDELEX and XACKDEL answer for an ID.
const (
	idMissing = -1
	idDeleted = 1
	idNeeded  = 2 // by some group, and so not deleted
)

var (
	errIDCount     = reply.Error("ERR Number of IDs must be a positive integer")
	errIDCountLeft = reply.Error("ERR The `numids` parameter must match the number of arguments")
)

// deletion is the words of XDELEX and XACKDEL behind their names.
type deletion struct {
	refs references
	ids  []keyspace.StreamID
}

// readDeletion reads IDS and what belongs to it, and the word about references on either
// side of that.
func readDeletion(a *Args) (p deletion) {
	given := false
	for a.Left() > 0 && !a.bad {
		refs, ok := a.references()
		switch {
		case ok && !given:
			p.refs, given = refs, true
		case !ok && p.ids == nil && a.Left() > 1 && a.Word("IDS"):
			p.ids = a.countedIDs()
		default:
			a.Fail(ErrSyntax)
		}
	}
	if p.ids == nil {
		a.Fail(ErrSyntax)
	}
	return p
}

func (a *Args) countedIDs() []keyspace.StreamID {
	n := a.IntOr(errIDCount)
	switch {
	case n < 1 || n == math.MaxInt64:
		a.Fail(errIDCount)
		return nil
	case n > int64(a.Left()):
		a.Fail(errIDCountLeft)
		return nil
	}
	return a.streamIDs(int(n))
}

// none is the reply where there is no stream, or no group.
func (d *deletion) none() reply.Value {
	codes := make([]reply.Value, len(d.ids))
	for i := range codes {
		codes[i] = reply.Int(idMissing)
	}
	return reply.Array(codes...)
}

// delete deletes one entry as far as groups let it.
func (d *deletion) delete(s *keyspace.StreamLog, id keyspace.StreamID) int64 {
	_, found := s.Get(id)
	switch {
	case d.refs == dropReferences:
		s.Forget(id)
	case found && d.refs == onlyAcknowledged && s.Referenced(id):
		return idNeeded
	}
	if !found {
		return idMissing
	}
	s.Delete(id)
	return idDeleted
}

func xDelEx(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	p := readDeletion(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return p.none()
	}
	s, codes := e.write(), make([]reply.Value, len(p.ids))
	before := s.Len()
	for i, id := range p.ids {
		codes[i] = reply.Int(p.delete(s, id))
	}
	e.end(1, StreamEvent, onlyIf(s.Len() < before, "xdel")...)
	return reply.Array(codes...)
}

// xAckDel deletes what it acknowledged: in Redis an ID that is not pending is a missing one. Where the dialect says so it
// also deletes what was delivered to the group and is not pending any more.
func xAckDel(tx *Tx, a *Args) reply.Value {
	key, group := a.Bytes(), a.Bytes()
	p := readDeletion(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewStreamLog)
	if !ok {
		return ErrWrongType
	}
	g := e.data.Group(keyspace.Alias(group))
	if g == nil {
		return p.none()
	}
	s := e.write()
	length, before := s.Len(), tx.dialect().deletesAcknowledged
	g = s.Own(g.Name)
	codes := make([]reply.Value, len(p.ids))
	for i, id := range p.ids {
		code, pending := int64(idMissing), g.Acknowledge(id)
		if pending || before && id.Compare(g.Last) <= 0 {
			code = p.delete(s, id)
		}
		if pending && code == idMissing {
			code = idDeleted // it was gone already
		}
		codes[i] = reply.Int(code)
	}
	e.end(1, StreamEvent, onlyIf(s.Len() < length, "xdel")...)
	return reply.Array(codes...)
}
