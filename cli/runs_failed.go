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

func (g *group) failedRuns() {
	var selected, deleted filters
	var p paging
	g.add(spec{
		use: "failed", short: "List the dead letters of failed runs, which can be resumed",
		example: "runs failed --label billing",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, failedFilters, runFilters)
			p.flags(f)
		},
		run: func(s *session) error {
			query, err := selected.query(time.Now())
			if err != nil {
				return err
			}
			list, err := s.pages(s.in("/v2/workflows/dlq"), query, "messages", p, mostDead)
			if err != nil {
				return err
			}
			return s.printPage(&list, "messages", []column{
				{"DEAD LETTER", "dlqId", nil}, {"RUN", "workflowRunId", nil}, {"WORKFLOW", "workflowUrl", nil}, {"STATUS", "responseStatus", none},
				{"CREATED", "workflowCreatedAt", when}, {"FAILURE FUNCTION", "failureFunctionState", nil}, {"LABEL", "label", nil}, {"ERROR", "error", nil},
			}, nil)
		},
	})
	var c consent
	all := false
	g.add(spec{
		use: "delete [ID…]", short: "Delete the dead letters of failed runs, which then can't be resumed", args: cobra.ArbitraryArgs, complete: runIDs,
		example: "runs delete wfr_7uP… --yes\nruns delete --to 168h --dry-run",
		flags: func(f *pflag.FlagSet) {
			deleted.flags(f, failedFilters, runFilters)
			f.BoolVar(&all, "all", false, "every failed run")
			c.flags(f)
		},
		run: func(s *session) error {
			return s.withFailed(&deleted, &c, all, "delete", func(letters []string) (json.RawMessage, string, error) {
				n, err := s.count(request{method: "DELETE", path: s.in("/v2/workflows/dlq"), query: url.Values{"dlqIds": letters}}, "deleted")
				doc, _ := encode(map[string]int{"deleted": n}) // a number
				return doc, "deleted " + plural.Of(n, "dead letter"), err
			})
		},
	})
}

// again adds resume and restart.
func (g *group) again(verb, short string) {
	var selected filters
	var n publication
	var c consent
	all, past := false, strings.TrimSuffix(verb, "e")+"ed"
	g.add(spec{
		use: verb + " [ID…]", short: short, args: cobra.ArbitraryArgs, complete: runIDs,
		long:    "Takes ids of failed runs, or filters. Options given by --set override those of the runs.",
		example: "runs " + verb + " wfr_7uP… --yes\nruns " + verb + " --label billing --from 1h --set Retries=5 --dry-run",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, failedFilters, runFilters)
			f.StringArrayVar(&n.set, "set", nil, "an option of the new runs as `NAME=VALUE`, such as Retries=5; may be repeated")
			f.BoolVar(&all, "all", false, "every failed run")
			c.flags(f)
		},
		run: func(s *session) error {
			header, err := n.header()
			if err != nil {
				return err
			}
			return s.withFailed(&selected, &c, all, verb, func(letters []string) (json.RawMessage, string, error) {
				text, err := s.send(s.ctx, request{method: "POST", path: s.in("/v2/workflows/dlq/" + verb), query: url.Values{"dlqIds": letters}, header: header})
				if err != nil {
					return nil, "", err
				}
				var answer struct {
					Runs []struct {
						ID string `json:"workflowRunId"`
					} `json:"workflowRuns"`
				}
				if json.Unmarshal(text, &answer) != nil {
					return nil, "", s.noNode()
				}
				var ids []string
				for _, r := range answer.Runs {
					ids = append(ids, r.ID)
				}
				return text, past + " " + plural.Of(len(ids), "run") + ": " + dash(strings.Join(ids, ", ")), nil
			})
		},
	})
}

// withFailed does something with the failed runs that ids or filters select, at most mostNamed at a time.
func (s *session) withFailed(f *filters, c *consent, all bool, verb string, do func(letters []string) (json.RawMessage, string, error)) error {
	query, err := s.selection(f, all)
	if err != nil {
		return err
	}
	if len(s.args) > 0 {
		query = url.Values{"workflowRunId": s.args}
	}
	list, err := s.pages(s.in("/v2/workflows/dlq"), query, "messages", paging{}, mostDead)
	if err != nil {
		return err
	}
	items, err := list.values()
	if err != nil {
		return err
	}
	letters, runs := []string{}, []string{}
	for i, id := range texts(items, "workflowRunId") {
		if len(s.args) == 0 || contains(s.args, id) { // the API takes beginnings of ids
			letters, runs = append(letters, texts(items[i:i+1], "dlqId")...), append(runs, id)
		}
	}
	for _, id := range s.args {
		if !contains(runs, id) {
			return errorf(ExitUnknown, "%s is not a failed run: runs failed lists them", id)
		}
	}
	return c.carry(s, act{verb, "failed run", func() ([]string, error) { return runs, nil }, func() error {
		if len(letters) == 0 {
			return s.say(plan{false, verb, "failed run", 0, runs}, "no failed run to %s", verb)
		}
		for len(letters) > 0 {
			some := letters[:min(mostNamed, len(letters))]
			doc, said, err := do(some)
			if err != nil {
				return err
			}
			if err := s.say(doc, "%s", said); err != nil {
				return err
			}
			letters = letters[len(some):]
		}
		return nil
	}})
}
