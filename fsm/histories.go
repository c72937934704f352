package fsm

import "github.com/trireme-dev/trireme/fsm/queue"

// ShortHistory is a history of a database that gives way to its bytes long before its retention is over.
type ShortHistory struct {
	Database string
	Runs     bool // of ended runs; otherwise of events
	queue.Reach
}

// ShortHistories returns such histories in the order of the names of their databases, those of at most limit databases. It looks at no
// database whose histories have room.
func (v *View) ShortHistories(limit int) (list []ShortHistory) {
	crowded := has(isCrowded)
	for d := v.s.first(crowded); d != nil && limit > 0; d = v.s.after(d, crowded) {
		limit--
		if d.messages == nil {
			continue
		}
		if r := d.messages.Reach(v.Now()); r.Short(v.Now()) {
			list = append(list, ShortHistory{d.name, false, r})
		}
		if r := d.workflows.Reach(v.Now()); r.Short(v.Now()) {
			list = append(list, ShortHistory{d.name, true, r})
		}
	}
	return list
}
