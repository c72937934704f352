package workflows

import (
	"net/http"
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// run names a run in answers.
type run struct {
	RunID   string `json:"workflowRunId"`
	Created int64  `json:"workflowCreatedAt"`
}

func noDead(id string) error { return messages.NotFound("dlq message", id) }

// readDeadSelection reads which dead letters are meant: the one of the path, or a selection.
func (re *request) readDeadSelection(id string) (n workflow.DeadSelection, err error) {
	if id != "" {
		t, ok := queue.ParseStamp(id)
		if !ok {
			return n, noDead(id)
		}
		return workflow.DeadSelection{IDs: []queue.Stamp{t}, Strict: true}, nil
	}
	v, err := re.selection()
	if err != nil {
		return n, err
	}
	for name := range v {
		if !slices.Contains(deadNames, name) {
			return n, messages.Invalid("unknown filter %q", name)
		}
	}
	if n, err = v.dead(); err != nil {
		return n, err
	}
	return n, re.admits(&n.Filter.Filter)
}

// dead reads a selection of dead letters.
func (p params) dead() (n workflow.DeadSelection, err error) {
	named := p.list("dlqIds")
	for _, text := range named {
		t, ok := queue.ParseStamp(text)
		if !ok && len(named) == 1 { // a client uses the form for many for one as well
			return n, noDead(text)
		}
		if ok {
			n.IDs = append(n.IDs, t)
		}
	}
	n.Strict = len(named) == 1
	if n.None = len(n.IDs) == 0 && (len(named) > 0 || p.nothing("dlqIds")) || p.nothing(filterNames(false)...); n.None {
		return n, nil
	}
	if n.Filter, err = p.deadFilter(); err != nil {
		return n, err
	}
	count, err := p.number("count")
	if err != nil {
		return n, err
	}
	n.Limit = int(min(count, workflow.MaxRevived))
	n.After, err = messages.ReadCursor("cursor", p.get("cursor"))
	return n, err
}

// revive answers resume and restart, of one dead letter or of many.
func (re *request) revive(restart bool, id string) error {
	n := workflow.Revival{Restart: restart}
	var err error
	if n.DeadSelection, err = re.readDeadSelection(id); err != nil {
		return err
	}
	h := re.Parser.ReadHeaders(re.r.Header)
	if n.Options, err = h.OwnOptions(); err != nil {
		return err
	}
	own, err := re.RunOptions(re.r.Context(), h, &n.Options)
	if err != nil {
		return err
	}
	n.Deployment = own.Deployment
	n.Options.Given &^= queue.GivenHeader
	re.clean(&n.Options, ofCaller)
	if id != "" && restart {
		n.RunID = h.Field("workflow-runid")
	}
	out, err := propose(re, fsm.Revive, n)
	if err != nil {
		return err
	}
	all := make([]run, len(out.Runs))
	for i, r := range out.Runs {
		all[i] = run{r.ID, r.Created}
	}
	if id != "" {
		re.answer(http.StatusOK, all[0])
		return nil
	}
	re.answerPart("workflowRuns", all, out.Cursor, out.More)
	return nil
}

// answerPart answers what was done, with a cursor if more is left to do.
func (re *request) answerPart(name string, done any, cursor queue.Stamp, more bool) {
	answer := map[string]any{name: done}
	if more {
		answer["cursor"] = cursor.String()
	}
	re.answer(http.StatusOK, answer)
}

// deleteDead answers DELETE of one dead letter or of many.
func (re *request) deleteDead(id string) error {
	n, err := re.readDeadSelection(id)
	if err != nil {
		return err
	}
	out, err := propose(re, fsm.DeleteDeadRuns, n)
	if err != nil {
		return err
	}
	if id != "" {
		re.w.WriteHeader(http.StatusOK)
		return nil
	}
	re.answerPart("deleted", out.Count, out.Cursor, out.More)
	return nil
}

// callback calls a failure callback once more (POST), or cancels it (DELETE). The documented success of a cancellation is 302.
func (re *request) callback(id string) error {
	n := workflow.CallbackChange{Cancel: re.r.Method == http.MethodDelete}
	var ok bool
	if n.Dead, ok = queue.ParseStamp(id); !ok {
		return noDead(id)
	}
	out, err := propose(re, fsm.ChangeCallback, n)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if n.Cancel {
		status = http.StatusFound
	}
	re.answer(status, run{out.ID, out.Created})
	return nil
}
