package cli

import "github.com/spf13/cobra"

// stepRow is a step of a run with the figures that its waterfall draws.
type stepRow struct {
	ID       int    `json:"stepId"`
	Name     string `json:"stepName"`
	Type     string `json:"stepType"`
	State    string `json:"state"`
	Due      int64  `json:"dueAt"`
	Recorded int64  `json:"createdAt"`
	Took     int64  `json:"tookMs"` // up to now if it is under way; -1 if it has not begun
	Failures int    `json:"failures"`
	Next     int64  `json:"nextAt"`
	Note     string `json:"note"`
}

var stepColumns = []column{
	{"STEP", "stepId", nil, named}, {"NAME", "stepName", nil, keep}, {"TYPE", "stepType", nil, keep}, {"STATE", "state", stateForm, keep},
	{"TOOK", "tookMs", millis, keep}, {"DUE", "dueAt", when, drops}, {"RECORDED", "createdAt", when, drops}, {"FAILURES", "failures", nil, drops},
	{"NEXT", "nextAt", when, wide}, {"NOTE", "note", nil, wide},
}

// runSteps adds the command that lists the steps of a run.
func (g *group) runSteps() {
	g.add(spec{
		use: "steps ID", short: "List the steps of a workflow run with their times", args: cobra.ExactArgs(1), complete: runList.newest, view: watched,
		example: "runs steps wfr_7uP…\nruns steps wfr_7uP… --output csv",
		run: func(s *session) error {
			r, err := s.timedSteps(s.args[0])
			if err != nil {
				return err
			}
			rows := []stepRow{}
			for _, n := range r.flat() {
				rows = append(rows, stepRow{n.ID, n.Name, n.Type, n.State, n.Due, n.Recorded, n.time(r.end()), len(n.Failures), n.NextAt, n.note()})
			}
			_, err = s.listed(rows, stepColumns)
			return err
		},
	})
}
