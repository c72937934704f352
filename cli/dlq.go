package cli

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

// The largest pages of dead letters, and of what one request may name.
const (
	mostDead  = 100
	mostNamed = 50
)

var statusFilter = filter{"status", "responseStatus", "`STATUS` of the last response", textFilter, nil}

var deadLetters = listing{
	path: "/v2/dlq", key: "messages", id: "dlqId", most: mostDead,
	columns: []column{
		{"DEAD LETTER", "dlqId", nil, named}, {"MESSAGE", "messageId", nil, drops}, {"DESTINATION", "url", nil, keep}, {"STATUS", "responseStatus", statusForm, keep},
		{"QUEUE", "queueName", nil, drops}, {"LABEL", "label", nil, drops}, {"CREATED", "createdAt", when, keep}, {"ERROR", "error", nil, drops},
		{"METHOD", "method", nil, wide}, {"SCHEDULE", "scheduleId", nil, wide}, {"FLOW CONTROL KEY", "flowControlKey", nil, wide},
	},
}

func dlqGroup() *cobra.Command {
	g := newGroup(ofDatabase, "dlq", "List dead letters, retry and delete them")
	g.lists(&deadLetters, spec{
		use: "list", short: "List dead letters, the oldest first",
		example: "dlq list --status 503 --label billing\ndlq list --limit 0 --output json",
	}, []filter{statusFilter, messageFilter, orderFilter}, common)
	g.shows(spec{
		use: "get ID", short: "Show a dead letter with its last response", complete: deadLetters.newest, example: "dlq get 1763730000000-12",
	}, "/v2/dlq/", "dlqId")
	g.causesOf()
	g.retryDead()
	g.deleteDead()
	return g.Command
}

func (g *group) retryDead() {
	var c choice
	var n publication
	g.add(spec{
		use: "retry [ID…]", short: "Publish dead letters again and remove them", args: cobra.ArbitraryArgs, complete: deadLetters.newest,
		long:    "Makes a new message of each dead letter. Options given by --set override those of the original.",
		example: "dlq retry 1763730000000-12 --yes\ndlq retry --status 503 --dry-run\ndlq retry --all --yes --set Retries=5",
		flags: func(f *pflag.FlagSet) {
			c.flags(f, "every dead letter", []filter{statusFilter, messageFilter}, common)
			f.StringArrayVar(&n.set, "set", nil, "an option of the new messages as `NAME=VALUE`, such as Retries=5; may be repeated")
		},
		run: func(s *session) error {
			header, err := n.header()
			if err != nil {
				return err
			}
			return s.withDead(&c, "retry", "retried", func(ids []string) (int, error) {
				var answer struct {
					Responses []json.RawMessage `json:"responses"`
				}
				err := s.receive(s.ctx, request{method: "POST", path: s.in("/v2/dlq/retry"), query: url.Values{"dlqIds": ids}, header: header}, &answer)
				return len(answer.Responses), err
			})
		},
	})
}

func (g *group) deleteDead() {
	var c choice
	g.add(spec{
		use: "delete [ID…]", short: "Delete dead letters", args: cobra.ArbitraryArgs, complete: deadLetters.newest,
		example: "dlq delete 1763730000000-12 --yes\ndlq delete --label billing --to 24h --dry-run",
		flags:   func(f *pflag.FlagSet) { c.flags(f, "every dead letter", []filter{statusFilter, messageFilter}, common) },
		run: func(s *session) error {
			return s.withDead(&c, "delete", "deleted", func(ids []string) (int, error) {
				return s.count(request{method: "DELETE", path: s.in("/v2/dlq"), query: url.Values{"dlqIds": ids}}, "deleted")
			})
		},
	})
}

// withDead does something with the dead letters that were found, and only with these: others that come meanwhile stay.
func (s *session) withDead(c *choice, verb, past string, do func(ids []string) (int, error)) error {
	query, err := s.selection(c)
	if err != nil {
		return err
	}
	ids, err := s.found(&deadLetters, query)
	if err != nil {
		return err
	}
	return c.carry(s, act{verb, "dead letter", func() ([]string, error) { return ids, nil }, func() error {
		total := 0
		for some := range slices.Chunk(ids, mostNamed) {
			n, err := do(some)
			if total += n; err != nil {
				return err
			}
		}
		return s.say(map[string]int{past: total}, "%s %s", past, plural.Of(total, "dead letter"))
	}})
}
