package cli

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

var failedRuns = listing{
	path: "/v2/workflows/dlq", key: "messages", id: "dlqId", most: mostDead,
	columns: []column{
		{"DEAD LETTER", "dlqId", nil, named}, {"RUN", "workflowRunId", nil, keep}, {"WORKFLOW", "workflowUrl", nil, keep}, {"STATUS", "responseStatus", statusForm, keep},
		{"CREATED", "workflowCreatedAt", when, keep}, {"FAILURE FUNCTION", "failureFunctionState", stateForm, drops}, {"LABEL", "label", nil, drops}, {"ERROR", "error", nil, drops},
	},
}

func (g *group) failedRuns() {
	g.lists(&failedRuns, spec{
		use: "failed", short: "List the dead letters of failed runs, which can be resumed", example: "runs failed --label billing",
	}, failedFilters, runFilters)
	var c choice
	g.add(spec{
		use: "delete [ID…]", short: "Delete the dead letters of failed runs, which then can't be resumed", args: cobra.ArbitraryArgs, complete: runList.newest,
		example: "runs delete wfr_7uP… --yes\nruns delete --to 168h --dry-run",
		flags:   func(f *pflag.FlagSet) { c.flags(f, "every failed run", failedFilters, runFilters) },
		run: func(s *session) error {
			return s.withFailed(&c, "delete", func(letters []string) (any, string, error) {
				n, err := s.count(request{method: "DELETE", path: s.in(failedRuns.path), query: url.Values{"dlqIds": letters}}, "deleted")
				return map[string]int{"deleted": n}, "deleted " + plural.Of(n, "dead letter"), err
			})
		},
	})
}

// again adds resume and restart.
func (g *group) again(verb, short string) {
	var c choice
	var n publication
	past := strings.TrimSuffix(verb, "e") + "ed"
	g.add(spec{
		use: verb + " [ID…]", short: short, args: cobra.ArbitraryArgs, complete: runList.newest,
		long:    "Takes ids of failed runs, or filters. Options given by --set override those of the runs.",
		example: "runs " + verb + " wfr_7uP… --yes\nruns " + verb + " --label billing --from 1h --set Retries=5 --dry-run",
		flags: func(f *pflag.FlagSet) {
			c.flags(f, "every failed run", failedFilters, runFilters)
			f.StringArrayVar(&n.set, "set", nil, "an option of the new runs as `NAME=VALUE`, such as Retries=5; may be repeated")
		},
		run: func(s *session) error {
			header, err := n.header()
			if err != nil {
				return err
			}
			return s.withFailed(&c, verb, func(letters []string) (any, string, error) {
				var doc json.RawMessage
				r := request{method: "POST", path: s.in(failedRuns.path + "/" + verb), query: url.Values{"dlqIds": letters}, header: header}
				if err := s.receive(s.ctx, r, &doc); err != nil {
					return nil, "", err
				}
				var answer struct {
					Runs []struct {
						ID string `json:"workflowRunId"`
					} `json:"workflowRuns"`
				}
				if json.Unmarshal(doc, &answer) != nil {
					return nil, "", s.noNode()
				}
				var ids []string
				for _, r := range answer.Runs {
					ids = append(ids, r.ID)
				}
				return doc, past + " " + plural.Of(len(ids), "run") + ": " + dash(strings.Join(ids, ", ")), nil
			})
		},
	})
}

// withFailed does something with the failed runs that ids or filters select, at most mostNamed at a time.
func (s *session) withFailed(c *choice, verb string, do func(letters []string) (doc any, said string, err error)) error {
	query, err := s.selection(c)
	if err != nil {
		return err
	}
	if len(s.args) > 0 {
		query = url.Values{"workflowRunId": s.args}
	}
	items, err := s.every(&failedRuns, query)
	if err != nil {
		return err
	}
	letters, runs := []string{}, []string{}
	for i, id := range texts(items, "workflowRunId") {
		if len(s.args) == 0 || slices.Contains(s.args, id) { // the API takes beginnings of ids
			letters, runs = append(letters, texts(items[i:i+1], "dlqId")...), append(runs, id)
		}
	}
	for _, id := range s.args {
		if !slices.Contains(runs, id) {
			return errorf(ExitUnknown, "%s is not a failed run: runs failed lists them", id)
		}
	}
	return c.carry(s, act{verb, "failed run", func() ([]string, error) { return runs, nil }, func() error {
		if len(letters) == 0 {
			return s.say(plan{false, verb, "failed run", 0, runs}, "no failed run to %s", verb)
		}
		for some := range slices.Chunk(letters, mostNamed) {
			doc, said, err := do(some)
			if err != nil {
				return err
			}
			if err := s.say(doc, "%s", said); err != nil {
				return err
			}
		}
		return nil
	}})
}
