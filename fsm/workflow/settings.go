package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const day = 86_400_000

// Settings are the replicated limits of workflows. Times are in milliseconds, sizes in bytes. A zero limit is none.
type Settings struct {
	// EndedAge and EndedBytes bound the runs that are over and have no dead letter. A run's id is taken as long as the
	// run is kept, so EndedAge is also how long an id can't be used again.
	EndedAge, EndedBytes int64
	// DeadAge bounds the dead letters of runs.
	DeadAge int64
	// Inline is the largest body of a delivery to an endpoint that can fetch the log.
	Inline int64
	// SavedBytes bounds the stored notifications of one run, and MaxSaved their number.
	SavedBytes int64
	MaxSaved   int
	// MaxDepth is the largest depth of runs that invoke one another.
	MaxDepth int
}

// DefaultSettings are those of the reference service where it names some.
func DefaultSettings() Settings {
	return Settings{
		EndedAge: 7 * day, EndedBytes: defaultEndedBytes, DeadAge: 7 * day, Inline: 1 << 20, SavedBytes: 1 << 20, MaxSaved: 100, MaxDepth: 100,
	}
}

// The default of EndedBytes, and what it is below env.Files, where all runs are in memory.
const (
	defaultEndedBytes = 8 << 30
	formerEndedBytes  = 1 << 30
)

// formerSettings are the default settings below env.Files.
func formerSettings() Settings {
	s := DefaultSettings()
	s.EndedBytes = formerEndedBytes
	return s
}

// Raise tells the store that a feature level is in force.
func (s *Store) Raise(to env.Level) {
	s.past.on = to >= env.Files
	if to >= env.Files && s.settings.EndedBytes == formerEndedBytes {
		s.settings.EndedBytes = defaultEndedBytes
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
	return []*int64{&s.EndedAge, &s.EndedBytes, &s.DeadAge, &s.Inline, &s.SavedBytes}
}

// counts stand behind the numbers; new ones go to the end.
func (s *Settings) counts() []*int { return []*int{&s.MaxSaved, &s.MaxDepth} }
