package flow

import (
	"slices"
	"strings"

	"trireme/fsm/queue"
	"trireme/fsm/wire"
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
	// Created is the creation, From and To bound it, all in unix milliseconds; 0 is no bound.
	Created, From, To int64
	Labels            []string
	CallerIPs         []string
	FlowKeys          []string
	// Hosts and Paths are parts of the URL; a host is meant with its port or without.
	Hosts, Paths []string
	// Messages are messages of which the run has one as an entry.
	Messages []queue.ID
}

// match tells whether the filter chooses r. Dates are judged by at.
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

func (f *Filter) encode(w *wire.Writer) {
	w.Texts(f.RunIDs)
	w.Bool(f.IDPrefix)
	w.Uvarint(uint64(len(f.Exact)))
	for i := range f.Exact {
		f.Exact[i].Encode(w)
	}
	w.Texts(f.URLs)
	w.Bool(f.URLPrefix)
	w.Uvarint(uint64(len(f.States)))
	for _, s := range f.States {
		w.Uvarint(uint64(s))
	}
	w.Varint(f.Created)
	w.Varint(f.From)
	w.Varint(f.To)
	for _, list := range [][]string{f.Labels, f.CallerIPs, f.FlowKeys, f.Hosts, f.Paths} {
		w.Texts(list)
	}
	w.Uvarint(uint64(len(f.Messages)))
	for _, id := range f.Messages {
		encodeID(w, id)
	}
}

func (f *Filter) decode(r *wire.Reader) {
	f.RunIDs, f.IDPrefix = r.Texts(), r.Bool()
	if n := r.Count(3); n > 0 {
		f.Exact = make([]RunRef, n)
		for i := range f.Exact {
			f.Exact[i].Decode(r)
		}
	}
	f.URLs, f.URLPrefix = r.Texts(), r.Bool()
	for range r.Count(1) {
		f.States = append(f.States, RunState(min(r.Uvarint(), uint64(runStates))))
	}
	f.Created, f.From, f.To = r.Varint(), r.Varint(), r.Varint()
	for _, list := range []*[]string{&f.Labels, &f.CallerIPs, &f.FlowKeys, &f.Hosts, &f.Paths} {
		*list = r.Texts()
	}
	for range r.Count(2) {
		f.Messages = append(f.Messages, decodeID(r))
	}
}
