package workflows

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// moved is the answer to a move of one run.
type moved struct {
	run
	// Deployment is the one that the run is on, empty for none.
	Deployment string `json:"deployment"`
}

// destination reads where runs are to be moved.
func (p params) destination() (string, error) {
	if len(p["to"]) != 1 {
		return "", messages.Invalid("invalid to: the name of a deployment is wanted, or an empty text for none")
	}
	return p.get("to"), nil
}

// moveRun answers POST /v2/workflows/runs/{id}/move; workflowCreatedAt tells apart runs of one id.
func (re *request) moveRun() (*moved, error) {
	v, err := re.selection()
	if err != nil {
		return nil, err
	}
	n := workflow.RunMove{RunID: re.Plain(2)}
	if n.Created, err = v.number("workflowCreatedAt"); err != nil {
		return nil, err
	}
	if n.To, err = v.destination(); err != nil {
		return nil, err
	}
	if err := re.NeedFiles(re.r.Context()); err != nil {
		return nil, err
	}
	out, err := propose(re, fsm.MoveRuns, n)
	if err != nil {
		return nil, err
	}
	return &moved{run{out.Run.ID, out.Run.Created}, n.To}, nil
}

// movedRuns is the answer to a move of many.
type movedRuns struct {
	Moved int `json:"moved"`
}

// moveRuns answers POST /v2/workflows/deployments/{deployment}/move: all active runs on it, or those that filters choose.
func (re *request) moveRuns() (*movedRuns, error) {
	v, err := re.selection()
	if err != nil {
		return nil, err
	}
	for name := range v {
		if name != "to" && name != messages.TokenParameter && !slices.Contains(filterNames(false), name) {
			return nil, messages.Invalid("unknown filter %q", name)
		}
	}
	n := workflow.RunMove{From: re.Plain(2)}
	if n.To, err = v.destination(); err != nil {
		return nil, err
	}
	if n.Filter, err = v.runFilter(); err != nil {
		return nil, err
	}
	n.Filter.URLPrefix = len(n.Filter.URLs) > 0 && !v.truth("workflowUrlExactMatch")
	if err := re.NeedFiles(re.r.Context()); err != nil {
		return nil, err
	}
	answer := &movedRuns{}
	if v.nothing(filterNames(false)...) {
		return answer, nil
	}
	for more := true; more; {
		out, err := propose(re, fsm.MoveRuns, n)
		if err != nil {
			return nil, err
		}
		answer.Moved += out.Count
		n.Until, n.After, more = out.Until, out.After, out.More
	}
	return answer, nil
}
