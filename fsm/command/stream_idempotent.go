package command

import (
	"encoding/binary"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errIDMPTwice    = reply.Error("ERR syntax error, IDMP and IDMPAUTO at the same time are not compatible")
	errIDMPEmpty    = reply.Error("ERR the producer and the idempotent id must not be empty")
	errIDMPDuration = reply.Error("ERR IDMP-DURATION must be between 1 and " + strconv.Itoa(keyspace.MaxIdempotenceSeconds) + " seconds")
	errIDMPMaxSize  = reply.Error("ERR IDMP-MAXSIZE must be between 1 and " + strconv.Itoa(keyspace.MaxIdempotenceIDs))
)

// idempotent reads who adds and under which id, if that is next.
func (ad *addition) idempotent(a *Args) bool {
	named := a.Left() > 2 && a.Word("IDMP")
	if !named && !(a.Left() > 1 && a.Word("IDMPAUTO")) {
		return false
	}
	if ad.once {
		a.Fail(errIDMPTwice)
	}
	ad.once, ad.byContent, ad.producer = true, !named, a.Bytes()
	if named {
		ad.iid = a.Bytes()
	}
	if len(ad.producer) == 0 || named && len(ad.iid) == 0 {
		a.Fail(errIDMPEmpty)
	}
	return true
}

// contentID is an id of fields and values, alternating: a fixed hash of the words with their
// lengths.
func contentID(words [][]byte) []byte {
	h := xxh3.New()
	for _, w := range words {
		h.Write(binary.AppendUvarint(nil, uint64(len(w))))
		h.Write(w)
	}
	id := h.Sum128().Bytes()
	return id[:]
}

// before is the entry that the addition has made before.
func (ad *addition) before(s *keyspace.StreamLog, now int64) (id keyspace.StreamID, ok bool) {
	if !ad.once {
		return id, false
	}
	return s.AddedBefore(keyspace.Alias(ad.producer), keyspace.Alias(ad.iid), now)
}

func xCfgSet(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	var seconds, ids int64 // 0 where not given
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Left() > 1 && a.Word("IDMP-DURATION"):
			if seconds = a.IntOr(errIDMPDuration); seconds < 1 || seconds > keyspace.MaxIdempotenceSeconds {
				a.Fail(errIDMPDuration)
			}
		case a.Left() > 1 && a.Word("IDMP-MAXSIZE"):
			if ids = a.IntOr(errIDMPMaxSize); ids < 1 || ids > keyspace.MaxIdempotenceIDs {
				a.Fail(errIDMPMaxSize)
			}
		default:
			a.Fail(ErrSyntax)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return ErrNoKey
	}
	s := e.write()
	m := s.OwnIdempotence()
	if seconds == 0 {
		seconds = m.Seconds
	}
	if ids == 0 {
		ids = m.IDs
	}
	s.Configure(seconds, ids)
	e.end(1, StreamEvent)
	return reply.OK()
}
