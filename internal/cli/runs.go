package cli

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

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
		{"destination", "workflowUrl", "`URL` of the workflow", textFilter},
		{"label", "label", "`LABEL`", textFilter},
		{"flow-control-key", "flowControlKey", "flow-control `KEY`", textFilter},
		{"caller-ip", "callerIp", "`ADDRESS` of whoever triggered the run", textFilter},
		{"host", "host", "`HOST` of the workflow's URL", textFilter},
		{"path", "path", "`PATH` of the workflow's URL", textFilter},
		{"from", "fromDate", "earliest `TIME`: RFC 3339, unix milliseconds, or a duration ago such as 90m", timeFilter},
		{"to", "toDate", "latest `TIME`, likewise", timeFilter},
	}
	runListFilters = []filter{
		{"state", "state", "`STATE`: RUN_STARTED, RUN_SUCCESS, RUN_FAILED or RUN_CANCELED", textFilter},
		{"run", "workflowRunId", "`ID` of a run", textFilter},
		{"created", "workflowCreatedAt", "`TIME` of creation", timeFilter},
		{"ref", "workflowRuns", "run as `ID@CREATED`; nothing else counts then", textFilter},
		{"message", "messageId", "`ID` of a message of the run", textFilter},
	}
	failedFilters = []filter{
		statusFilter,
		{"failure-function", "failureFunctionState", "`STATE` of the failure callback", textFilter},
		{"run", "workflowRunId", "`ID` of a run, or its beginning", textFilter},
		{"created", "workflowCreatedAt", "`TIME` of creation", timeFilter},
	}
)

func runGroup() *cobra.Command {
	g := newGroup(ofDatabase, "runs", "List workflow runs, explain, cancel, resume and notify them", "run", "workflows")
	g.listRuns()
	g.add(spec{
		use: "get ID", short: "Show a workflow run with its steps", args: cobra.ExactArgs(1), complete: runIDs, example: "runs get wfr_7uP…",
		run: (*session).showRun,
	})
	g.add(spec{
		use: "explain ID", short: "Say what a workflow run waits for, and what is wrong", args: cobra.ExactArgs(1), complete: runIDs,
		example: "runs explain wfr_7uP…",
		run: func(s *session) error {
			return s.show(s.in("/v2/workflows/runs/"+escape(s.args[0])+"/explain"), "reason")
		},
	})
	g.runLogs()
	g.trigger()
	g.cancelRuns()
	g.failedRuns()
	g.again("resume", "Resume failed runs where they failed, as new runs")
	g.again("restart", "Restart failed runs with their payload, as new runs")
	g.notify()
	return g.Command
}

func runIDs(s *session) []string {
	return without(s.members(s.in("/v2/workflows/logs"), "runs", "workflowRunId"))
}

func (g *group) listRuns() {
	var selected filters
	var p paging
	g.add(spec{
		use: "list", short: "List workflow runs, the newest first",
		example: "runs list --state RUN_FAILED --from 24h\nruns list --label billing --output json",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, runListFilters, runFilters)
			p.flags(f)
		},
		run: func(s *session) error {
			list, err := s.runs(&selected, p)
			if err != nil {
				return err
			}
			return s.printPage(&list, "runs", []column{
				{"RUN", "workflowRunId", nil}, {"STATE", "workflowState", nil}, {"WORKFLOW", "workflowUrl", nil}, {"CREATED", "workflowRunCreatedAt", when},
				{"COMPLETED", "workflowRunCompletedAt", when}, {"LABEL", "label", nil}, {"DEAD LETTER", "dlqId", nil},
			}, nil)
		},
	})
}

func (s *session) runs(f *filters, p paging) (page, error) {
	query, err := f.query(time.Now())
	if err != nil {
		return page{}, err
	}
	return s.pages(s.in("/v2/workflows/logs"), query, "runs", p, mostRuns)
}

// run finds one run by its id.
func (s *session) run(id string) (json.RawMessage, error) {
	list, err := s.pages(s.in("/v2/workflows/logs"), url.Values{"workflowRunId": {id}}, "runs", paging{limit: 1}, mostRuns)
	if err != nil {
		return nil, err
	}
	if len(list.items) == 0 {
		return nil, errorf(ExitUnknown, "workflow run %s not found", id)
	}
	return list.items[0], nil
}

