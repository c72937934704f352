package cli

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

// finals are the states of messages that nothing more happens to.
var finals = map[string]bool{"DELIVERED": true, "FAILED": true, "CANCELED": true, "CANCELLED": true}

// mostEvents is the largest page of events and of messages.
const mostEvents = 1000

// messageList are messages as they are now.
var messageList = listing{
	path: "/v2/events", key: "messages", id: "messageId", most: mostEvents, always: url.Values{"groupBy": {"message"}},
	columns: []column{
		{"MESSAGE", "messageId", nil, named}, {"STATE", "state", stateForm, keep}, {"TIME", "time", when, keep}, {"DESTINATION", "url", nil, keep},
		{"ATTEMPTS", "attempts", nil, drops}, {"STATUS", "responseStatus", statusForm, drops}, {"QUEUE", "queueName", nil, drops}, {"LABEL", "labels", nil, drops},
		{"TOOK", "attemptMs", millis, wide}, {"ERROR", "error", nil, wide}, {"NEXT", "nextDeliveryTime", when, wide}, {"CREATED", "createdAt", when, wide},
		{"METHOD", "method", nil, wide}, {"SCHEDULE", "scheduleId", nil, wide}, {"GROUP", "topicName", nil, wide}, {"FLOW CONTROL KEY", "flowControlKey", nil, wide},
	},
}

func messageGroup() *cobra.Command {
	g := newGroup(ofDatabase, "messages", "Publish messages, list, explain and cancel them", "message")
	g.publishCommand()
	g.lists(&messageList, spec{
		use: "list", short: "List messages as they are now, those first to which something has happened last",
		example: "messages list --state ERROR --from 1h\nmessages list --queue orders --limit 0 --output json",
	}, []filter{stateFilter, messageFilter, orderFilter}, common, hostFilters)
	g.add(spec{
		use: "get ID", short: "Show a message: its state, why, its attempts and what to type", args: cobra.ExactArgs(1), complete: messageList.newest, view: watched,
		example: "messages get msg_26KT…\nmessages get msg_26KT… --output json", run: (*session).showMessage,
	})
	g.explains(spec{
		use: "explain ID", short: "Explain what a message waits for", complete: messageList.newest, example: "messages explain msg_26KT…",
	}, "/v2/messages/")
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
	columns := []column{{"MESSAGE", "messageId", nil, keep}, {"DEDUPLICATED", "deduplicated", yes, keep}}
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		_, err := s.listed(json.RawMessage(text), append(columns, column{"URL", "url", nil, keep}))
		return err
	}
	item, err := decode(text)
	if err != nil {
		return err
	}
	return s.rows(s.cmd.OutOrStdout(), text, []any{item}, columns)
}

func (g *group) cancelMessages() {
	var c choice
	g.add(spec{
		use: "cancel [ID…]", short: "Cancel messages by their ids or by filters", args: cobra.ArbitraryArgs, complete: messageList.newest,
		long:    "Cancels messages that wait; an attempt that is under way may still finish. Without ids and filters --all is needed.",
		example: "messages cancel msg_26KT… --yes\nmessages cancel --queue orders --label billing --dry-run\nmessages cancel --all --yes",
		flags:   func(f *pflag.FlagSet) { c.flags(f, "every message that waits", common, hostFilters) },
		run: func(s *session) error {
			query, err := s.selection(&c)
			if err != nil {
				return err
			}
			return c.carry(s, act{"cancel", "message", func() ([]string, error) { return s.waiting(query) }, func() error { return s.cancel(query) }})
		},
	})
}

// waiting are the ids of the messages that a cancellation is about.
func (s *session) waiting(query url.Values) ([]string, error) {
	if len(s.args) > 0 {
		return s.args, s.known(s.in("/v2/messages/"))
	}
	items, err := s.every(&messageList, query)
	var ids []string
	for _, item := range items {
		if !finals[textOf(item, "state")] {
			ids = append(ids, texts([]any{item}, "messageId")...)
		}
	}
	return ids, err
}

func (s *session) cancel(query url.Values) error {
	requests := []request{{method: "DELETE", path: s.in("/v2/messages"), query: query}}
	if len(s.args) > 0 {
		requests = deletions(s.in("/v2/messages/"), s.args)
	}
	return s.cancelled("message", requests)
}

// deletions are requests that delete things one by one.
func deletions(path string, ids []string) (requests []request) {
	for _, id := range ids {
		requests = append(requests, request{method: "DELETE", path: path + escape(id)})
	}
	return requests
}

// cancelled sends cancellations, and says how much they were about.
func (s *session) cancelled(noun string, requests []request) error {
	total := 0
	for _, r := range requests {
		n, err := s.count(r, "cancelled")
		if total += n; err != nil {
			return err
		}
	}
	return s.say(map[string]int{"cancelled": total}, "cancelled %s", plural.Of(total, noun))
}

// count sends a request that answers how many it was about.
func (s *session) count(r request, name string) (int, error) {
	var answer map[string]any
	err := s.receive(s.ctx, r, &answer)
	n, _ := answer[name].(float64)
	return int(n), err
}

// runMessage has a waiting message attempted now.
func (g *group) runMessage() {
	g.add(spec{
		use: "run ID", short: "Attempt a message now instead of at its due time", args: cobra.ExactArgs(1), complete: messageList.newest,
		example: "messages run msg_26KT…",
		run: func(s *session) error {
			if _, err := s.send(s.ctx, request{method: "POST", path: s.in("/v2/messages/" + escape(s.args[0]) + "/retry")}); err != nil {
				return err
			}
			return s.say(map[string]string{"run": s.args[0]}, "%s is due now", s.args[0])
		},
	})
}
