package cli

import (
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (g *group) cancelRuns() {
	var c choice
	g.add(spec{
		use: "cancel [ID…]", short: "Cancel workflow runs by their ids or by filters", args: cobra.ArbitraryArgs, complete: runList.newest,
		example: "runs cancel wfr_7uP… --yes\nruns cancel --destination https://example.com/order --dry-run",
		flags: func(f *pflag.FlagSet) {
			c.flags(f, "every run that is under way", cancelFilters, runFilters, runHostFilters)
		},
		run: func(s *session) error {
			query, err := s.selection(&c)
			if err != nil {
				return err
			}
			ids, err := s.activeRuns(query)
			if err != nil {
				return err
			}
			// One by one: the filter of many takes ids too, but says nothing of those that it doesn't know.
			return c.carry(s, act{"cancel", "run", func() ([]string, error) { return ids, nil }, func() error {
				return s.cancelled("run", deletions(s.in("/v2/workflows/runs/"), ids))
			}})
		},
	})
}

// activeRuns are the runs that a cancellation is about.
func (s *session) activeRuns(query url.Values) ([]string, error) {
	for _, id := range s.args {
		if _, err := s.run(id); err != nil {
			return nil, err
		}
	}
	if len(s.args) > 0 {
		return s.args, nil
	}
	query.Set("state", "RUN_STARTED")
	items, err := s.every(&runList, query)
	return texts(items, "workflowRunId"), err
}
