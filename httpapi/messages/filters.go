package messages

import (
	"net/url"
	"strings"

	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
	"github.com/trireme-dev/trireme/internal/idn"
)

// lists is a set of requests that select messages, dead letters or events.
type lists uint8

const (
	inCancel   lists = 1 << iota // DELETE /v2/messages
	inDead                       // DELETE /v2/dlq and POST /v2/dlq/retry
	inDeadList                   // GET /v2/dlq
	inEvents                     // GET /v2/events and GET /v2/logs

	inDLQ      = inDead | inDeadList
	everywhere = inCancel | inDLQ | inEvents
)

// parameter is a filter, or another parameter, of requests that select: its name in the query
// string and in JSON bodies, the requests that take it, what it means (for the table in
// docs/messages.md), and what sets it. A filter is added by a row here and its row there.
type parameter struct {
	name  string
	in    lists
	means string
	set   func(c *listQuery, name string, values []string) error
}

// texts sets a field of the filter that holds texts; a value may be a list, joined by commas.
func texts(field func(*queue.Filter) *[]string) func(*listQuery, string, []string) error {
	return func(c *listQuery, _ string, values []string) error {
		list, to := Split(values), field(&c.filter)
		*to = append(*to, list...)
		c.chose(len(list))
		return nil
	}
}

// chose notes the number of a filter's values. A filter without values selects nothing in a request that changes what it
// selects: an empty variable must not mean everything. A list treats it as a filter that is not given.
func (lq *listQuery) chose(values int) { lq.none = lq.none || lq.acts && values == 0 }

// timeBound sets a bound in unix milliseconds.
func timeBound(field func(*queue.Filter) *int64) func(*listQuery, string, []string) error {
	return func(c *listQuery, name string, values []string) (err error) {
		*field(&c.filter), err = readMillis(name, view.First(values))
		return err
	}
}

// ignored takes a parameter that selects nothing here.
func ignored(*listQuery, string, []string) error { return nil }

var parameters = []parameter{
	{"messageIds", inCancel | inEvents, "ids of messages", (*listQuery).readIDs},
	{"messageId", inDLQ | inEvents, "ids of messages", (*listQuery).readIDs},
	{"dlqIds", inDLQ, "ids of dead letters; without a page", (*listQuery).readDeadIDs},
	{"url", everywhere, "destination URL; several are joined by commas", func(c *listQuery, _ string, values []string) error {
		for _, v := range values {
			c.filter.URLs = append(c.filter.URLs, SplitURLs(v)...)
		}
		c.chose(len(c.filter.URLs))
		return nil
	}},
	{"host", inCancel | inEvents, "host of the destination", texts(func(f *queue.Filter) *[]string { return &f.Hosts })},
	{"path", inCancel | inEvents, "path of the destination", texts(func(f *queue.Filter) *[]string { return &f.Paths })},
	{"topicName", everywhere, "URL group", texts(func(f *queue.Filter) *[]string { return &f.Groups })},
	{"queueName", everywhere, "queue", texts(func(f *queue.Filter) *[]string { return &f.Queues })},
	{"scheduleId", everywhere, "schedule", texts(func(f *queue.Filter) *[]string { return &f.Schedules })},
	{"label", everywhere, "label", texts(func(f *queue.Filter) *[]string { return &f.Labels })},
	{"flowControlKey", everywhere, "flow-control key", texts(func(f *queue.Filter) *[]string { return &f.FlowKeys })},
	{"callerIp", everywhere, "address of the publisher", texts(func(f *queue.Filter) *[]string { return &f.CallerIPs })},
	{"callerIP", everywhere, "the same", texts(func(f *queue.Filter) *[]string { return &f.CallerIPs })},
	{"fromDate", everywhere, "earliest time, in unix milliseconds", timeBound(func(f *queue.Filter) *int64 { return &f.From })},
	{"toDate", everywhere, "latest time, in unix milliseconds", timeBound(func(f *queue.Filter) *int64 { return &f.To })},
	{"state", inEvents, "state of the event; `IN_PROGRESS` is three of them", (*listQuery).readStates},
	{"responseStatus", inDLQ, "status of the last answer", (*listQuery).readStatuses},
	{"source", inDLQ, "`workflow` selects dead letters of runs instead", func(c *listQuery, _ string, values []string) error {
		c.none = c.none || view.First(values) == "workflow" // this list holds plain messages only
		return nil
	}},
	{"api", inDLQ | inEvents, "taken and ignored", ignored},
	{"count", inCancel, "taken and ignored: all that match are cancelled", ignored},
	{"async", inCancel, "`true`: answer as soon as the bulk action is accepted", func(c *listQuery, name string, values []string) (err error) {
		c.async, err = Truth(name, values)
		return err
	}},
	{"count", inDLQ | inEvents, "size of the page", (*listQuery).readCount},
	{"cursor", inDLQ | inEvents, "the page after this one", (*listQuery).readCursor},
	{"order", inDeadList | inEvents, "`earliestFirst` or `latestFirst`", (*listQuery).readOrder},
	{"trimBody", inDeadList | inEvents, "the most bytes of each body that are shown; 0: none, -1: all", (*listQuery).readTrim},
	{"groupBy", inDeadList, "`cause`: how many have failed alike, the most first; a page looks at 1,000", groups(byCause)},
	{"groupBy", inEvents, "`messageId`: messages with all their events; `message`: messages as they are now; `time`: how many events of each state, and when", groups(byMessageID, byMessage, byTime)},
	{"span", inEvents, "with `groupBy=time`, the length of a span in milliseconds; at most 1,000 of them", (*listQuery).readSpan},
}

// read sets what the parameters of a request say. An unknown name is refused: a mistyped
// filter must never mean everything.
func (lq *listQuery) read(values url.Values, in lists) error {
	lq.acts, lq.trim = in == inCancel || in == inDead, view.All
	for name, list := range values {
		p := parameterOf(name, in)
		if p == nil {
			return Invalid("unknown filter %q", name)
		}
		if err := p.set(lq, name, list); err != nil {
			return err
		}
	}
	return nil
}

func parameterOf(name string, in lists) *parameter {
	for i := range parameters {
		if p := &parameters[i]; p.name == name && p.in&in != 0 {
			return p
		}
	}
	return nil
}

// Split splits values at commas, and drops empty ones.
func Split(list []string) (all []string) {
	for _, value := range list {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, one)
			}
		}
	}
	return all
}

// SplitURLs splits URLs that are joined by commas. Their schemes separate them: a URL may hold commas of its own. A URL
// that is stored in another form is followed by that form.
func SplitURLs(value string) (list []string) {
	add := func(text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		list = append(list, text)
		if u, err := httpurl.Read(text, idn.ToASCII); err == nil && u.String() != text {
			list = append(list, u.String())
		}
	}
	rest := value
	for i := 1; i < len(rest); i++ {
		if tail := rest[i:]; rest[i-1] == ',' && (strings.HasPrefix(tail, "http://") || strings.HasPrefix(tail, "https://")) {
			add(rest[:i-1])
			rest, i = tail, 0
		}
	}
	add(rest)
	return list
}
