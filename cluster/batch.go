package cluster

import (
	"errors"

	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// batch holds what one node sends in one call: requests of its session, and the low-water mark below which it awaits no
// outcome.
type batch struct {
	lowWater fsm.LowWater
	requests []fsm.Request
	costly   bool // of a database that has used its share, or large; known to the leader
	// answer is called once, with the outcomes or with an error. sure says that this try has not applied and will not
	// apply anything of the batch.
	answer func(outcomes []fsm.Outcome, err error, sure bool)
}

func (b *batch) size() (n int) {
	for i := range b.requests {
		n += len(b.requests[i].Body) + session.FrameCost
	}
	return n
}

// encode writes a batch for the way to the leader.
func (b *batch) encode() []byte {
	w := wire.Writer{B: make([]byte, 0, b.size()+32)}
	w.Uvarint(b.lowWater.Session)
	w.Uvarint(b.lowWater.Below)
	fsm.EncodeRequests(&w, b.requests)
	return w.B
}

func decodeBatch(payload []byte) (*batch, error) {
	r := wire.NewReader(payload)
	b := &batch{lowWater: fsm.LowWater{Session: r.Uvarint(), Below: r.Uvarint()}, requests: fsm.DecodeRequests(r)}
	return b, r.Done()
}

// answerBatch writes the answer to a forwarded batch.
func answerBatch(b *batch, outcomes []fsm.Outcome, err error, sure bool) []byte {
	var w wire.Writer
	w.Bool(err != nil)
	if err != nil {
		w.Bool(sure)
		w.String(err.Error())
		return w.B
	}
	fsm.EncodeOutcomes(&w, outcomes)
	return w.B
}

// readBatchAnswer reads what answerBatch wrote.
func readBatchAnswer(b *batch, payload []byte) (outcomes []fsm.Outcome, err error, sure bool) {
	r := wire.NewReader(payload)
	if r.Bool() {
		sure = r.Bool()
		return nil, errors.New(r.String()), sure
	}
	if outcomes, err = fsm.DecodeOutcomes(r, b.lowWater.Session); err == nil && len(outcomes) != len(b.requests) {
		err = errors.New("cluster: answer to a batch of another size")
	}
	return outcomes, err, false
}
