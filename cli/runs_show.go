package cli

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (s *session) showRun() error {
	doc, err := s.run(s.args[0])
	if err != nil {
		return err
	}
	out := s.cmd.OutOrStdout()
	if done, err := s.structured(out, doc); done {
		return err
	}
	head, err := runHead(doc)
	if err != nil {
		return err
	}
	steps, err := s.runSteps(doc)
	if err != nil {
		return err
	}
	if err := s.fields(out, head, "workflowRunId"); err != nil || !s.forPeople() {
		return err
	}
	if _, err := out.Write([]byte("\n")); err != nil {
		return err
	}
	return s.rows(out, nil, steps, []column{
		{"STEP", "stepId", nil, keep}, {"NAME", "stepName", nil, keep}, {"TYPE", "stepType", nil, keep}, {"STATE", "state", nil, keep}, {"GROUP", "group", nil, keep},
		{"CREATED", "createdAt", when, keep}, {"NEXT", "nextDeliveryTime", when, keep},
	})
}

// runHead is a run without its steps.
func runHead(doc []byte) ([]byte, error) {
	members, err := ordered(doc)
	if err != nil {
		return nil, err
	}
	head := map[string]any{}
	for _, m := range members {
		head[m.name] = m.value
	}
	delete(head, "steps")
	return encode(head)
}

// runSteps are the steps of a run, each with the kind of its group.
func (s *session) runSteps(doc []byte) (steps []any, err error) {
	var r struct {
		Steps []struct {
			Type  string            `json:"type"`
			Steps []json.RawMessage `json:"steps"`
		} `json:"steps"`
	}
	if json.Unmarshal(doc, &r) != nil {
		return nil, s.noNode()
	}
	for _, group := range r.Steps {
		for _, raw := range group.Steps {
			step, err := decode(raw)
			if err != nil {
				return nil, err
			}
			if m, ok := step.(map[string]any); ok {
				m["group"] = group.Type
			}
			steps = append(steps, step)
		}
	}
	return steps, nil
}

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
