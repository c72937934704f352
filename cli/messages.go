package cli

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

// finals are the states of messages that nothing more happens to.
var finals = map[string]bool{"DELIVERED": true, "FAILED": true, "CANCELED": true, "CANCELLED": true}

// mostEvents is the largest page of events and of messages.
const mostEvents = 1000

func messageGroup() *cobra.Command {
	g := newGroup(ofDatabase, "messages", "Publish messages, list, explain and cancel them", "message")
	g.publishCommand()
	var selected filters
	var p paging
	g.add(spec{
		use: "list", short: "List messages by their last event, the latest first",
		example: "messages list --state ERROR --from 1h\nmessages list --queue orders --limit 0 --output json",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, []filter{stateFilter, messageFilter, orderFilter}, common, hostFilters)
			p.flags(f)
		},
		run: func(s *session) error { return s.listMessages(&selected, p) },
	})
	g.add(spec{
		use: "get ID", short: "Show a message", args: cobra.ExactArgs(1), complete: messageIDs,
		example: "messages get msg_26KT…",
		run:     func(s *session) error { return s.show(s.in("/v2/messages/"+escape(s.args[0])), "messageId") },
	})
	g.add(spec{
		use: "explain ID", short: "Explain what a message waits for", args: cobra.ExactArgs(1), complete: messageIDs,
		example: "messages explain msg_26KT…",
		run:     func(s *session) error { return s.explained("/v2/messages/" + escape(s.args[0])) },
	})
	g.cancelMessages()
	g.runMessage()
	g.bulkActions("/v2/bulkActions", "message")
	return g.Command
}

func (g *group) publishCommand() {
	var n publication
	queue := ""
	g.add(spec{
		use: "publish DESTINATION [BODY]", short: "Publish a message to a URL, a URL group or api/NAME", args: cobra.RangeArgs(1, 2),
		long: "Publishes a message, by --queue through a queue. What the options mean is in docs/messages.md.",
		example: `messages publish https://example.com/orders '{"item":17}' --retries 5 --delay 10s
messages publish news --body-file news.json --label daily
messages publish https://example.com/orders --queue orders --set Callback-Retries=2 --callback https://example.com/told`,
		flags: func(f *pflag.FlagSet) {
			n.flags(f, messageOptions)
			f.StringVar(&queue, "queue", "", "`NAME` of the queue that the message goes through")
		},
		run: func(s *session) error {
			path := "/v2/publish/"
			if queue != "" {
				path = "/v2/enqueue/" + escape(queue) + "/"
			}
			text, err := s.publish(&n, s.in(path+rawDestination(s.args[0])))
			if err != nil {
				return err
			}
			return s.published(text)
		},
	})
}

// rawDestination is a destination as it is in a path: a URL stands there raw.
func rawDestination(d string) string {
	if strings.Contains(d, "://") {
		return d
	}
	return (&url.URL{Path: d}).EscapedPath()
}

// contentType guesses the type of a body.
func contentType(body []byte) string {
	if json.Valid(body) {
		return "application/json"
	}
	return "text/plain"
}

// published prints the ids of new messages: one, or one for each endpoint of a group.
func (s *session) published(text []byte) error {
	v, err := decode(text)
	if err != nil {
		return err
	}
	items, many := v.([]any)
	if !many {
		items = []any{v}
	}
	columns := []column{{"MESSAGE", "messageId", nil}, {"DEDUPLICATED", "deduplicated", yes}}
	if many {
		columns = append(columns, column{"URL", "url", nil})
	}
	return s.rows(s.cmd.OutOrStdout(), text, items, columns)
}

// yes shows a member that is left out where it is false.
func yes(v any) string {
	if v == true {
		return "yes"
	}
	return "no"
}

// messageIDs are the newest messages, for completion.
func messageIDs(s *session) []string {
	p, err := s.pages(s.in("/v2/events"), url.Values{"groupBy": {"messageId"}}, "groups", paging{limit: 50}, mostEvents)
	if err != nil {
		return nil
	}
	items, _ := p.values() // they were decoded once before
	return texts(items, "messageId")
}

func (s *session) listMessages(f *filters, p paging) error {
	list, err := s.messages(f, p)
	if err != nil {
		return err
	}
	return s.printPage(&list, "groups", []column{
		{"MESSAGE", "messageId", nil}, {"STATE", "state", nil}, {"TIME", "time", when}, {"DESTINATION", "url", nil}, {"STATUS", "responseStatus", none},
		{"QUEUE", "queueName", nil}, {"LABEL", "label", nil},
	}, lastEvent)
}

func (s *session) messages(f *filters, p paging) (page, error) {
	query, err := f.query(time.Now())
	if err != nil {
		return page{}, err
	}
	query.Set("groupBy", "messageId")
	return s.pages(s.in("/v2/events"), query, "groups", p, mostEvents)
}

