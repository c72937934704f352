package stats

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
)

// What a slow call keeps of its words.
const (
	maxSlowWords     = 32
	maxSlowWordBytes = 128
)

// Keeps reports whether the slow log keeps a call that took so long.
func (d *Database) Keeps(took time.Duration) bool {
	from := d.limits.Load().SlowMicros
	return from >= 0 && took.Microseconds() >= from
}

// addSlow adds a call to the slow log, which keeps so many.
func (d *Database) addSlow(argv [][]byte, took time.Duration, by Caller, most int64) {
	call := command.SlowCall{At: time.Now().Unix(), Micros: took.Microseconds(), Argv: shorten(argv), Addr: by.Addr, Name: by.Name}
	d.mu.Lock()
	defer d.mu.Unlock()
	call.ID = d.slowID
	d.slowID++
	d.slow = append(d.slow, call)
	d.slow = slices.Delete(d.slow, 0, max(0, len(d.slow)-int(most)))
}

// addSpike adds a call to the latency events.
func (d *Database) addSpike(c *command.Command, took time.Duration) {
	event := "command"
	if c.Flags&command.Fast != 0 {
		event = "fast-command"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spike(event, time.Now(), took)
}

// maxSpikeSamples bounds the samples of an event.
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
	if s.Samples = append(s.Samples, command.SpikeSample{At: at.Unix(), Millis: ms}); len(s.Samples) > maxSpikeSamples {
		s.Samples = slices.Delete(s.Samples, 0, 1)
	}
}

// redacted stands for words that may be a secret.
const redacted = "(redacted)"

// redact is the call without passwords.
func redact(c *command.Command, argv [][]byte) [][]byte {
	from, to := len(argv), len(argv)
	switch c.Name {
	case "auth":
		from = 1
	case "hello":
		from = min(2, len(argv))
		for i, word := range argv {
			if i > 1 && command.EqualFold(word, "AUTH") {
				from, to = i+1, min(i+3, len(argv))
				break
			}
		}
	case "acl setuser", "acl resttoken", "acl gentoken":
		from = min(2, len(argv))
	case "config set":
		from = configSecret(argv)
	}
	if from >= to {
		return argv
	}
	shown := slices.Clone(argv)
	for i := from; i < to; i++ {
		shown[i] = []byte(redacted)
	}
	return shown
}

// configSecret is the first word of CONFIG SET that may be a secret: what follows a name that speaks of one.
func configSecret(argv [][]byte) int {
	for i := 2; i < len(argv); i += 2 {
		if name := strings.ToLower(string(argv[i])); strings.Contains(name, "pass") || strings.Contains(name, "auth") {
			return i + 1
		}
	}
	return len(argv)
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
