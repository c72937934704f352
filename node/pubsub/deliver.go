package pubsub

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/glob"
)

// deliver queues a message for the members of its channel and then for those of matching
// patterns, in the order in which PUBLISH counts them; the lock is held.
func (h *Hub) deliver(n *env.Notification) {
	kind := channel.Plain
	if n.Kind == env.ShardMessage {
		kind = channel.Shard
	}
	h.fanOut(h.topics.byRef[channel.Ref{DB: n.DB, Kind: kind, Name: n.Channel}], n)
	if kind != channel.Plain {
		return
	}
	for _, t := range h.topics.patterns[n.DB] {
		if glob.Match(t.ref.Name, n.Channel) {
			h.fanOut(t, n)
		}
	}
}

func (h *Hub) fanOut(t *topic, n *env.Notification) {
	if t == nil {
		return
	}
	e := Event{Kind: t.ref.Kind, Name: t.ref.Name, Channel: n.Channel, Message: n.Message}
	for i := len(t.members) - 1; i >= 0; i-- { // downwards: members that are too slow are removed
		if i < len(t.members) && t.members[i].active {
			h.push(t.members[i].sub, e)
		}
	}
}

// activate confirms the members of an announcement that was applied: they get the messages after it. The lock is held.
func (h *Hub) activate(serial uint64) {
	members := h.awaitingApply[serial]
	delete(h.awaitingApply, serial)
	slices.SortFunc(members, func(a, b *member) int { return cmp.Compare(a.order, b.order) })
	for _, m := range members {
		if m.index >= 0 {
			m.active = true
			h.push(m.sub, Event{Confirmed: true, Kind: m.topic.ref.Kind, Name: m.topic.ref.Name})
		}
	}
}
