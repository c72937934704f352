package cli

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// forking is the body of a request for a fork.
type forking struct {
	Step     *uint32  `json:"step,omitempty"`
	ID       string   `json:"workflowRunId,omitempty"`
	URL      string   `json:"url,omitempty"`
	Database string   `json:"database,omitempty"`
	Keys     []string `json:"keys,omitempty"`
}

// fork adds the command that forks a run.
func (g *group) fork() {
	var in forking
	var n publication
	step := uint32(0)
	g.add(spec{
		use: "fork ID", short: "Start a run with the log of another one, which stays as it is", args: cobra.ExactArgs(1), complete: runList.newest,
		long: "The new run begins with the results of the other one up to --step and goes on from there. With --into it runs in a database that is made\n" +
			"for it, with the values of keys that the run has kept: this needs the admin token, and --endpoint of an app with the new database's token.",
		example: "runs fork wfr_7uP… --step 3\nruns fork wfr_7uP… --step 3 --into scratch-1 --keys 'cart:*' --endpoint http://127.0.0.1:3001/order --set Delay=5m",
		flags: func(f *pflag.FlagSet) {
			f.Uint32Var(&step, "step", 0, "`NUMBER` of the step whose result is the last one to be taken over; 0 = the payload alone (default all steps)")
			f.StringVar(&in.ID, "id", "", "`ID` of the new run")
			f.StringVar(&in.URL, "endpoint", "", "`URL` of the endpoint (default that of the run)")
			f.StringVar(&in.Database, "into", "", "`NAME` of a database that is made for the new run")
			f.StringSliceVar(&in.Keys, "keys", nil, "`NAMES` of kept keys that this database gets; * at the end of a name stands for any rest (default all)")
			f.StringArrayVar(&n.set, "set", nil, "an option of the new run as `NAME=VALUE`, such as Retries=5; may be repeated")
		},
		run: func(s *session) error {
			if s.cmd.Flags().Changed("step") {
				in.Step = &step
			}
			return s.fork(&in, &n)
		},
	})
}

func (s *session) fork(in *forking, n *publication) error {
	header, err := n.header()
	if err != nil {
		return err
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	text, err := s.send(s.ctx, request{method: http.MethodPost, path: s.in("/v2/workflows/runs/" + escape(s.args[0]) + "/fork"), header: header, body: body})
	if err != nil {
		return err
	}
	item, err := decode(text)
	if err != nil {
		return err
	}
	columns := []column{
		{"RUN", "workflowRunId", nil, named}, {"CREATED", "workflowCreatedAt", when, keep}, {"FORK OF", "forkedFrom.workflowRunId", nil, keep}, {"STEP", "forkedFrom.stepId", nil, keep},
	}
	if in.Database != "" {
		columns = append(columns, column{"DATABASE", "database.name", nil, keep}, column{"TOKEN", "database.token", nil, keep},
			column{"READ-ONLY TOKEN", "database.readonlyToken", nil, wide}, column{"KEYS", "keys", nil, wide}, column{"OMITTED", "omitted", nil, wide})
	}
	return s.rows(s.cmd.OutOrStdout(), text, []any{item}, columns)
}

// values adds the command that lists the values that a run has kept.
func (g *group) values() {
	step := uint32(0)
	g.add(spec{
		view: watched, use: "values ID", short: "List the values of keys that a workflow run has kept", args: cobra.ExactArgs(1), complete: runList.newest,
		example: "runs values wfr_7uP…\nruns values wfr_7uP… --step 3 --output json",
		flags: func(f *pflag.FlagSet) {
			f.Uint32Var(&step, "step", 0, "`NUMBER` of a step: the newest value of each key up to its result, as a fork gets them (default all values)")
		},
		run: func(s *session) error {
			query := url.Values{}
			if s.cmd.Flags().Changed("step") {
				query.Set("step", strconv.FormatUint(uint64(step), 10))
			}
			text, err := s.send(s.ctx, request{method: http.MethodGet, path: s.in("/v2/workflows/runs/" + escape(s.args[0]) + "/values"), query: query})
			if err != nil {
				return err
			}
			item, err := decode(text)
			if err != nil {
				return err
			}
			list, _ := column{member: "values"}.raw(item).([]any)
			return s.rows(s.cmd.OutOrStdout(), text, list, []column{
				{"KEY", "key", nil, named}, {"STEP", "stepId", nil, keep}, {"TYPE", "type", nil, keep}, {"SIZE", "size", size, keep}, {"EXPIRES", "expiresAt", when, drops},
				{"OMITTED", "omitted", yes, keep},
			})
		},
	})
}
