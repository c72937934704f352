package queue

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/sealed"
)

// maxScannedWords is the length from which on a list of alternatives is looked up in a set instead of being walked.
const maxScannedWords = 8

// Words are alternatives that a text may be one of. A filter holds tens of thousands of them and is held against thousands of
// records in one entry, so that a walk for each record would stop everybody.
type Words struct {
	list []string
	set  map[string]struct{}
}

// WordsOf prepares alternatives. fold, if not nil, brings them into the form in which texts are asked for.
func WordsOf(list []string, fold func(string) string) Words {
	w := Words{list: list}
	if fold != nil && len(list) > 0 {
		w.list = make([]string, len(list))
		for i, one := range list {
			w.list[i] = fold(one)
		}
	}
	if len(list) > maxScannedWords {
		w.set = make(map[string]struct{}, len(list))
		for _, one := range w.list {
			w.set[one] = struct{}{}
		}
	}
	return w
}

// Any reports whether there are alternatives at all.
func (w *Words) Any() bool { return len(w.list) > 0 }

// Has reports whether a text is one of them.
func (w *Words) Has(text string) bool {
	if w.set == nil {
		return slices.Contains(w.list, text)
	}
	_, is := w.set[text]
	return is
}

// Admit is Has, and true if there are no alternatives.
func (w *Words) Admit(text string) bool { return !w.Any() || w.Has(text) }

// HasOne reports whether one of some texts is one of them.
func (w *Words) HasOne(texts []string) bool { return slices.ContainsFunc(texts, w.Has) }

// Set is Words for other things than texts.
func Set[K comparable](list []K) map[K]struct{} {
	if len(list) == 0 {
		return nil
	}
	set := make(map[K]struct{}, len(list))
	for _, one := range list {
		set[one] = struct{}{}
	}
	return set
}

// admits reports whether a thing is in a set, and true if there is no set.
func admits[K comparable](set map[K]struct{}, one K) bool {
	if set == nil {
		return true
	}
	_, is := set[one]
	return is
}

// chooser is a Filter that is ready to be held against many records: what it takes for each does not grow with the length of
// its lists.
type chooser struct {
	*Filter
	ids                                                                        map[ID]struct{}
	states                                                                     map[State]struct{}
	statuses                                                                   map[int]struct{}
	urls, hosts, paths, groups, queues, schedules, labels, flowKeys, callerIPs Words
	// kinds and words say which volumes may have what is chosen: of each list of words, one.
	kinds uint32
	words [][]sealed.Word
	// span, if not 0, is the length of the spans by which events are counted.
	span int64
}

// mostSoughtWords is the length up to which a list is looked for in the words of volumes.
const mostSoughtWords = 64

func (f *Filter) chooser() *chooser {
	c := &chooser{
		Filter: f, ids: Set(f.IDs), states: Set(f.States), statuses: Set(f.Statuses),
		urls: WordsOf(f.URLs, nil), hosts: WordsOf(f.Hosts, Fold), paths: WordsOf(f.Paths, nil), groups: WordsOf(f.Groups, nil),
		queues: WordsOf(f.Queues, nil), schedules: WordsOf(f.Schedules, nil), labels: WordsOf(f.Labels, nil),
		flowKeys: WordsOf(f.FlowKeys, nil), callerIPs: WordsOf(f.CallerIPs, nil),
	}
	for _, state := range f.States {
		c.kinds |= 1 << state
	}
	for field, w := range map[byte]*Words{ // unordered: all of them count
		wordURL: &c.urls, wordHost: &c.hosts, wordPath: &c.paths, wordGroup: &c.groups, wordQueue: &c.queues, wordSchedule: &c.schedules,
		wordLabel: &c.labels, wordFlow: &c.flowKeys, wordCaller: &c.callerIPs,
	} {
		c.seek(field, w.list)
	}
	return c
}

// seek has volumes be skipped that have none of some words of a field.
func (ch *chooser) seek(field byte, list []string) {
	if len(list) == 0 || len(list) > mostSoughtWords || slices.Contains(list, "") { // which is in no filter
		return
	}
	words := make([]sealed.Word, len(list))
	for i, text := range list {
		words[i] = sealed.WordOf(field, text)
	}
	ch.words = append(ch.words, words)
}

// mayBeIn reports whether a volume may have what is chosen, times apart.
func (ch *chooser) mayBeIn(v *sealed.Volume) bool {
	if ch.kinds != 0 && !v.Has(ch.kinds) {
		return false
	}
	for _, list := range ch.words {
		if !v.Words.MayHaveOne(list) {
			return false
		}
	}
	return true
}

// size counts the alternatives of the filter: the work of preparing it.
func (f *Filter) size() (n int64) {
	n = int64(len(f.IDs) + len(f.States) + len(f.Statuses))
	for _, l := range f.lists() {
		n += int64(len(*l))
	}
	return n
}

// match reports whether a message of that content is chosen, times and states apart.
func (ch *chooser) match(id ID, c *Content) bool {
	switch {
	case !admits(ch.ids, id), ch.flowKeys.Any() && (c.Flow == nil || !ch.flowKeys.Has(c.Flow.Key)):
		return false
	case ch.labels.Any() && !ch.labels.HasOne(c.Labels), ch.hosts.Any() && !HostIn(&ch.hosts, c.Host()):
		return false
	}
	return ch.urls.Admit(c.URL) && (!ch.paths.Any() || ch.paths.Has(c.Path())) && ch.groups.Admit(c.Group) &&
		ch.queues.Admit(c.Queue) && ch.schedules.Admit(c.Schedule) && ch.callerIPs.Admit(c.CallerIP)
}

// matchEvent judges what an event is itself, before its message is looked at.
func (ch *chooser) matchEvent(v *Event) bool { return ch.within(v.At) && admits(ch.states, v.State) }
