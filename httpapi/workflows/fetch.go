package workflows

import (
	"compress/gzip"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

func noRun(id string) *messages.Error {
	return &messages.Error{Status: http.StatusNotFound, Text: "workflow run " + id + " not found"}
}

// fetch answers GET /v2/workflows/runs/{id}: the whole log, for an endpoint whose delivery was too large for a body. An SDK
// that is told 404 gives the run up, so that is the answer only when the run is over.
func (q *request) fetch(id string) error {
	var text []byte
	_, err := q.Engine.Read(q.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
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
	h := q.w.Header()
	h["Content-Type"], h["Vary"] = []string{"application/json"}, []string{"Accept-Encoding"}
	if len(text) < packedLog || !takesGzip(q.r.Header) {
		q.w.WriteHeader(http.StatusOK)
		q.w.Write(text)
		return nil
	}
	h["Content-Encoding"] = []string{"gzip"}
	q.w.WriteHeader(http.StatusOK)
	z, _ := gzip.NewWriterLevel(q.w, gzip.BestSpeed) // the level is one
	z.Write(text)
	z.Close()
	return nil
}

// packedLog is the length from which a log is sent packed. An SDK that fetches does so with
// every delivery, and the elements of a log are much alike.
const packedLog = 16 << 10

// takesGzip reports whether a client unpacks answers.
func takesGzip(h http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(h["Accept-Encoding"], ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") && !strings.HasSuffix(strings.ReplaceAll(weight, " ", ""), "q=0") {
			return true
		}
	}
	return false
}
