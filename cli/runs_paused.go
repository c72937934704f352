package cli

import (
	"github.com/spf13/cobra"
)

// unpause adds the command that has paused runs go on.
func (g *group) unpause() {
	g.add(spec{
		use: "unpause ID…", short: "Have runs go on that are paused at the end of their retries", args: cobra.MinimumNArgs(1), complete: runList.newest,
		example: "runs unpause wfr_7uP…",
		run: func(s *session) error {
			for _, id := range s.args {
				if err := s.Call(s.ctx, "POST", s.in("/v2/workflows/runs/"+escape(id)+"/resume"), nil, nil); err != nil {
					return err
				}
				if err := s.say(map[string]string{"workflowRunId": id, "result": "resumed"}, "resumed the run %s", id); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
