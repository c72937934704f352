package workflows

import (
	"errors"
	"net/http"

	"trireme/fsm"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
)

// end answers DELETE /v2/workflows/runs/{id}: with cancel=false its endpoint ends the run with success, and the body is
// its result; otherwise it is cancelled.
func (q *request) end(id string) error {
	if q.parameters().Get("cancel") != "false" {
		out, err := propose(q, fsm.CancelRuns, flow.Cancellation{Filter: flow.Filter{RunIDs: []string{id}}, Strict: true})
		if err != nil {
			return err
		}
		q.answer(http.StatusOK, map[string]int{"cancelled": out.Count})
		return nil
	}
	body, err := q.body()
	if err != nil {
		return err
	}
	out, err := propose(q, fsm.EndRun, flow.Ending{RunID: id, Result: body, HasResult: len(body) > 0})
	if errors.Is(err, queue.ErrNotFound) { // an SDK throws on 404, and would never be done
		out, err = flow.RunRef{ID: id, State: flow.Succeeded}, nil
	}
	if err != nil {
		return err
	}
	q.answer(http.StatusOK, map[string]string{"workflowRunId": out.ID, "workflowState": out.State.String()})
	return nil
}
