package workflows

import (
	"net/http"

	"trireme/fsm"
	"trireme/fsm/flow"
	"trireme/httpapi/messages"
)

func noRun(id string) *messages.Error {
	return &messages.Error{Status: http.StatusNotFound, Text: "workflow run " + id + " not found"}
}

// fetch answers GET /v2/workflows/runs/{id}: the whole log, for an endpoint whose delivery was too large for a body. An SDK
// that is told 404 gives the run up, so that is the answer only when the run is over.
func (q *request) fetch(id string) error {
	var text []byte
	_, err := q.Engine.Read(q.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
		if r := v.Flows().Find(id, 0); r != nil && (r.State == flow.Started || r.State == flow.Failed) {
			text = v.Flows().Elements(r.No)
		}
	})
	if err != nil {
		return err
	}
	if text == nil {
		return noRun(id)
	}
	q.w.Header()["Content-Type"] = []string{"application/json"}
	q.w.WriteHeader(http.StatusOK)
	q.w.Write(text)
	return nil
}
