package queue

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Settings are the replicated limits of messages. Times are in milliseconds, sizes in bytes. A zero limit is none.
type Settings struct {
	// EventAge and EventBytes bound the events and the delivered and cancelled messages that are kept.
	EventAge, EventBytes int64
	// DeadAge and DeadBytes bound the dead letters.
	DeadAge, DeadBytes int64
	// Grace is the time that a message can be read after it is done, if its events are still there.
	Grace int64
	// DedupWindow is the time that a deduplication id is remembered.
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
		EventAge: 14 * day, EventBytes: defaultEventBytes, DeadAge: 7 * day, DeadBytes: 1 << 30,
		Grace: 10 * minute, DedupWindow: 10 * minute, DefaultRetries: 3, MaxTimeout: 120 * minute,
	}
}

// The default of EventBytes, and what it is below env.Files, where all events are in memory.
const (
	defaultEventBytes = 32 << 30
	formerEventBytes  = 256 << 20
)

// formerSettings are the default settings below env.Files.
func formerSettings() Settings {
	s := DefaultSettings()
	s.EventBytes = formerEventBytes
	return s
}

// Raise tells the store that a feature level is in force.
func (s *Store) Raise(to env.Level) {
	s.sealing = to >= env.Files
	if to >= env.Files && s.settings.EventBytes == formerEventBytes {
		s.settings.EventBytes = DefaultSettings().EventBytes
	}
}

// Fields codes the value in its wire format.
func (s *Settings) Fields(c *wire.Codec) {
	for _, v := range s.numbers() {
		c.Varint(v)
	}
	for _, v := range s.counts() {
		c.Int(v)
	}
}

func (s *Settings) numbers() []*int64 {
	return []*int64{&s.EventAge, &s.EventBytes, &s.DeadAge, &s.DeadBytes, &s.Grace, &s.DedupWindow, &s.MaxTimeout, &s.MaxDelay, &s.MaxMessage}
}

// counts stand behind the numbers; new ones go to the end.
func (s *Settings) counts() []*int {
	return []*int{&s.DefaultRetries, &s.MaxRetries, &s.MaxParallelism, &s.MaxQueues, &s.MaxSchedules, &s.MaxGroups, &s.MaxEndpoints, &s.GlobalParallelism}
}