func (s *session) showRun() error {
	doc, err := s.run(s.args[0])
	if err != nil {
		return err
	}
	out := s.cmd.OutOrStdout()
	if done, err := s.structured(out, doc); done {
		return err
	}
	var r struct {
		Steps []struct {
			Type  string            `json:"type"`
			Steps []json.RawMessage `json:"steps"`
		} `json:"steps"`
	}
	if json.Unmarshal(doc, &r) != nil {
		return s.noNode()
	}
	members, err := ordered(doc)
	if err != nil {
		return err
	}
	head := map[string]any{}
	for _, m := range members {
		head[m.name] = m.value
	}
	delete(head, "steps")
	text, err := encode(head)
	if err != nil {
		return err
	}
	if err := s.fields(out, text, "workflowRunId"); err != nil || s.quiet {
		return err
	}
	var steps []any
	for _, group := range r.Steps {
		for _, raw := range group.Steps {
			step, err := decode(raw)
			if err != nil {
				return err
			}
			if m, ok := step.(map[string]any); ok {
				m["group"] = group.Type
			}
			steps = append(steps, step)
		}
	}
	if _, err := out.Write([]byte("\n")); err != nil {
		return err
	}
	return s.rows(out, nil, steps, []column{
		{"STEP", "stepId", nil}, {"NAME", "stepName", nil}, {"TYPE", "stepType", nil}, {"STATE", "state", nil}, {"GROUP", "group", nil},
		{"CREATED", "createdAt", when}, {"NEXT", "nextDeliveryTime", when},
	})
}

func (g *group) runLogs() {
	var selected filters
	var p paging
	g.add(spec{
		use: "logs [ID]", short: "List the events of a workflow run, or of all, the newest first", args: cobra.MaximumNArgs(1), complete: runIDs,
		example: "runs logs wfr_7uP…\nruns logs --state STEP_FAILED --from 1h",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, runListFilters[:4], []filter{runFilters[0], runFilters[1]}, runFilters[len(runFilters)-2:])
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
			list, err := s.pages(s.in("/v2/workflows/events"), query, "events", p, mostRunEvents)
			if err != nil {
				return err
			}
			return s.printPage(&list, "events", []column{
				{"TIME", "time", when}, {"RUN", "workflowRunId", nil}, {"STATE", "state", nil}, {"STEP", "stepInfo.stepName", nil},
				{"STATUS", "responseStatus", none}, {"ERROR", "error", nil},
			}, nil)
		},
	})
}

func (g *group) trigger() {
	var n publication
	id := ""
	g.add(spec{
		use: "trigger URL [PAYLOAD]", short: "Start a workflow run", args: cobra.RangeArgs(1, 2),
		example: `runs trigger https://example.com/order '{"item":17}' --id order-17 --label billing`,
		flags: func(f *pflag.FlagSet) {
			n.flags(f, messageOptions)
			f.StringVar(&id, "id", "", "`ID` of the run: one run of that id is started")
		},
		run: func(s *session) error {
			if id != "" {
				n.set = append(n.set, "Workflow-RunId="+id)
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
				{"RUN", "workflowRunId", nil}, {"CREATED", "workflowCreatedAt", when}, {"DEDUPLICATED", "deduplicated", yes},
			})
		},
	})
}

func (g *group) cancelRuns() {
	var selected filters
	var c consent
	all := false
	g.add(spec{
		use: "cancel [ID…]", short: "Cancel workflow runs by their ids or by filters", args: cobra.ArbitraryArgs, complete: runIDs,
		example: "runs cancel wfr_7uP… --yes\nruns cancel --destination https://example.com/order --dry-run",
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, runFilters)
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
	return s.say(map[string]int{"cancelled": total}, "cancelled %s", plural(total, "run"))
}

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
		use: "delete [ID…]", short: "Delete the dead letters of failed runs, which can't be resumed then", args: cobra.ArbitraryArgs, complete: runIDs,
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
				return doc, "deleted " + plural(n, "dead letter"), err
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
				return text, past + " " + plural(len(ids), "run") + ": " + dash(strings.Join(ids, ", ")), nil
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
			return errorf(ExitUnknown, "%s is no failed run: runs failed lists them", id)
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

func (g *group) notify() {
	run, file := "", ""
	g.add(spec{
		use: "notify EVENT [DATA]", short: "Wake the runs that wait for an event", args: cobra.RangeArgs(1, 2),
		long:    "Wakes whoever waits for the event. Without --run an event that nobody waits for is lost; with it the run gets it later.",
		example: `runs notify approved-17 '{"by":"me"}'` + "\nruns notify approved --run wfr_7uP… --body-file data.json",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&run, "run", "", "`ID` of the run that gets it, also if it doesn't wait yet")
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
			items, err := listOf(text)
			if err != nil {
				return err
			}
			if err := s.rows(s.cmd.OutOrStdout(), text, items, []column{
				{"RUN", "workflowRunId", nil}, {"MESSAGE", "messageId", nil}, {"CREATED", "workflowCreatedAt", when},
			}); err != nil {
				return err
			}
			if len(items) == 0 && run == "" {
				s.note("nobody waits for %s: the event is lost", s.args[0])
			}
			return nil
		},
	})
}
