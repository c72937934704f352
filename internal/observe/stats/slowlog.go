package stats

import (
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
)

// What a slow call keeps of its words.
const (
	maxSlowWords     = 32
	maxSlowWordBytes = 128
)

// addSlow adds a call to the slow log, and to the latency events if it was very slow.
func (d *Database) addSlow(c *command.Command, argv [][]byte, took time.Duration, by Caller) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.slow) == slowlogMaxLen {
		d.slow = append(d.slow[:0], d.slow[1:]...)
	}
	d.slow = append(d.slow, command.SlowCall{ID: d.slowID, At: now.Unix(), Micros: took.Microseconds(), Argv: shorten(argv), Addr: by.Addr, Name: by.Name})
	d.slowID++
	if took < latencyThreshold {
		return
	}
	event := "command"
	if c.Flags&command.Fast != 0 {
		event = "fast-command"
	}
	d.spike(event, now, took)
}

// maxSpikeSamples is how many samples an event keeps.
const maxSpikeSamples = 160

func (d *Database) spike(event string, at time.Time, took time.Duration) {
	s := d.spikes[event]
	if s == nil {
		s = &command.Spike{Event: event}
		d.spikes[event] = s
	}
	ms := took.Milliseconds()
	s.Most = max(s.Most, ms)
	if n := len(s.Samples); n > 0 && s.Samples[n-1].At == at.Unix() {
		s.Samples[n-1].Millis = max(s.Samples[n-1].Millis, ms)
		return
	}
	if len(s.Samples) == maxSpikeSamples {
		s.Samples = append(s.Samples[:0], s.Samples[1:]...)
	}
	s.Samples = append(s.Samples, command.SpikeSample{At: at.Unix(), Millis: ms})
}

// shorten keeps the beginning of a call's words, as Redis does.
func shorten(argv [][]byte) []string {
	words := make([]string, 0, min(len(argv), maxSlowWords))
	for i, w := range argv {
		if len(argv) > maxSlowWords && i == maxSlowWords-1 {
			return append(words, fmt.Sprintf("... (%d more arguments)", len(argv)-i))
		}
		if len(w) > maxSlowWordBytes {
			words = append(words, fmt.Sprintf("%s... (%d more bytes)", w[:maxSlowWordBytes], len(w)-maxSlowWordBytes))
			continue
		}
		words = append(words, string(w))
	}
	return words
}

// Slow are the newest n slow calls.
func (d *Database) Slow(n int) (calls []command.SlowCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.slow) - 1; i >= 0 && len(calls) != n; i-- {
		calls = append(calls, d.slow[i])
	}
	return calls
}

// ResetSlow forgets the slow calls.
func (d *Database) ResetSlow() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slow = nil
}
