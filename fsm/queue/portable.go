package queue

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/saving"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// recordNames are the names of records in exports, by their kinds.
var recordNames = [...]string{
	kindHead: "head", kindQueue: "queue", kindFlow: "flow-control-key", kindHost: "host", kindGroup: "url-group", kindSchedule: "schedule",
	kindMessage: "message", kindEvent: "event", kindDead: "dead-letter", kindDedup: "deduplication", kindBulk: "bulk-action",
	kindVolume: "event-history", kindTrigger: "trigger", kindLine: "shared-line", kindShare: "tenant",
	kindGathering: "gathering", kindPart: "batch-part", kindStopped: "stopped",
}

// SavePortable is Save without the signing keys, which are secrets of a database.
func (s *Store) SavePortable(emit func(record []byte) error) error {
	plain := *s
	plain.keys = Keys{}
	return plain.Save(emit)
}

// TakeOver makes what was loaded from elsewhere a successor of old: the settings and the signing keys stay the database's own,
// and numbers go on from whichever is further.
func (s *Store) TakeOver(old *Store) {
	s.settings, s.keys, s.sender, s.sealing = old.settings, old.keys, old.sender, old.sealing
	s.serial, s.events.newest = max(s.serial, old.serial), max(s.events.newest, old.events.newest)
}

// RecordKind is the name of a record of Save, empty if it is none.
func RecordKind(record []byte) string {
	if len(record) == 0 || int(record[0]) >= len(recordNames) {
		return ""
	}
	return recordNames[record[0]]
}

// Describe decodes what people want to see of a record of Save: a *Queue, *FlowKey, *Group, *Schedule, *Trigger or *Message, nil for others
// and for what can't be read.
func Describe(record []byte) any {
	if len(record) == 0 {
		return nil
	}
	var out wire.Record
	switch kind(record[0]) {
	case kindQueue:
		out = &Queue{}
	case kindFlow:
		out = &FlowKey{}
	case kindGroup:
		out = &Group{}
	case kindSchedule:
		out = &Schedule{}
	case kindTrigger:
		out = &Trigger{}
	case kindMessage:
		out = &Message{}
	default:
		return nil
	}
	r := wire.NewReader(append([]byte(nil), record[1:]...))
	if r.Get(out); r.Err() != nil {
		return nil
	}
	return out
}

// State returns the state of the delivery.
func (m *Message) State() State { return m.state }

// SaveLasting emits what a restore keeps as it is: queues, URL groups, schedules, triggers, and messages that are still to be delivered,
// without how far they are, and without those that are to be cancelled.
func (s *Store) SaveLasting(emit func(record []byte) error) error {
	out := &saving.Saver{Emit: emit}
	saving.Each(out, kindQueue, s.queues.byNo, func(_ uint64, q *Queue, w *wire.Writer) { w.Put(q) })
	saving.Each(out, kindGroup, s.groups.byName, func(_ string, g *Group, w *wire.Writer) { w.Put(g) })
	saving.Each(out, kindSchedule, s.schedules.byID, func(_ string, c *Schedule, w *wire.Writer) { w.Put(c) })
	saving.Each(out, kindTrigger, s.triggers.byName, func(_ string, t *Trigger, w *wire.Writer) { w.Put(t) })
	s.messages.All(func(_ uint64, m *Message) bool {
		return m.place == placeDone || m.stopping || saving.Put(out, kindMessage, func(w *wire.Writer) {
			w.Put(&m.ID)
			w.PutRecord(m.Content())
		})
	})
	return out.Err
}

// errInconsistent says that a record refers to another that is not there, which none of a saved store does.
var errInconsistent = errors.New("queue: a record refers to one that is missing")

// Consistent returns an error unless all that the records of a loaded store refer to was loaded too.
func (s *Store) Consistent() error {
	hosts := map[uint64]bool{}
	s.hosts.All(func(_ string, h *host) bool {
		hosts[h.no] = true
		return true
	})
	all, done := s.places.shares.consistent(), 0
	s.messages.All(func(seq uint64, m *Message) bool {
		if m.place == placeDone {
			done++
		}
		all = all && seq <= s.serial && s.placeExists(m, hosts) && s.hasShares(m)
		return all
	})
	s.gathered.parts.All(func(_ uint64, p *part) bool {
		_, found := s.messages.Get(p.batch)
		all = all && found
		return all
	})
	if !all || s.places.len()+done != s.messages.Len() { // a message that came twice has two places
		return errInconsistent
	}
	return nil
}

// placeExists reports whether what the place of a message is about is there. Queues that were deleted, and flow-control keys that
// were forgotten, are missing to others.
func (s *Store) placeExists(m *Message, hosts map[uint64]bool) bool {
	if m.place == placeDone {
		return true
	}
	if _, found := s.flows.byNo.Get(m.flow); !found && (m.flow != 0 || m.place == placeWaiting) {
		return false
	}
	switch m.place {
	case placeBacklog:
		_, found := s.queues.byNo.Get(m.queue)
		return found
	case placeParked:
		return hosts[uint64(m.at)]
	case placeActive:
		_, found := s.hosts.Get(m.claim.host)
		return found
	}
	return true
}
