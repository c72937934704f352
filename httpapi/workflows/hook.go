package workflows

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"trireme/fsm"
	"trireme/fsm/flow"
	"trireme/httpapi/messages"
)

// hookEvent is the form of the event ids that webhooks reach (workflows.md 9.5, decisions 33).
var hookEvent = regexp.MustCompile(`^evt_[A-Za-z0-9_-]{15}$`)

// errNoHook is every miss alike, so that nothing can be learnt from it.
var errNoHook = &messages.Error{Status: http.StatusNotFound, Text: "webhook not found"}

// hookCall is what a wait for a webhook gives to the workflow.
type hookCall struct {
	Method string              `json:"method"`
	Header map[string][]string `json:"header"`
	Body   []byte              `json:"body"`
	Proto  string              `json:"proto"`
	Host   string              `json:"host"`
	URL    string              `json:"url"`
}

// Hook answers /v2/workflows/hooks/{userId}/{runId}/{eventId}: a third party calls a webhook, by any method and without a
// token. The run must have made exactly this webhook.
func (a *API) Hook(w http.ResponseWriter, r *http.Request, rest, query string) error {
	q := &request{API: a, w: w, r: r, segments: strings.Split(rest, "/"), query: query}
	user, run, event := q.plain(0), q.plain(1), q.plain(2)
	if len(q.segments) != 3 || !hookEvent.MatchString(event) {
		return errNoHook
	}
	if !hooks.admit(messages.CallerIP(r)) {
		return &messages.Error{Status: http.StatusTooManyRequests, Text: "too many calls of webhooks from this address"}
	}
	body, err := q.body()
	if err != nil {
		return err
	}
	made := false
	if _, err := q.Engine.Read(r.Context(), fsm.Reading{}, func(v *fsm.View) { made = madeHook(v.Flows(), user, run, event) }); err != nil {
		return err
	}
	if !made {
		return errNoHook
	}
	call := hookCall{Method: r.Method, Header: r.Header, Body: body, Proto: "http", Host: r.Host, URL: hookTarget(r)}
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		call.Proto = "https"
	}
	text, err := json.Marshal(call)
	if err != nil {
		return err
	}
	out, err := propose(q, fsm.NotifyEvent, flow.Notification{EventID: event, RunID: run, Hook: true, Body: text})
	if err != nil {
		return err
	}
	q.answer(http.StatusOK, map[string]int{"notified": len(out.Woken)})
	return nil
}

// madeHook tells whether an active run has made a webhook with that user and event.
func madeHook(s *flow.Store, user, run, event string) (made bool) {
	r := s.Find(run, 0)
	if r == nil || !r.Active() {
		return false
	}
	want := "/v2/workflows/hooks/" + user + "/" + run + "/" + event
	s.Log(r.No, func(_ uint32, e *flow.Entry) bool {
		made = e.Type == flow.CreateWebhook && e.Kind == flow.StepEntry && strings.Contains(string(e.Body), want)
		return !made
	})
	return made
}

// hookURL is the address of a webhook that a run has made, empty if it has made none of that event.
func hookURL(s *flow.Store, r *flow.Run, event string) (found string) {
	s.Log(r.No, func(_ uint32, e *flow.Entry) bool {
		if e.Type != flow.CreateWebhook || e.Kind != flow.StepEntry {
			return true
		}
		var in stepBody
		var made struct {
			URL   string `json:"webhookUrl"`
			Event string `json:"eventId"`
		}
		if json.Unmarshal(e.Body, &in) == nil && json.Unmarshal([]byte(rawText(in.Out)), &made) == nil && made.Event == event {
			found = made.URL
		}
		return found == ""
	})
	return found
}

// hookTarget is the path and the query that were called, also of a target in absolute form.
func hookTarget(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}
