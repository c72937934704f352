package cli

import (
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runState adds the command that shows the state of a run.
func (g *group) runState() {
	g.add(spec{
		view: watched, use: "state ID", short: "Show the state of a workflow run, as its steps have set it", args: cobra.ExactArgs(1), complete: runList.newest,
		example: "runs state wfr_7uP…\nruns state wfr_7uP… --output json",
		run: func(s *session) error {
			doc, err := s.get(s.in("/v2/workflows/runs/" + escape(s.args[0]) + "/state"))
			if err != nil {
				return err
			}
			item, err := decode(doc)
			if err != nil {
				return err
			}
			return s.rows(s.cmd.OutOrStdout(), doc, []any{item}, []column{
				{"RUN", "workflowRunId", nil, drops}, {"STATE", "state", nil, keep}, {"VERSION", "version", nil, named}, {"STEP", "stepName", nil, keep},
				{"UPDATED", "updatedAt", when, keep}, {"UPDATES", "updates", nil, wide},
			})
		},
	})
}

// update adds the command that sends an update to a run.
func (g *group) update() {
	n, data, id := publication{}, "", ""
	g.add(spec{
		use: "update ID NAME", short: "Send an update to a workflow run, which accepts or refuses it", args: cobra.ExactArgs(2), complete: runList.newest,
		example: `runs update wfr_7uP… spend --body '{"amount":30}'` + "\nruns update wfr_7uP… approve --body-file approval.json --id approve-17",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&data, "body", "", "`JSON` of the update")
			f.StringVar(&n.file, "body-file", "", "`FILE` with the update; - = standard input")
			f.StringVar(&id, "id", "", "`ID` of the update; a second one with the same id is not accepted once more")
		},
		run: func(s *session) error {
			given := []string{data}
			if data == "" {
				given = nil
			}
			body, err := n.body(given, s.cmd.InOrStdin())
			if err != nil {
				return err
			}
			ask := request{method: http.MethodPost, path: s.in("/v2/workflows/runs/" + escape(s.args[0]) + "/updates/" + escape(s.args[1])), body: body}
			if id != "" {
				ask.header = http.Header{"Svc-Update-Id": {id}}
			}
			text, err := s.send(s.ctx, ask)
			if err != nil {
				return err
			}
			item, err := decode(text)
			if err != nil {
				return err
			}
			return s.rows(s.cmd.OutOrStdout(), text, []any{item}, []column{
				{"UPDATE", "updateId", nil, named}, {"ACCEPTED", "accepted", yes, keep}, {"MESSAGE", "messageId", nil, keep}, {"STATE VERSION", "stateVersion", nil, keep},
			})
		},
	})
}