// lastEvent is the last event of a message's.
func lastEvent(item any) any {
	m, _ := item.(map[string]any)
	events, _ := m["events"].([]any)
	var last any
	newest := int64(-1)
	for i, e := range events {
		fields, _ := e.(map[string]any)
		// Of events of one moment the last of the list that goes back in time is the first.
		if at, _ := number(fields["time"]); at > newest || i == 0 {
			last, newest = e, at
		}
	}
	return last
}

// explained prints the explanation of a message, a queue or a flow-control key.
func (s *session) explained(path string) error {
	text, err := s.send(s.ctx, request{method: "GET", path: s.in(path), query: url.Values{"explain": {"true"}}})
	if err != nil {
		return err
	}
	var answer struct {
		Explain json.RawMessage `json:"explain"`
	}
	if json.Unmarshal(text, &answer) != nil {
		return s.noNode()
	}
	if answer.Explain == nil {
		return s.say(map[string]string{"reason": "idle", "text": "it waits for nothing"}, "it waits for nothing")
	}
	return s.fields(s.cmd.OutOrStdout(), answer.Explain, "reason")
}

func (g *group) cancelMessages() {
	var selected filters
	var c consent
	all := false
	g.add(spec{
		use: "cancel [ID…]", short: "Cancel messages by their ids or by filters", args: cobra.ArbitraryArgs, complete: messageIDs,
		long:    "Cancels messages that wait; an attempt that is under way may still finish. Without ids and filters --all is needed.",
		example: "messages cancel msg_26KT… --yes\nmessages cancel --queue orders --label billing --dry-run\nmessages cancel --all --yes",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, common, hostFilters)
			f.BoolVar(&all, "all", false, "every message that waits")
			c.flags(f)
		},
		run: func(s *session) error {
			query, err := s.selection(&selected, all)
			if err != nil {
				return err
			}
			return c.carry(s, act{"cancel", "message", func() ([]string, error) { return s.waiting(&selected) }, func() error { return s.cancel(query) }})
		},
	})
}

// selection returns the API's parameters for ids, filters or --all, which exclude one another.
func (s *session) selection(f *filters, all bool) (url.Values, error) {
	query, err := f.query(time.Now())
	switch {
	case err != nil:
		return nil, err
	case len(s.args) > 0 && (len(query) > 0 || all):
		return nil, usagef("give either ids, filters or --all")
	case len(query) > 0 && all:
		return nil, usagef("--all selects everything: give either --all or filters")
	case len(s.args) == 0 && len(query) == 0 && !all:
		return nil, usagef("give ids, filters, or --all for everything")
	}
	return query, nil
}

// waiting are the ids of the messages that a cancellation is about.
func (s *session) waiting(f *filters) ([]string, error) {
	if len(s.args) > 0 {
		for _, id := range s.args {
			if _, err := s.get(s.in("/v2/messages/" + escape(id))); err != nil {
				return nil, err
			}
		}
		return s.args, nil
	}
	list, err := s.messages(f, paging{})
	if err != nil {
		return nil, err
	}
	items, err := list.values()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, item := range items {
		last, _ := lastEvent(item).(map[string]any)
		if state, _ := last["state"].(string); !finals[state] {
			ids = append(ids, texts([]any{item}, "messageId")...)
		}
	}
	return ids, nil
}

func (s *session) cancel(query url.Values) error {
	total := 0
	requests := []request{{method: "DELETE", path: s.in("/v2/messages"), query: query}}
	if len(s.args) > 0 {
		requests = nil
		for _, id := range s.args {
			requests = append(requests, request{method: "DELETE", path: s.in("/v2/messages/" + escape(id))})
		}
	}
	for _, r := range requests {
		n, err := s.count(r, "cancelled")
		if total += n; err != nil {
			return err
		}
	}
	return s.say(map[string]int{"cancelled": total}, "cancelled %s", plural.Of(total, "message"))
}

// count sends a request that answers how many it was about.
func (s *session) count(r request, name string) (int, error) {
	text, err := s.send(s.ctx, r)
	if err != nil {
		return 0, err
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, s.noNode()
	}
	n, _ := answer[name].(float64)
	return int(n), nil
}

// runMessage has a waiting message attempted now.
func (g *group) runMessage() {
	g.add(spec{
		use: "run ID", short: "Attempt a message now instead of at its due time", args: cobra.ExactArgs(1), complete: messageIDs,
		example: "messages run msg_26KT…",
		run: func(s *session) error {
			if _, err := s.send(s.ctx, request{method: "POST", path: s.in("/v2/messages/" + escape(s.args[0]) + "/retry")}); err != nil {
				return err
			}
			return s.say(map[string]string{"run": s.args[0]}, "%s is due now", s.args[0])
		},
	})
}
