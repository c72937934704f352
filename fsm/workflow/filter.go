package workflow

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Filter chooses runs. Each field that is set has to fit; of a list one element has to.
type Filter struct {
	// RunIDs are whole ids; with IDPrefix they are what ids begin with.
	RunIDs   []string
	IDPrefix bool
	// Exact are runs by id and creation; set, nothing else counts.
	Exact []RunRef
	// URLs are whole URLs; with URLPrefix they are what URLs begin with.
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
}

// Named reports whether the filter names single runs, by their ids or by those of their messages.
func (f *Filter) Named() bool { return len(f.RunIDs)+len(f.Exact)+len(f.Messages) > 0 }

// match reports whether the filter chooses r. Dates are judged by at.
func (f *Filter) match(s *Store, r *Run, at int64) bool {
	if len(f.Exact) > 0 {
		return slices.ContainsFunc(f.Exact, func(n RunRef) bool { return n.ID == r.ID && n.Created == r.Created })
	}
	switch {
	case f.Created != 0 && r.Created != f.Created, f.From != 0 && at < f.From, f.To != 0 && at > f.To:
		return false
	case len(f.States) > 0 && !slices.Contains(f.States, r.State):
		return false
	case len(f.CallerIPs) > 0 && !slices.Contains(f.CallerIPs, r.CallerIP):
		return false
	case !fits(f.RunIDs, r.ID, f.IDPrefix), !fits(f.URLs, r.URL, f.URLPrefix):
		return false
	case len(f.FlowKeys) > 0 && (r.Flow == nil || !slices.Contains(f.FlowKeys, r.Flow.Key)):
		return false
	case len(f.Labels) > 0 && !slices.ContainsFunc(r.Labels, func(l string) bool { return slices.Contains(f.Labels, l) }):
		return false
	case len(f.Hosts) > 0 && !matchHost(f.Hosts, r.URL):
		return false
	case len(f.Paths) > 0 && !slices.Contains(f.Paths, (&queue.Content{URL: r.URL}).Path()):
		return false
	}
	return len(f.Messages) == 0 || s.holds(r, f.Messages)
}

func fits(list []string, v string, prefix bool) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(one string) bool { return v == one || prefix && strings.HasPrefix(v, one) })
}

func matchHost(list []string, url string) bool {
	host := (&queue.Content{URL: url}).Host()
	bare, _, _ := strings.Cut(host, ":")
	return slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, host) || strings.EqualFold(one, bare) })
}

// Fields are those of the format.
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
}
