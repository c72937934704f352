package workflow

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/sealed"
)

// chooser is a Filter that is ready to be held against many runs: what it takes for each does not grow with the length of its
// lists.
type chooser struct {
	*Filter
	exact                                     map[exactRun]struct{}
	states                                    map[RunState]struct{}
	ids, urls                                 queue.Words
	idPrefixes, urlPrefixes                   []string // in order, none begins with another
	callerIPs, flowKeys, labels, hosts, paths queue.Words
	deployments                               queue.Words
	holders                                   map[uint64]struct{} // runs that have one of the messages as an entry
	// kinds and words say which volumes may have what is chosen: of each list of words, one.
	kinds uint32
	words [][]sealed.Word
}

// exactRun is a run by id and creation.
type exactRun struct {
	id      string
	created int64
}

func (s *Store) chooser(f *Filter) *chooser {
	c := &chooser{
		Filter: f, states: queue.Set(f.States), ids: queue.WordsOf(f.RunIDs, nil), urls: queue.WordsOf(f.URLs, nil),
		callerIPs: queue.WordsOf(f.CallerIPs, nil), flowKeys: queue.WordsOf(f.FlowKeys, nil), labels: queue.WordsOf(f.Labels, nil),
		hosts: queue.WordsOf(f.Hosts, queue.Fold), paths: queue.WordsOf(f.Paths, nil), deployments: queue.WordsOf(f.Deployments, nil),
	}
	if len(f.Exact) > 0 {
		c.exact = make(map[exactRun]struct{}, len(f.Exact))
		for _, n := range f.Exact {
			c.exact[exactRun{n.ID, n.Created}] = struct{}{}
		}
	}
	if f.IDPrefix {
		c.idPrefixes = prefixes(f.RunIDs)
	}
	if f.URLPrefix {
		c.urlPrefixes = prefixes(f.URLs)
	}
	if len(f.Messages) > 0 {
		c.holders = s.holders(f.Messages)
	}
	if s.past.thawed != nil {
		c.seek()
	}
	return c
}

// size counts the alternatives of the filter: the work of preparing it.
func (f *Filter) size() int64 {
	return int64(len(f.RunIDs) + len(f.Exact) + len(f.URLs) + len(f.States) + len(f.Labels) + len(f.CallerIPs) + len(f.FlowKeys) +
		len(f.Hosts) + len(f.Paths) + len(f.Messages) + len(f.Deployments))
}

// prefixes are texts in order, without those that begin with another one.
func prefixes(list []string) (out []string) {
	for _, one := range slices.Sorted(slices.Values(list)) {
		if n := len(out); n == 0 || !strings.HasPrefix(one, out[n-1]) {
			out = append(out, one)
		}
	}
	return out
}

// hasAnyPrefix reports whether a text begins with one of prefixes.
func hasAnyPrefix(prefixes []string, text string) bool {
	i, found := slices.BinarySearch(prefixes, text)
	return found || i > 0 && strings.HasPrefix(text, prefixes[i-1])
}

// fits reports whether a text is one of some words, or begins with one if prefix; any text fits no words.
func fits(w *queue.Words, prefixes []string, v string, prefix bool) bool {
	if prefix && w.Any() {
		return hasAnyPrefix(prefixes, v)
	}
	return w.Admit(v)
}

// holders are the runs that have one of some messages as an entry.
func (s *Store) holders(messages []queue.ID) map[uint64]struct{} {
	runs := map[uint64]struct{}{}
	for _, id := range messages {
		s.thawHaving(setMessages, id.Seq)
		if p, ok := s.ids.Get(id.Seq); ok {
			if e, _ := s.entries.Get(p); e.ID == id {
				runs[p.run] = struct{}{}
			}
		}
	}
	return runs
}

// match reports whether the filter chooses r. Dates are judged by at.
func (c *chooser) match(r *Run, at int64) bool {
	if len(c.exact) > 0 {
		_, is := c.exact[exactRun{r.ID, r.Created}]
		return is
	}
	switch {
	case c.Created != 0 && r.Created != c.Created, c.From != 0 && at < c.From, c.To != 0 && at > c.To:
		return false
	case !fits(&c.ids, c.idPrefixes, r.ID, c.IDPrefix), !fits(&c.urls, c.urlPrefixes, r.URL, c.URLPrefix), !c.callerIPs.Admit(r.CallerIP), !c.deployments.Admit(r.Deployment):
		return false
	case c.flowKeys.Any() && (r.Flow == nil || !c.flowKeys.Has(r.Flow.Key)), c.labels.Any() && !c.labels.HasOne(r.Labels):
		return false
	case c.hosts.Any() && !c.isOnHost(r.URL), c.paths.Any() && !c.paths.Has((&queue.Content{URL: r.URL}).Path()):
		return false
	}
	if c.states != nil {
		if _, is := c.states[r.State]; !is {
			return false
		}
	}
	if c.holders == nil {
		return true
	}
	_, holds := c.holders[r.No]
	return holds
}

// isOnHost reports whether a URL is on one of the hosts, which are meant with their port or without.
func (c *chooser) isOnHost(url string) bool {
	host := queue.Fold((&queue.Content{URL: url}).Host())
	bare, _, _ := strings.Cut(host, ":")
	return c.hosts.Has(host) || c.hosts.Has(bare)
}
