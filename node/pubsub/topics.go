package pubsub

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/channel"
)

// The memory of a channel or pattern beside its name, which is kept twice, and of a subscription to it, in bytes.
const (
	topicCost  = 512
	memberCost = 256
)

// topicTable holds the channels and patterns of all databases that have subscribers here.
type topicTable struct {
	byRef    map[channel.Ref]*topic
	patterns map[string][]*topic // by database, in the order of their names
	sizes    map[string]int      // of topics and their members, by database
	maxBytes int                 // for one database
}

// topic is a channel or pattern with subscribers here, or whose last one has just left.
type topic struct {
	ref          channel.Ref
	members      []*member
	unannounced  []*member // in no announcement yet
	announced    int       // the count of the last announcement
	acknowledged bool      // the last announcement is not known to have failed
	queued       bool
}

// topic returns the topic of ref, and makes it if needed; the lock is held, as by all callers of these methods.
func (tt *topicTable) topic(ref channel.Ref) *topic {
	if t := tt.byRef[ref]; t != nil {
		return t
	}
	t := &topic{ref: ref, acknowledged: true}
	tt.byRef[ref] = t
	tt.resize(ref.DB, topicSize(ref))
	if ref.Kind == channel.Pattern {
		i, _ := tt.patternIndex(ref)
		tt.patterns[ref.DB] = slices.Insert(tt.patterns[ref.DB], i, t)
	}
	return t
}

func topicSize(ref channel.Ref) int { return topicCost + 2*len(ref.Name) }

// resize notes that the subscriptions of a database take so many bytes more; the lock is held.
func (tt *topicTable) resize(db string, bytes int) {
	if tt.sizes[db] += bytes; tt.sizes[db] == 0 {
		delete(tt.sizes, db)
	}
}

// fits reports whether there is room for names besides what the database subscribes to; the lock is held.
func (tt *topicTable) fits(s *Subscription, kind channel.Kind, names []string) bool {
	bytes := tt.sizes[s.db]
	for _, name := range names {
		ref := channel.Ref{DB: s.db, Kind: kind, Name: name}
		if s.members[ref] == nil {
			bytes += memberCost
		}
		if tt.byRef[ref] == nil {
			bytes += topicSize(ref)
		}
	}
	return bytes <= tt.maxBytes
}

// forget drops a topic without subscribers once the log has its count of 0; the lock is held.
func (tt *topicTable) forget(t *topic) {
	if len(t.members) > 0 || t.queued || !t.acknowledged || t.announced != 0 || tt.byRef[t.ref] != t {
		return
	}
	delete(tt.byRef, t.ref)
	tt.resize(t.ref.DB, -topicSize(t.ref))
	if t.ref.Kind != channel.Pattern {
		return
	}
	i, _ := tt.patternIndex(t.ref)
	if tt.patterns[t.ref.DB] = slices.Delete(tt.patterns[t.ref.DB], i, i+1); len(tt.patterns[t.ref.DB]) == 0 {
		delete(tt.patterns, t.ref.DB)
	}
}

// patternIndex is the index of a pattern among those of its database; the lock is held.
func (tt *topicTable) patternIndex(ref channel.Ref) (int, bool) {
	return slices.BinarySearchFunc(tt.patterns[ref.DB], ref.Name, func(t *topic, name string) int { return strings.Compare(t.ref.Name, name) })
}
