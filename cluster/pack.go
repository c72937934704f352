package cluster

import (
	"trireme/cluster/requests"
	"trireme/fsm"
	"trireme/fsm/wire"
)

// pack is what one node sends in one call: requests of its session, and the mark
// below which it awaits nothing.
type pack struct {
	mark     fsm.Mark
	requests []fsm.Request
	// answer is called once, with the outcomes or with why there are none. sure says
	// that nothing of the pack was or will be applied by this try.
	answer func(outcomes []fsm.Outcome, err error, sure bool)
}

func (k *pack) size() (n int) {
	for i := range k.requests {
		n += len(k.requests[i].Body) + requests.FrameCost
	}
	return n
}

// encode writes a pack for the way to the leader.
func (k *pack) encode() []byte {
	w := wire.Writer{B: make([]byte, 0, k.size()+32)}
	w.Uvarint(k.mark.Session)
	w.Uvarint(k.mark.Below)
	fsm.EncodeRequests(&w, k.requests)
	return w.B
}

func decodePack(b []byte) (*pack, error) {
	r := wire.NewReader(b)
	k := &pack{mark: fsm.Mark{Session: r.Uvarint(), Below: r.Uvarint()}, requests: fsm.DecodeRequests(r)}
	return k, r.Done()
}
