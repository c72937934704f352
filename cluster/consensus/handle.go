package consensus

import (
	"github.com/trireme-dev/trireme/cluster/consensus/replication"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// Handle answers a call that another node's Replica has made, and reports whether it is one.
func (r *Replica) Handle(kind transport.Kind, payload []byte, answer func([]byte, error)) bool {
	switch kind {
	case r.c.Calls.Append:
		replication.Answer(r.c.Mux.Context(), r.transport.toRaft, payload, answer)
	case r.c.Calls.Confirm:
		r.answerTerm(answer)
	case r.c.Calls.CommitIndex:
		if p, err := DecodePoint(payload); err == nil {
			r.LearnCommitIndex(p)
		}
	case r.c.Calls.Campaign:
		go r.answerConsent(payload, answer)
	default:
		return false
	}
	return true
}
