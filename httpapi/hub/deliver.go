package hub

import (
	"cmp"
	"slices"

	"trireme/fsm/channel"
	"trireme/fsm/env"
	"trireme/fsm/glob"
)

// deliver gives a message to the members of its channel and then to those of patterns
// that match, as the log counts them; the lock is held.
func (h *Hub) deliver(n *env.Note) {
	kind := channel.Plain
	if n.Kind == env.ShardMessage {
		kind = channel.Shard
	}
	h.fan(h.topics[channel.Ref{DB: n.DB, Kind: kind, Name: n.Channel}], n)
	if kind != channel.Plain {
		return
	}
	for _, t := range h.patterns[n.DB] {
		if glob.Match(t.ref.Name, n.Channel) {
			h.fan(t, n)
		}
	}
}

func (h *Hub) fan(t *topic, n *env.Note) {
	if t == nil {
		return
	}
	e := Event{Kind: t.ref.Kind, Name: t.ref.Name, Channel: n.Channel, Message: n.Message}
	for i := len(t.members) - 1; i >= 0; i-- { // downwards: whoever is too slow leaves
		if i < len(t.members) && t.members[i].active {
			h.push(t.members[i].sub, e)
		}
	}
}

// activate confirms the members of a request that has been applied: what follows in
// the log is theirs. The lock is held.
func (h *Hub) activate(serial uint64) {
	members := h.counted[serial]
	delete(h.counted, serial)
	slices.SortFunc(members, func(a, b *member) int { return cmp.Compare(a.order, b.order) })
	for _, m := range members {
		if m.at >= 0 {
			m.active = true
			h.push(m.sub, Event{Confirmed: true, Kind: m.topic.ref.Kind, Name: m.topic.ref.Name})
		}
	}
}
