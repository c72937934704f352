package cluster

import "github.com/trireme-dev/trireme/fsm"

// entryInRaft is an entry whose outcome is not known yet.
type entryInRaft struct {
	term    uint64
	stamp   int64 // 0 before it has one
	batches []*batch
	room    fsm.Room
	costly  bool
}

// count returns the number of requests in all batches.
func (ir *entryInRaft) count() (n int) {
	for _, b := range ir.batches {
		n += len(b.requests)
	}
	return n
}

// requests returns the requests of all batches.
func (ir *entryInRaft) requests() []fsm.Request {
	all := make([]fsm.Request, 0, ir.count())
	for _, b := range ir.batches {
		all = append(all, b.requests...)
	}
	return all
}

func (ir *entryInRaft) lowWaters() (all []fsm.LowWater) {
	for _, b := range ir.batches {
		if b.lowWater.Session != 0 {
			all = append(all, b.lowWater)
		}
	}
	return all
}
