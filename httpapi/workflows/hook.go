package workflows

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/httpfield"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// hookEvent is the form of the event ids that webhooks reach.
var hookEvent = regexp.MustCompile(`^evt_[A-Za-z0-9_-]{15}$`)

// errNoHook is the same for every miss, so that nothing can be learnt from it.
var errNoHook = &messages.Error{Status: http.StatusNotFound, Text: "webhook not found"}

// hookCall is the result of a wait for a webhook, as the workflow gets it.
type hookCall struct {
	Method string              `json:"method"`
	Header map[string][]string `json:"header"`
	Body   []byte              `json:"body"`
	Proto  string              `json:"proto"`
	Host   string              `json:"host"`
	URL    string              `json:"url"`
}

// hook answers /v2/workflows/hooks/{userId}/{runId}/{eventId}: a third party calls a webhook, by any method and without a
// token. The run must have made exactly this webhook.
func (re *request) hook() error {
	r, user, run, event := re.r, re.Plain(2), re.Plain(3), re.Plain(4)
	if !strings.HasPrefix(re.Path, "v2/workflows/hooks/") || strings.Count(re.Path, "/") != 5 || !hookEvent.MatchString(event) {
		return errNoHook
	}
	if !hookLimiter.admit(messages.CallerIP(r)) {
		return &messages.Error{Status: http.StatusTooManyRequests, Text: "too many calls of webhooks from this address"}
	}
	body, err := re.body()
	if err != nil {
		return err
	}
	var at messages.Access
	made := false
	if _, err := re.Engine.Read(r.Context(), fsm.Reading{}, func(v *fsm.View) { at, made = hookIn(v, re.DB, user, run, event) }); err != nil {
		return err
	}
	if !made {
		return errNoHook
	}
	re.API = &API{re.API.API.In(at)}
	call := hookCall{Method: r.Method, Header: httpfield.EndToEnd(r.Header), Body: body, Proto: "http", Host: r.Host, URL: hookTarget(r)}
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		call.Proto = "https"
	}
	text, err := json.Marshal(call)
	if err != nil {
		return err
	}
	out, err := propose(re, fsm.NotifyEvent, workflow.Notification{EventID: event, RunID: run, Hook: true, Body: text})
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, map[string]int{"notified": len(out.Woken)})
	return nil
}

// hookIn finds the database in which a run has made a webhook. Its address is a secret, and names no database unless the
// client's base URL did, so it is looked up in all of them; only the database of the run is told of the call.
func hookIn(v *fsm.View, db, user, run, event string) (at messages.Access, made bool) {
	if db != "" {
		at = messages.Access{DB: db, Number: v.Database(db)}
		return at, madeHook(v.WorkflowsOf(db), user, run, event)
	}
	for _, name := range v.DatabasesWithRuns() {
		if name == fsm.DefaultDB {
			name = ""
		}
		if madeHook(v.WorkflowsOf(name), user, run, event) {
			return messages.Access{DB: name, Number: v.Database(name)}, true
		}
	}
	return at, false
}

// madeHook reports whether an active run has made a webhook with that user and event.
func madeHook(s *workflow.Store, user, run, event string) (made bool) {
	r := s.Find(run, 0)
	if r == nil || !r.Active() {
		return false
	}
	want := "/v2/workflows/hooks/" + user + "/" + run + "/" + event
	s.Log(r.No, func(_ uint32, e *workflow.Entry) bool {
		made = e.Type == workflow.CreateWebhook && e.Kind == workflow.StepEntry && strings.Contains(string(e.Body.Bytes()), want)
		return !made
	})
	return made
}

// hookURL returns the address of a webhook that a run has made, empty if it has made none of that event.
func hookURL(s *workflow.Store, r *workflow.Run, event string) (found string) {
	s.Log(r.No, func(_ uint32, e *workflow.Entry) bool {
		if e.Type != workflow.CreateWebhook || e.Kind != workflow.StepEntry {
			return true
		}
		var in stepBody
		var made struct {
			URL   string `json:"webhookUrl"`
			Event string `json:"eventId"`
		}
		if json.Unmarshal(e.Body.Bytes(), &in) == nil && json.Unmarshal([]byte(rawText(in.Out)), &made) == nil && made.Event == event {
			found = made.URL
		}
		return found == ""
	})
	return found
}

// hookTarget returns the path and the query that were called, also of a target in absolute form.
func hookTarget(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// Webhooks need no token, so the calls of one address in a second are bounded.
const (
	hooksPerSecond = 100
	hookAddresses  = 10_000
)

// bucket counts the calls of one address in the running second.
type bucket struct {
	second int64
	calls  int
}

// limiter counts calls by address. It forgets all addresses when it knows too many.
type limiter struct {
	mu     sync.Mutex
	by     map[string]bucket
	second func() int64
}

var hookLimiter = &limiter{by: map[string]bucket{}, second: func() int64 { return time.Now().Unix() }}

// admit counts a call and reports whether it may be answered.
func (l *limiter) admit(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := l.second(), l.by[address]
	if b.second != now {
		b = bucket{second: now}
	}
	b.calls++
	if len(l.by) >= hookAddresses {
		clear(l.by)
	}
	l.by[address] = b
	return b.calls <= hooksPerSecond
}
