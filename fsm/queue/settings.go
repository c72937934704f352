package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// Settings are the replicated limits of messages. Times are in milliseconds, sizes in bytes. A zero limit is none.
type Settings struct {
	// EventAge and EventBytes bound the events and the delivered and cancelled messages that are kept.
	EventAge, EventBytes int64
	// DeadAge and DeadBytes bound the dead letters.
	DeadAge, DeadBytes int64
	// Grace is how long a message can be read after it is done, if its events are still there.
	Grace int64
	// DedupWindow is how long a deduplication id is remembered.
	DedupWindow int64
	// DefaultRetries is for messages that name none.
	DefaultRetries int
	// MaxTimeout bounds one attempt, and is the timeout of messages that name none.
	MaxTimeout int64
	// MaxDelay, MaxMessage, MaxRetries and MaxParallelism bound what a message may ask for.
	MaxDelay, MaxMessage       int64
	MaxRetries, MaxParallelism int
	// MaxQueues, MaxSchedules, MaxGroups and MaxEndpoints bound how many there may be; endpoints in one group.
	MaxQueues, MaxSchedules, MaxGroups, MaxEndpoints int
	// GlobalParallelism is the most attempts under way at once.
	GlobalParallelism int
}

const (
	minute = 60_000
	day    = 24 * 60 * minute
)

// DefaultSettings are those of the reference service's paid plans where it has some, and none where
// none are needed.
func DefaultSettings() Settings {
	return Settings{
		EventAge: 14 * day, EventBytes: 256 << 20, DeadAge: 7 * day, DeadBytes: 1 << 30,
		Grace: 10 * minute, DedupWindow: 10 * minute, DefaultRetries: 3, MaxTimeout: 120 * minute,
	}
}

// Fields are those of the format.
func (n *Settings) Fields(c *wire.Codec) {
	for _, v := range n.numbers() {
		c.Varint(v)
	}
	for _, v := range n.counts() {
		c.Int(v)
	}
}

func (n *Settings) numbers() []*int64 {
	return []*int64{&n.EventAge, &n.EventBytes, &n.DeadAge, &n.DeadBytes, &n.Grace, &n.DedupWindow, &n.MaxTimeout, &n.MaxDelay, &n.MaxMessage}
}

// counts stand behind the numbers; new ones go to the end.
func (n *Settings) counts() []*int {
	return []*int{&n.DefaultRetries, &n.MaxRetries, &n.MaxParallelism, &n.MaxQueues, &n.MaxSchedules, &n.MaxGroups, &n.MaxEndpoints, &n.GlobalParallelism}
}
