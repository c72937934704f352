package workflow

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A reader of runs that are in volumes loads those that it needs into a fork of its own, and reads that.

// Thawing is a fork for one reader, which finds runs in volumes too. Reading it changes it, and may read the disk.
func (s *Store) Thawing() *Store {
	f := s.Fork()
	f.past.thawed = map[*sealed.Volume]bool{}
	return f
}

// thaw loads the runs of a volume, unless they are there. Of one that is damaged it loads what can be read.
func (s *Store) thaw(v *sealed.Volume) {
	if s.past.thawed[v] {
		return
	}
	s.past.thawed[v] = true
	refs := v.References()
	for r := wire.NewReader(v.Records.Bytes()); r.Len() > 0; {
		record := r.Bytes()
		if r.Err() != nil || s.LoadReferences(record, refs) != nil {
			return
		}
	}
}

// thawHaving loads the volumes of which a set has a number; it does nothing but for a reader.
func (s *Store) thawHaving(set int, n uint64) {
	if s.past.thawed == nil {
		return
	}
	s.past.Ascend(0, func(v *sealed.Volume) bool {
		if v.Sets[set].Has(n) {
			s.thaw(v)
		}
		return true
	})
}

// volumeBelow is a volume, and the greatest number of its runs below one.
type volumeBelow struct {
	*sealed.Volume
	top uint64
}

// volumesBelow are the volumes that may have runs that are chosen, below a number that is not 0: those with the greatest first.
func (s *Store) volumesBelow(c *chooser, below uint64) (list []volumeBelow) {
	s.past.Ascend(0, func(v *sealed.Volume) bool {
		if s.past.thawed[v] || !c.mayBeIn(v) {
			return true
		}
		top := v.Last
		if below != 0 && below <= top {
			top = v.Sets[setRuns].Below(below)
		}
		if top != 0 {
			list = append(list, volumeBelow{v, top})
		}
		return true
	})
	slices.SortFunc(list, func(a, b volumeBelow) int { return cmp.Compare(b.top, a.top) })
	return list
}

// inOrder is candidates for a reader: with the runs of volumes, which it loads as it comes to them.
func (s *Store) inOrder(f *Filter, c *chooser, below uint64, visit func(*Run) bool) {
	if s.past.thawed == nil || f.names() {
		s.candidates(f, below, visit)
		return
	}
	for volumes, over := s.volumesBelow(c, below), false; ; volumes = volumes[1:] {
		floor := uint64(0)
		if len(volumes) > 0 {
			floor = volumes[0].top
		}
		s.candidates(f, below, func(r *Run) bool {
			if r.No <= floor { // those of the volume come first
				return false
			}
			below, over = r.No, !visit(r)
			return !over
		})
		if over || len(volumes) == 0 {
			return
		}
		s.thaw(volumes[0].Volume)
	}
}

// EachVolume visits the volumes that may have runs that a filter chooses: until is the end of the last of their runs, in unix
// milliseconds, and runs reads those that are chosen. It is for readers.
func (s *Store) EachVolume(f *Filter, visit func(until int64, runs func() []*Run)) {
	if s.past.thawed == nil || f.names() {
		return
	}
	c := s.chooser(f)
	s.past.Ascend(0, func(v *sealed.Volume) bool {
		if c.mayBeIn(v) {
			visit(v.To, func() []*Run { return s.runsIn(v, c) })
		}
		return true
	})
}

// runsIn loads a volume and returns its runs that are chosen.
func (s *Store) runsIn(v *sealed.Volume, c *chooser) (list []*Run) {
	s.thaw(v)
	v.Sets[setRuns].Each(func(no uint64) bool {
		if r, ok := s.runs.Get(no); ok && c.match(r, r.Created) {
			list = append(list, r)
		}
		return true
	})
	return list
}

// EachLive visits the runs in the trees that a filter chooses: all that did not end long ago.
func (s *Store) EachLive(f *Filter, visit func(*Run)) {
	c := s.chooser(f)
	s.candidates(f, 0, func(r *Run) bool {
		if c.match(r, r.Created) {
			visit(r)
		}
		return true
	})
}

// names reports whether the filter names the runs that it chooses.
func (f *Filter) names() bool {
	return len(f.Exact) > 0 || len(f.RunIDs) > 0 && !f.IDPrefix || len(f.Messages) > 0
}

// mostSoughtWords is the length up to which a list is looked for in the words of volumes.
const mostSoughtWords = 64

// seek prepares what mayBeIn asks.
func (c *chooser) seek() {
	for state := range c.states { // unordered: all of them count
		c.kinds |= 1 << state
	}
	put := func(field byte, list []string) {
		if len(list) == 0 || len(list) > mostSoughtWords || slices.Contains(list, "") { // which is in no filter
			return
		}
		words := make([]sealed.Word, len(list))
		for i, text := range list {
			words[i] = sealed.WordOf(field, text)
		}
		c.words = append(c.words, words)
	}
	if !c.URLPrefix {
		put(wordURL, c.URLs)
	}
	folded := make([]string, len(c.Hosts))
	for i, host := range c.Hosts {
		folded[i] = queue.Fold(host)
	}
	put(wordHost, folded)
	put(wordPath, c.Paths)
	put(wordLabel, c.Labels)
	put(wordFlow, c.FlowKeys)
	put(wordCaller, c.CallerIPs)
	put(wordDeployment, c.Deployments)
}

// mayBeIn reports whether a volume may have a run that is chosen. A run was created before it ended.
func (c *chooser) mayBeIn(v *sealed.Volume) bool {
	if c.kinds != 0 && !v.Has(c.kinds) || c.From != 0 && v.To < c.From {
		return false
	}
	for _, list := range c.words {
		if !v.Words.MayHaveOne(list) {
			return false
		}
	}
	return true
}
