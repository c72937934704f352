package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// zscan answers scores as strings, in RESP3 too. A missing key has nothing to scan,
// whatever stands behind the cursor.
func zscan(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	cursor, ok := tx.cursor(a.Bytes())
	if !ok {
		return ErrCursor
	}
	z, ok := tx.findZSet(key)
	switch {
	case !ok:
		return ErrWrongType
	case z == nil:
		return emptyPage()
	}
	o := readPageOptions(tx, a, false)
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.lookAt(int64(min(o.count, z.Len()))) {
		return reply.Nil()
	}
	var found []reply.Value
	next := z.Scan(cursor, o.count, func(s keyspace.Scored) {
		if o.shows(tx, s.Member) {
			found = append(found, reply.Bulk(s.Member), reply.Bulk(tx.scoreText(s.Score)))
		}
	})
	return page(next, found)
}
