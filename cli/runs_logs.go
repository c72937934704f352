package cli

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var runEvents = listing{
	path: "/v2/workflows/events", key: "events", id: "workflowRunId", most: mostRunEvents,
	columns: []column{
		{"TIME", "time", when, keep}, {"RUN", "workflowRunId", nil, named}, {"STATE", "state", stateForm, keep}, {"STEP", "stepInfo.stepName", nil, keep},
		{"STATUS", "responseStatus", statusForm, drops}, {"ERROR", "error", nil, drops},
	},
}

func (g *group) runLogs() {
	var selected filters
	var p paging
	g.add(spec{
		view: watched, use: "logs [ID]", short: "List the events of a workflow run, or of all, the newest first", args: cobra.MaximumNArgs(1), complete: runList.newest,
		example: "runs logs wfr_7uP…\nruns logs --state STEP_FAILED --from 1h",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, runLogFilters, runFilters, runHostFilters)
			p.flags(f)
		},
		run: func(s *session) error {
			query, err := selected.query(time.Now())
			if err != nil {
				return err
			}
			if len(s.args) > 0 {
				if _, err := s.run(s.args[0]); err != nil {
					return err
				}
				query.Set("workflowRunId", s.args[0])
			}
			return s.printPage(&runEvents, query, p)
		},
	})
}
