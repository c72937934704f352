package cli

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The largest pages of runs and of their events.
const (
	mostRuns      = 10
	mostRunEvents = 1000
)

// The filters of runs; those of failed runs are in failedFilters.
var (
	runFilters = []filter{
		{"destination", "workflowUrl", "`URL` of the workflow", textFilter, nil},
		{"label", "label", "`LABEL`", textFilter, nil},
		{"flow-control-key", "flowControlKey", "flow-control `KEY`", textFilter, nil},
		{"caller-ip", "callerIp", "`ADDRESS` of the client that triggered the run", textFilter, nil},
		{"deployment", "deployment", "`NAME` of the deployment", textFilter, nil},
		fromFilter, toFilter,
	}
	// runHostFilters are the filters that lists of failed runs do not accept.
	runHostFilters = []filter{
		{"host", "host", "`HOST` of the workflow's URL", textFilter, nil},
		{"path", "path", "`PATH` of the workflow's URL", textFilter, nil},
	}
	createdFilter    = filter{"created", "workflowCreatedAt", "`TIME` of creation", timeFilter, nil}
	refFilter        = filter{"ref", "workflowRuns", "run as `ID@CREATED`; nothing else counts then", textFilter, nil}
	runMessageFilter = filter{"message", "messageId", "`ID` of a message of the run", textFilter, nil}
	runListFilters   = []filter{
		filter{"state", "state", "`STATE` of the run", textFilter, nil}.among(runStates),
		{"run", "workflowRunId", "`ID` of a run", textFilter, nil},
		createdFilter, refFilter, runMessageFilter,
	}
	runLogFilters = append([]filter{filter{"state", "state", "`STATE` of a run or of a step", textFilter, nil}.among(runEventStates)}, runListFilters[1:]...)
	cancelFilters = []filter{createdFilter, runMessageFilter}
	failedFilters = []filter{
		statusFilter,
		filter{"failure-function", "failureFunctionState", "`STATE` of the failure callback", textFilter, nil}.among(callbackStates),
		{"run", "workflowRunId", "`ID` of a run, or its beginning", textFilter, nil},
		createdFilter, refFilter, runMessageFilter,
	}
)

var runList = listing{
	path: "/v2/workflows/logs", key: "runs", id: "workflowRunId", most: mostRuns,
	columns: []column{
		{"RUN", "workflowRunId", nil, named}, {"STATE", "workflowState", stateForm, keep}, {"WORKFLOW", "workflowUrl", nil, keep}, {"CREATED", "workflowRunCreatedAt", when, keep},
		{"COMPLETED", "workflowRunCompletedAt", when, drops}, {"LABEL", "label", nil, drops}, {"DEAD LETTER", "dlqId", nil, drops},
		{"FLOW CONTROL KEY", "flowControlKey", nil, wide}, {"INVOKED BY", "invoker.workflowRunId", nil, wide},
		{"DEPLOYMENT", "deployment", nil, wide},
		{"FORK OF", "forkedFrom.workflowRunId", nil, wide},
	},
}

func runGroup() *cobra.Command {
	g := newGroup(ofDatabase, "runs", "List workflow runs, explain, cancel, resume and notify them", "run", "workflows")
	g.lists(&runList, spec{
		use: "list", short: "List workflow runs, the newest first",
		example: "runs list --state RUN_FAILED --from 24h\nruns list --label billing --output json",
	}, runListFilters, runFilters, runHostFilters)
	g.add(spec{
		view: watched, use: "get ID", short: "Show a workflow run: its state, why, a waterfall of its steps and what to type", args: cobra.ExactArgs(1), complete: runList.newest, example: "runs get wfr_7uP…",
		run: (*session).showRun,
	})
	g.add(spec{
		view: watched, use: "explain ID", short: "Explain what a workflow run waits for and what is wrong", args: cobra.ExactArgs(1), complete: runList.newest,
		example: "runs explain wfr_7uP…",
		run: func(s *session) error {
			doc, err := s.get(s.in("/v2/workflows/runs/" + escape(s.args[0]) + "/explain"))
			if err != nil {
				return err
			}
			return s.explanation(doc)
		},
	})
	g.runSteps()
	g.runState()
	g.update()
	g.runLogs()
	g.trigger()
	g.cancelRuns()
	g.bulkActions("/v2/workflows/bulkActions", "run")
	g.failedRuns()
	g.unpause()
	g.moveRun()
	g.fork()
	g.values()
	g.again("resume", "Resume failed runs at the failed step, as new runs")
	g.again("restart", "Restart failed runs from the beginning, as new runs")
	g.notify()
	return g.Command
}

// run finds one run by its id.
func (s *session) run(id string) (json.RawMessage, error) {
	list, err := s.pages(&runList, url.Values{"workflowRunId": {id}}, paging{limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list.items) == 0 {
		return nil, errorf(ExitUnknown, "workflow run %s not found", id)
	}
	return list.items[0], nil
}

func (g *group) trigger() {
	var n publication
	id, deployment := "", ""
	g.add(spec{
		use: "trigger URL [PAYLOAD]", short: "Start a workflow run", args: cobra.RangeArgs(1, 2),
		example: `runs trigger https://example.com/order '{"item":17}' --id order-17 --label billing`,
		flags: func(f *pflag.FlagSet) {
			n.flags(f, messageOptions)
			f.StringVar(&id, "id", "", "`ID` of the run; a second run with the same id is not started")
			f.StringVar(&deployment, "deployment", "", "`NAME` of the deployment that the run stays on")
		},
		run: func(s *session) error {
			if id != "" {
				n.set = append(n.set, "Workflow-RunId="+id)
			}
			if deployment != "" {
				n.set = append(n.set, "Deployment="+deployment)
			}
			text, err := s.publish(&n, s.in("/v2/trigger/"+rawDestination(s.args[0])))
			if err != nil {
				return err
			}
			item, err := decode(text)
			if err != nil {
				return err
			}
			return s.rows(s.cmd.OutOrStdout(), text, []any{item}, []column{
				{"RUN", "workflowRunId", nil, named}, {"CREATED", "workflowCreatedAt", when, keep}, {"DEDUPLICATED", "deduplicated", yes, keep},
			})
		},
	})
}

func (g *group) notify() {
	run, file := "", ""
	g.add(spec{
		use: "notify EVENT [DATA]", short: "Wake the runs that wait for an event", args: cobra.RangeArgs(1, 2),
		long:    "Wakes whoever waits for the event. Without --run an event that nobody waits for is lost, unless a run keeps it; with it the run gets it later.",
		example: `runs notify approved-17 '{"by":"me"}'` + "\nruns notify approved --run wfr_7uP… --body-file data.json",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&run, "run", "", "`ID` of the run to notify, even if it does not wait yet")
			f.StringVar(&file, "body-file", "", "`FILE` with the data; - = standard input")
		},
		run: func(s *session) error {
			n := publication{file: file}
			body, err := n.body(s.args[1:], s.cmd.InOrStdin())
			if err != nil {
				return err
			}
			path := "/v2/notify/"
			if run != "" {
				path += escape(run) + "/"
			}
			text, err := s.send(s.ctx, request{method: "POST", path: s.in(path + escape(s.args[0])), body: body})
			if err != nil {
				return err
			}
			items, err := s.listed(json.RawMessage(text), []column{
				{"RUN", "workflowRunId", nil, named}, {"MESSAGE", "messageId", nil, keep}, {"CREATED", "workflowCreatedAt", when, keep},
			})
			if err == nil && len(items) == 0 && run == "" {
				s.note("nobody waits for %s: the event is lost", s.args[0])
			}
			return err
		},
	})
}
