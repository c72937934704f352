package fsm

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/internal/plural"
)

// Contents says how much there is in a state.
type Contents struct {
	// Databases are all, in the order of their names.
	Databases []DatabaseInfo
	// Libraries counts those of functions in all databases.
	Libraries int
	Messages  queue.Counts
	Workflows workflow.Counts
}

// Keys counts those of all databases.
func (c *Contents) Keys() (n int) {
	for i := range c.Databases {
		n += c.Databases[i].Keys
	}
	return n
}

func (s *State) contents() Contents {
	c := Contents{Databases: make([]DatabaseInfo, 0, s.databases.Len())}
	for d := s.first(nil); d != nil; d = s.after(d, nil) {
		libraries, _ := d.scripts.Counts()
		c.Databases, c.Libraries = append(c.Databases, d.info()), c.Libraries+libraries
		if d.messages != nil {
			c.Messages.Add(d.messages.Counts())
			c.Workflows.Add(d.workflows.Counts())
		}
	}
	return c
}

// Contents says how much there is in the state.
func (v *View) Contents() Contents { return v.s.contents() }

// Usage is the number of keys of all databases and their logical memory in bytes.
func (v *View) Usage() (keys int, bytes int64) { return v.s.sums.keys, v.s.used() }

// Totals are the counts of all databases together.
type Totals struct {
	Databases, Keys int
	// Bytes is logical memory, as --max-memory counts it.
	Bytes     int64
	Messages  queue.Counts
	Workflows workflow.Counts
}

// Totals counts all databases together. It takes the same time however many there are.
func (v *View) Totals() Totals {
	n := &v.s.sums
	return Totals{Databases: v.s.databases.Len(), Keys: n.keys, Bytes: v.s.used(), Messages: n.messages, Workflows: n.workflows}
}

// builtinUsers is the number of users that every database has from the beginning.
const builtinUsers = 2

// Remarkable names what a cluster that was never used doesn't have, in words; empty if there is nothing. Events count,
// cached scripts don't.
func (c *Contents) Remarkable() string {
	users := 0
	for i := range c.Databases {
		users += c.Databases[i].Users - builtinUsers
	}
	var all []string
	for _, one := range []struct {
		n          int
		noun, rest string
	}{
		{len(c.Databases) - 1, "database", " beside " + DefaultDB}, {c.Keys(), "key", ""}, {users, "user", ""}, {c.Libraries, "function library", ""},
		{c.Messages.Messages, "message", ""}, {c.Messages.Queues, "queue", ""}, {c.Messages.Schedules, "schedule", ""},
		{c.Messages.Groups, "URL group", ""}, {c.Messages.FlowKeys, "flow-control key", ""}, {c.Workflows.Runs, "workflow run", ""},
	} {
		if one.n > 0 {
			all = append(all, plural.Of(one.n, one.noun)+one.rest)
		}
	}
	return strings.Join(all, ", ")
}

// Fields codes the value in its wire format.
func (c *Contents) Fields(w *wire.Codec) {
	wire.Records(w, &c.Databases)
	wire.Uint(w, &c.Libraries)
	w.Record(c.Messages.Fields)
	w.Record(c.Workflows.Fields)
}
