package workflow

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Filter chooses runs. Each field that is set has to fit; of a list one element has to.
type Filter struct {
	// RunIDs are whole ids, or with IDPrefix prefixes of ids.
	RunIDs   []string
	IDPrefix bool
	// Exact are runs by id and creation; set, nothing else counts.
	Exact []RunRef
	// URLs are whole URLs, or with URLPrefix prefixes of URLs.
	URLs      []string
	URLPrefix bool
	States    []RunState
	// Created is the creation, From and To bound it, all in unix milliseconds (0 = unbounded).
	Created, From, To int64
	Labels            []string
	CallerIPs         []string
	FlowKeys          []string
	// Hosts and Paths are parts of the URL; a host is meant with its port or without.
	Hosts, Paths []string
	// Messages are messages of which the run has one as an entry.
	Messages []queue.ID
	// Deployments are names of deployments.
	Deployments []string
}

// Named reports whether the filter names single runs, by their ids or by those of their messages.
func (f *Filter) Named() bool { return len(f.RunIDs)+len(f.Exact)+len(f.Messages) > 0 }

// Fields codes the value in its wire format.
func (f *Filter) Fields(c *wire.Codec) {
	c.Texts(&f.RunIDs)
	c.Bool(&f.IDPrefix)
	wire.List(c, &f.Exact, 3)
	c.Texts(&f.URLs)
	c.Bool(&f.URLPrefix)
	wire.Each(c, &f.States, func(c *wire.Codec, s *RunState) { wire.Enum(c, s, runStates) })
	c.Varint(&f.Created)
	c.Varint(&f.From)
	c.Varint(&f.To)
	for _, list := range [...]*[]string{&f.Labels, &f.CallerIPs, &f.FlowKeys, &f.Hosts, &f.Paths} {
		c.Texts(list)
	}
	wire.List(c, &f.Messages, 2)
	if c.More(len(f.Deployments) > 0) { // from the level env.Files on
		c.Texts(&f.Deployments)
	}
}
