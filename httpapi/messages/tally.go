package messages

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

const (
	// tallyReads is the most reads of an answer. Each looks at queue.MaxScan events or volumes at most.
	tallyReads = 20
	// mostSpans is the most spans of time of an answer, fewSpans about how many it has if the request doesn't say.
	mostSpans = 1000
	fewSpans  = 60
)

// spans are the lengths of time that the server chooses from, in milliseconds: clocks and calendars are read by them.
var spans = [...]int64{
	1000, 5000, 10_000, 30_000, 60_000, 5 * 60_000, 10 * 60_000, 30 * 60_000,
	3_600_000, 3 * 3_600_000, 6 * 3_600_000, 12 * 3_600_000, 24 * 3_600_000, 7 * 24 * 3_600_000, 28 * 24 * 3_600_000,
}

// tally counts events by time. From and To bound the time that was asked for, in unix milliseconds; Span is the length of a group.
type tally struct {
	From   int64         `json:"from"`
	To     int64         `json:"to"`
	Span   int64         `json:"span"`
	Groups []*tallyGroup `json:"groups"`
	Cursor string        `json:"cursor,omitempty"`
}

// tallyGroup has the numbers of the events of each state in the span that begins at Time. Groups without events are left out.
type tallyGroup struct {
	Time   int64          `json:"time"`
	Counts map[string]int `json:"counts"`
}

// listTally answers how many events of each state there were, and when. A page that does not reach the end of the time that was asked
// for has a cursor; the groups of the next one may go on with a span of this one.
func (re *request) listTally(query *listQuery) error {
	answer, counts, more := &tally{Groups: []*tallyGroup{}}, map[queue.TallyKey]int{}, true
	for read := 0; more && read < tallyReads; read++ {
		var refused error
		_, err := re.Engine.Read(re.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
			if read == 0 {
				refused = answer.bound(query, v.Messages().Reach(v.Now()).Oldest, v.Now())
			}
			if more = !query.none && refused == nil; more {
				query.page.After, more = v.Messages().Tally(&query.filter, query.page, answer.Span, counts)
			}
		})
		if err = cmp.Or(err, refused); err != nil {
			return err
		}
	}
	answer.fill(counts, re.Parser.SpecLiteral)
	answer.Cursor = cursorText(query.page.After, more)
	re.answer(http.StatusOK, answer)
	return nil
}

// bound settles the bounds of the time and the length of the spans. Oldest is the time of the oldest event.
func (ta *tally) bound(query *listQuery, oldest, now int64) error {
	ta.From, ta.To, ta.Span = query.filter.From, query.filter.To, query.span
	if ta.To == 0 {
		ta.To = now
	}
	if ta.From == 0 {
		ta.From = min(cmp.Or(oldest, now), ta.To)
	}
	length := ta.To - ta.From
	if length < 0 {
		return Invalid("toDate is before fromDate")
	}
	if ta.Span == 0 {
		ta.Span = spans[len(spans)-1]
		if i := slices.IndexFunc(spans[:], func(span int64) bool { return length/span <= fewSpans }); i >= 0 {
			ta.Span = spans[i]
		}
	}
	if length/ta.Span > mostSpans {
		return Invalid("a span of %d ms is too short: at most %d of them fit into an answer", ta.Span, mostSpans)
	}
	query.filter.From, query.filter.To = ta.From, ta.To // for all reads of the answer
	return nil
}

// fill makes the groups of counts, the earliest first.
func (ta *tally) fill(counts map[queue.TallyKey]int, literal bool) {
	at := map[int64]*tallyGroup{}
	for key, n := range counts { // unordered: sorted below
		g := at[key.From]
		if g == nil {
			g = &tallyGroup{key.From, map[string]int{}}
			at[key.From], ta.Groups = g, append(ta.Groups, g)
		}
		g.Counts[stateText(key.State, literal)] += n
	}
	slices.SortFunc(ta.Groups, func(a, b *tallyGroup) int { return cmp.Compare(a.Time, b.Time) })
}
