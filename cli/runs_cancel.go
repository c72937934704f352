package cli

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

func (g *group) cancelRuns() {
	var selected filters
	var c consent
	all := false
	g.add(spec{
		use: "cancel [ID…]", short: "Cancel workflow runs by their ids or by filters", args: cobra.ArbitraryArgs, complete: runIDs,
		example: "runs cancel wfr_7uP… --yes\nruns cancel --destination https://example.com/order --dry-run",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, cancelFilters, runFilters, runHostFilters)
			f.BoolVar(&all, "all", false, "every run that is under way")
			c.flags(f)
		},
		run: func(s *session) error {
			if _, err := s.selection(&selected, all); err != nil {
				return err
			}
			ids, err := s.activeRuns(&selected)
			if err != nil {
				return err
			}
			return c.carry(s, act{"cancel", "run", func() ([]string, error) { return ids, nil }, func() error { return s.cancelEach(ids) }})
		},
	})
}

// activeRuns are the runs that a cancellation is about.
func (s *session) activeRuns(f *filters) ([]string, error) {
	if len(s.args) > 0 {
		for _, id := range s.args {
			if _, err := s.run(id); err != nil {
				return nil, err
			}
		}
		return s.args, nil
	}
	query, err := f.query(time.Now())
	if err != nil {
		return nil, err
	}
	query.Set("state", "RUN_STARTED")
	list, err := s.pages(s.in("/v2/workflows/logs"), query, "runs", paging{}, mostRuns)
	if err != nil {
		return nil, err
	}
	items, err := list.values()
	return texts(items, "workflowRunId"), err
}

func (s *session) cancelEach(ids []string) error {
	total := 0
	for _, id := range ids {
		// One by one: the filter of many takes ids too, but says nothing of those that it doesn't know.
		n, err := s.count(request{method: "DELETE", path: s.in("/v2/workflows/runs/" + escape(id))}, "cancelled")
		if total += n; err != nil {
			return err
		}
	}
	return s.say(map[string]int{"cancelled": total}, "cancelled %s", plural.Of(total, "run"))
}
