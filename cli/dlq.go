package cli

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

// The largest pages of dead letters, and of what one request may name.
const (
	mostDead  = 100
	mostNamed = 50
)

var statusFilter = filter{"status", "responseStatus", "`STATUS` of the last response", textFilter}

func dlqGroup() *cobra.Command {
	g := newGroup(ofDatabase, "dlq", "List dead letters, retry and delete them")
	var selected filters
	var p paging
	g.add(spec{
		use: "list", short: "List dead letters, the oldest first",
		example: "dlq list --status 503 --label billing\ndlq list --limit 0 --output json",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, []filter{statusFilter, messageFilter, orderFilter}, common)
			p.flags(f)
		},
		run: func(s *session) error {
			query, err := selected.query(time.Now())
			if err != nil {
				return err
			}
			list, err := s.pages(s.in("/v2/dlq"), query, "messages", p, mostDead)
			if err != nil {
				return err
			}
			return s.printPage(&list, "messages", []column{
				{"DEAD LETTER", "dlqId", nil}, {"MESSAGE", "messageId", nil}, {"DESTINATION", "url", nil}, {"STATUS", "responseStatus", none},
				{"QUEUE", "queueName", nil}, {"LABEL", "label", nil}, {"CREATED", "createdAt", when}, {"ERROR", "error", nil},
			}, nil)
		},
	})
	g.add(spec{
		use: "get ID", short: "Show a dead letter with its last response", args: cobra.ExactArgs(1), complete: deadIDs, example: "dlq get 1763730000000-12",
		run: func(s *session) error { return s.show(s.in("/v2/dlq/"+escape(s.args[0])), "dlqId") },
	})
	g.retryDead()
	g.deleteDead()
	return g.Command
}

// deadIDs are dead letters, for completion.
func deadIDs(s *session) []string {
	return without(s.members(s.in("/v2/dlq"), "messages", "dlqId"))
}

// deadLetters finds the dead letters that arguments or filters select; an unknown one is an error.
func (s *session) deadLetters(f *filters, path string) ([]string, error) {
	if len(s.args) > 0 {
		for _, id := range s.args {
			if _, err := s.get(s.in(path + "/" + escape(id))); err != nil {
				return nil, err
			}
		}
		return s.args, nil
	}
	query, err := f.query(time.Now())
	if err != nil {
		return nil, err
	}
	list, err := s.pages(s.in(path), query, "messages", paging{}, mostDead)
	if err != nil {
		return nil, err
	}
	items, err := list.values()
	return texts(items, "dlqId"), err
}

func (g *group) retryDead() {
	var selected filters
	var n publication
	var c consent
	all := false
	g.add(spec{
		use: "retry [ID…]", short: "Publish dead letters again and remove them", args: cobra.ArbitraryArgs, complete: deadIDs,
		long:    "Makes a new message of each dead letter. Options given by --set override those of the original.",
		example: "dlq retry 1763730000000-12 --yes\ndlq retry --status 503 --dry-run\ndlq retry --all --yes --set Retries=5",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, []filter{statusFilter, messageFilter}, common)
			f.StringArrayVar(&n.set, "set", nil, "an option of the new messages as `NAME=VALUE`, such as Retries=5; may be repeated")
			f.BoolVar(&all, "all", false, "every dead letter")
			c.flags(f)
		},
		run: func(s *session) error {
			header, err := n.header()
			if err != nil {
				return err
			}
			return s.withDead(&selected, &c, all, "retry", "/v2/dlq", func(ids []string) (int, error) {
				text, err := s.send(s.ctx, request{method: "POST", path: s.in("/v2/dlq/retry"), query: url.Values{"dlqIds": ids}, header: header})
				if err != nil {
					return 0, err
				}
				var answer struct {
					Responses []json.RawMessage `json:"responses"`
				}
				if json.Unmarshal(text, &answer) != nil {
					return 0, s.noNode()
				}
				return len(answer.Responses), nil
			})
		},
	})
}

func (g *group) deleteDead() {
	var selected filters
	var c consent
	all := false
	g.add(spec{
		use: "delete [ID…]", short: "Delete dead letters", args: cobra.ArbitraryArgs, complete: deadIDs,
		example: "dlq delete 1763730000000-12 --yes\ndlq delete --label billing --to 24h --dry-run",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, []filter{statusFilter, messageFilter}, common)
			f.BoolVar(&all, "all", false, "every dead letter")
			c.flags(f)
		},
		run: func(s *session) error {
			return s.withDead(&selected, &c, all, "delete", "/v2/dlq", func(ids []string) (int, error) {
				return s.count(request{method: "DELETE", path: s.in("/v2/dlq"), query: url.Values{"dlqIds": ids}}, "deleted")
			})
		},
	})
}

// withDead does something with the dead letters that were found, and only with these: others that come meanwhile stay.
func (s *session) withDead(f *filters, c *consent, all bool, verb, path string, do func(ids []string) (int, error)) error {
	if _, err := s.selection(f, all); err != nil {
		return err
	}
	ids, err := s.deadLetters(f, path)
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
		past := map[string]string{"retry": "retried", "delete": "deleted"}[verb]
		return s.say(map[string]int{past: total}, "%s %s", past, plural.Of(total, "dead letter"))
	}})
}
