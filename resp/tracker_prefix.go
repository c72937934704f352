package resp

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

// invalidatePrefixes reports a change to connections in BCAST mode. What a script writes is not
// its connection's own there, as in Redis.
func (tr *tracker) invalidatePrefixes(n *env.Notification, by origin) {
	for t := range tr.conns { // unordered: each by itself
		if t.options.bcast && t.db == n.DB && t.matchesPrefix(n.Channel) && (n.Scripted || !tr.isOwn(t, by)) {
			t.pending = append(t.pending, change{key: n.Channel, by: by, scripted: n.Scripted})
		}
	}
}

func (t *tracked) matchesPrefix(key string) bool {
	for _, p := range t.prefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return len(t.prefixes) == 0
}

// broadcastPrefixes returns the number of different prefixes that the connections of a database have in BCAST
// mode. A connection without prefixes counts as one with the empty prefix.
func (tr *tracker) broadcastPrefixes(db string) int64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	names := map[string]bool{}
	for t := range tr.conns { // unordered: a set
		if t.options.bcast && t.db == db && len(t.prefixes) == 0 {
			names[""] = true
		}
		for _, p := range t.prefixes {
			names[p] = names[p] || t.db == db
		}
	}
	n := int64(0)
	for _, here := range names { // unordered: a count
		if here {
			n++
		}
	}
	return n
}
