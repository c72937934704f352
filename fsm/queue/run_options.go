package queue

import (
	"fmt"
	"slices"
	"strings"
)

// RunOptions are what the start of a workflow run asks for beyond what its messages need.
type RunOptions struct {
	// Keep are names of events that are kept for the run until it waits for them; one with an asterisk at its end is the beginning of
	// names.
	Keep []string
	// Updates is the JSON object of the updates that the run accepts, empty if it says nothing of them. Package workflow reads it.
	Updates string
	// Inline: its endpoint may record several steps by one delivery.
	Inline bool
	// Deployment is the name of the one that the run is to be on, empty for none.
	Deployment string
	// KeepValues are names of keys whose values the run keeps as its steps' commands have left them, written as those of events are.
	KeepValues []string
}

// IsZero reports whether nothing is asked for.
func (o *RunOptions) IsZero() bool {
	return len(o.Keep)+len(o.KeepValues) == 0 && o.Updates == "" && !o.Inline && o.Deployment == ""
}

// The limits of the events that a run keeps.
const (
	MaxKept     = 16
	MaxKeptName = 256
)

// RunOptions returns what the directives of the scope OfRun say.
func (c *Config) RunOptions() RunOptions { return c.forRun }

func (c *Config) keepEvents(v string) string { return readKept(&c.forRun.Keep, v) }

func (c *Config) keepValues(v string) string { return readKept(&c.forRun.KeepValues, v) }

func readKept(to *[]string, v string) string {
	var list []string
	for _, name := range split(v) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if wrong := WrongKept(list); wrong != "" {
		return wrong
	}
	*to = list
	return ""
}

// WrongKept says what is wrong with a list of events or keys to keep, empty if nothing is.
func WrongKept(list []string) string {
	if len(list) > MaxKept {
		return fmt.Sprintf("too many names. Limit: %d, Actual: %d. Setting: none, it is fixed", MaxKept, len(list))
	}
	for _, name := range list {
		switch {
		case len(name) > MaxKeptName:
			return fmt.Sprintf("a name is too long. Limit: %d bytes, Actual: %d. Setting: none, it is fixed", MaxKeptName, len(name))
		case name == "" || strings.ContainsFunc(name, isControl) || strings.Contains(strings.TrimSuffix(name, "*"), "*"):
			return "use names of events or keys, separated by commas; an asterisk may be at the end of a name"
		}
	}
	if len(list) == 0 {
		return "use names of events or keys, separated by commas"
	}
	return ""
}

func (c *Config) updates(v string) string {
	if !FitsHeader(v) {
		return ControlRule
	}
	c.forRun.Updates = v
	return ""
}

func (c *Config) deployment(v string) string {
	if !ValidName(v) {
		return nameRule
	}
	c.forRun.Deployment = v
	return ""
}
