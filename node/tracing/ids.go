package tracing

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/otlp"
)

// digest hashes the kind, the database and the id of a thing. Trace and span ids are parts of it.
func digest(what, db, id string, number uint64) [sha256.Size]byte {
	b := make([]byte, 0, 128)
	for _, s := range []string{what, db, id} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(binary.BigEndian.AppendUint64(b, number))
}

func spanID(what, db, id string, number uint64) (s otlp.SpanID) {
	sum := digest(what, db, id, number)
	copy(s[:], sum[:])
	s[7] |= 1 // the zero id is none
	return s
}

func traceID(what, db, id string, number uint64) (t otlp.TraceID) {
	sum := digest(what, db, id, number)
	copy(t[:], sum[:])
	t[15] |= 1
	return t
}

// publishSpan and attemptSpan are the spans of a message: its publication, and each attempt.
func publishSpan(db string, id queue.ID) otlp.SpanID { return spanID("publish", db, id.String(), 0) }

func attemptSpan(db string, id queue.ID, number uint64) otlp.SpanID {
	return spanID("attempt", db, id.String(), number)
}

// remote reads the ids of a trace context, zero if there is none.
func remote(c queue.TraceContext) (t otlp.TraceID, s otlp.SpanID) {
	if !c.IsZero() {
		_, _ = hex.Decode(t[:], []byte(c.TraceID())) // it was judged when it was stored
		_, _ = hex.Decode(s[:], []byte(c.SpanID()))
	}
	return t, s
}
