package workflows

import (
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

func noRun(id string) *messages.Error { return messages.NotFound("workflow run", id) }

// fetch answers GET /v2/workflows/runs/{id}: the whole log, for an endpoint whose delivery was too large for a body. An SDK
// that gets 404 gives up the run, so 404 is answered only when the run is over.
func (re *request) fetch(id string) error {
	var text []byte
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
		if r := v.Workflows().Find(id, 0); r != nil && (r.State == workflow.Started || r.State == workflow.Failed) {
			text = v.Workflows().Elements(r.No)
		}
	})
	if err != nil {
		return err
	}
	if text == nil {
		return noRun(id)
	}
	re.w.Header()["Content-Type"] = []string{"application/json"}
	re.w.WriteHeader(http.StatusOK)
	re.w.Write(text) // the server compresses it: an SDK fetches with every delivery, and elements are much alike
	return nil
}
