package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// zrandMember lists a whole set from the highest score on, as Redis does.
func zrandMember(tx *Tx, a *Args) reply.Value {
	key, count, single, scores := a.Bytes(), int64(1), a.Left() == 0, false
	if !single {
		count = a.drawCount()
		if scores = a.Left() == 1 && a.Word("WITHSCORES"); scores && count > math.MaxInt64/2 {
			a.Fail(errRepeats)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	z, ok := tx.findZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil && single:
		return reply.Nil()
	case z == nil:
		return reply.Array()
	case single:
		return reply.Bulk(z.At(tx.IntN(z.Len())).Member)
	}
	members, bytes := []keyspace.Scored{}, 0
	tx.draw(z.Len(), count, func(i int) bool {
		s := z.At(z.Len() - 1 - i)
		members, bytes = append(members, s), bytes+len(s.Member)
		return count > 0 || bytes <= maxRepeatBytes
	})
	if count < 0 && bytes > maxRepeatBytes {
		return errRepeats
	}
	return tx.membersReply(members, scores)
}
