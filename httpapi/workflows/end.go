package workflows

import (
	"errors"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// end answers DELETE /v2/workflows/runs/{id}: with cancel=false its endpoint ends the run with success, and the body is
// its result; otherwise it is cancelled.
func (re *request) end(id string) error {
	if re.parameters().Get("cancel") != "false" {
		out, err := propose(re, fsm.CancelRuns, workflow.Cancellation{Filter: workflow.Filter{RunIDs: []string{id}}, Strict: true})
		if err != nil {
			return err
		}
		re.answer(http.StatusOK, map[string]int{"cancelled": out.Count})
		return nil
	}
	body, err := re.body()
	if err != nil {
		return err
	}
	out, err := propose(re, fsm.EndRun, workflow.Ending{RunID: id, Result: body, HasResult: len(body) > 0})
	if errors.Is(err, queue.ErrNotFound) { // an SDK throws on 404, and would never be done
		out, err = workflow.RunRef{ID: id, State: workflow.Succeeded}, nil
	}
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, map[string]string{"workflowRunId": out.ID, "workflowState": out.State.String()})
	return nil
}
