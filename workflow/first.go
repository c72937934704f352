package workflow

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// newRunID draws the id of a run.
func newRunID() string { return "wfr_" + strings.ToLower(rand.Text()) }

// connectionHeaders belong to the request that has them and are not forwarded.
var connectionHeaders = map[string]bool{
	"Accept-Encoding": true, "Connection": true, "Content-Length": true, "Content-Type": true, "Expect": true, "Host": true, "Keep-Alive": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "User-Agent": true, "Authorization": true, "Cookie": true,
}

// first starts a run for a request that belongs to none, or that asks whether this is a workflow at all: then it has the run's id and the
// list with its payload.
func (h *handler) first(r *http.Request, w Definition, body []byte) (any, error) {
	url, run := h.urlOf(r), r.Header.Get(header+"Runid")
	unknown := r.Header.Get(header+"Unknown-Sdk") != "" && run != ""
	if unknown {
		var list []element
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0].Body
		}
	} else {
		run = newRunID()
	}
	headers := triggerHeaders(url, run)
	o := w.defaults()
	o.Header = http.Header{}
	for name, values := range forwarded(r.Header) {
		if !connectionHeaders[name] {
			o.Header[name] = values
		}
	}
	maps.Copy(o.Header, w.defaults().Header)
	if kind := r.Header.Get("Content-Type"); kind != "" {
		o.Header["Content-Type"] = []string{kind}
	}
	if labels := r.Header.Get("Upstash-Label"); labels != "" {
		o.Labels = strings.Split(labels, ",")
	}
	if err := o.set(headers); err != nil {
		return nil, err
	}
	if unknown {
		headers["upstash-workflow-trigger-by-sdk"] = "true"
	}
	answer := map[string]string{"workflowRunId": run, "finishCondition": "success"}
	return answer, h.batch(r.Context(), item{url, headers, string(body)})
}
