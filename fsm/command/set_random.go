package command

import (
	"github.com/trireme-dev/trireme/fsm/reply"
)

func sPop(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	count, given := a.maybe((*Args).positive)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := lookSet(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil && !given:
		return reply.Nil()
	case e.object == nil || count == 0:
		return reply.Set()
	case count >= int64(e.data.Len()) && given:
		all := tx.allMembers(e.data)
		tx.Event(SetEvent, "spop", key)
		tx.remove(key)
		return all
	}
	popped := make([]reply.Value, count)
	for i := range popped {
		popped[i] = reply.Bulk(e.write().Pop(tx.Env))
	}
	e.end(e.data.Len(), SetEvent, "spop")
	if !given {
		return popped[0]
	}
	return reply.Set(popped...)
}

func sRandMember(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	count, given := a.maybe((*Args).drawCount)
	if err, ok := a.Done(); !ok {
		return err
	}
	_, set, ok := findSet(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case !given && set.Len() == 0:
		return reply.Nil()
	case !given:
		return reply.Bulk(set.At(tx.IntN(set.Len())))
	}
	var d drawn
	tx.draw(set.Len(), count, func(i int) bool { return d.add(set.At(i)) || count > 0 })
	return d.reply(count, reply.Array)
}
