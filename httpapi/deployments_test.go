package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// application is an application with several deployments, which are servers of their own. Its workflow sleeps for an hour, makes a step
// and ends. Each deployment takes the URL by which it is called for its own, as SDKs do.
type application struct {
	*mail
	mu     sync.Mutex
	sdk    *mail    // asks for the deployments, below mu
	visits []string // deployment, what its header says, and how much of the log was delivered
	broken map[string]bool
}

func startApplication(t *testing.T) *application {
	nodes := httpapitest.ServeDelivering(t, 3, "", nil)
	client := func() *mail { return &mail{T: t, nodes: nodes, token: httpapitest.MessagesToken} }
	return &application{mail: client(), sdk: client(), broken: map[string]bool{}}
}

// serve starts a deployment and returns its URL.
func (a *application) serve(name string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.visit(name, w, r) }))
	a.Cleanup(s.Close)
	return s.URL
}

func (a *application) visit(name string, w http.ResponseWriter, r *http.Request) {
	var log []struct{ MessageID string }
	if err := json.NewDecoder(r.Body).Decode(&log); err != nil {
		a.Error(err)
	}
	run := r.Header.Get("Upstash-Workflow-Runid")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.visits = append(a.visits, fmt.Sprintf("%s %s %s %d", name, r.Header.Get("Upstash-Workflow-Deployment"), r.Header.Get("Svc-Workflow-Deployment"), len(log)))
	w.Header().Set("Upstash-Workflow-Sdk", "v1.3.2")
	w.Header().Set("Upstash-Workflow-Sdk-Version", "1")
	if a.broken[name] {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	own := "http://" + r.Host + r.URL.RequestURI()
	switch len(log) {
	case 1:
		a.sdk.step(run, own, `{"stepId":1,"stepName":"pause","stepType":"SleepFor","sleepFor":3600,"concurrent":1}`, "upstash-workflow-calltype", "step")
	case 2:
		a.sdk.step(run, own, `{"stepId":2,"stepName":"work","stepType":"Run","out":"\"1\"","concurrent":1}`, "upstash-workflow-calltype", "step", "upstash-delay", "0s")
	default:
		a.sdk.want(200, "", "DELETE", "/v2/workflows/runs/"+run+"?cancel=false", `"done"`)
	}
}

// seen waits until the deployments were visited so, and forgets it.
func (a *application) seen(want ...string) {
	a.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		a.mu.Lock()
		got := slices.Clone(a.visits)
		if slices.Equal(got, want) {
			a.visits = nil
		}
		a.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			a.Fatalf("visited %q, want %q", got, want)
		}
	}
}

// state waits for the state of a run, and returns it as logs show it.
func (a *application) state(run, want string) map[string]any {
	a.Helper()
	return a.await("/v2/workflows/logs?workflowRunId="+run, func(got map[string]any) bool { return listOf(got, "runs")[0]["workflowState"] == want })
}

// await asks until the answer is as wanted.
func (a *application) await(path string, good func(map[string]any) bool) map[string]any {
	a.Helper()
	return (&office{mail: a.mail}).until(path, good)
}

// wake ends the sleep of a run.
func (a *application) wake(run string) {
	a.Helper()
	x := a.await("/v2/workflows/runs/"+run+"/explain", func(got map[string]any) bool { return got["reason"] == "sleep" })
	delivery, _ := x["delivery"].(map[string]any)
	a.want(200, "", "POST", fmt.Sprintf("/v2/messages/%s/retry", delivery["messageId"]), "")
}

// TestDeployments follows runs that name their deployment: one is moved by hand while it sleeps, one by a rule when its deployment breaks.
func TestDeployments(t *testing.T) {
	a := startApplication(t)
	home, v1, v2 := a.serve("home"), a.serve("v1"), a.serve("v2")
	const base = "/v2/workflows/deployments"
	trigger := func(header ...string) string {
		t.Helper()
		id, _ := a.object(a.has(200, "", "POST", "/v2/trigger/"+home+"/wf?x=1", "", header...))["workflowRunId"].(string)
		return id
	}
	a.has(404, "deployment v1 not found", "POST", "/v2/trigger/"+home+"/wf", "", "Svc-Deployment", "v1")
	a.has(400, "invalid ", "POST", "/v2/trigger/"+home+"/wf", "", "Svc-Deployment", "v 1")
	a.has(200, `"activeRuns":0`, "PUT", base+"/v1", fmt.Sprintf(`{"url":%q}`, v1))
	a.has(200, fmt.Sprintf(`"url":%q`, v2), "PUT", base+"/v2", fmt.Sprintf(`{"url":%q}`, v2+"/"))

	free, pinned := trigger(), ""
	a.seen("home   1")
	pinned = trigger("Svc-Deployment", "v1")
	a.seen("v1 v1 v1 1")
	a.wake(free)
	a.seen("home   2", "home   3")
	a.state(free, "RUN_SUCCESS")
	if x := a.object(a.want(200, "", "GET", "/v2/workflows/runs/"+pinned+"/explain", "")); x["deployment"] != "v1" || !strings.Contains(x["curl"].(string), v1+"/wf?x=1") {
		t.Errorf("explained as %v", x)
	}
	a.has(412, "active runs are on deployment v1: 1, the oldest of them "+pinned, "DELETE", base+"/v1", "")
	x := a.object(a.want(200, "", "GET", base+"/v1/explain", ""))
	if runs := listOf(x, "runs"); len(runs) != 1 || runs[0]["workflowRunId"] != pinned || runs[0]["reason"] != "sleep" || !strings.Contains(runs[0]["text"].(string), "sleeps until") || x["reason"] != "runs" {
		t.Errorf("explained as %v", x)
	}
	if oldest, _ := a.object(a.want(200, "", "GET", base+"/v1", ""))["oldestRun"].(map[string]any); oldest["workflowRunId"] != pinned {
		t.Errorf("the oldest run is %v", oldest)
	}

	a.want(200, `{"moved":0}`, "POST", base+"/v1/move", `{"to":"v2","label":"none"}`)
	a.has(400, "unknown filter", "POST", base+"/v1/move", `{"to":"v2","labell":"none"}`)
	a.has(400, "invalid to", "POST", base+"/v1/move", `{}`)
	a.has(404, "deployment v9 not found", "POST", "/v2/workflows/runs/"+pinned+"/move", `{"to":"v9"}`)
	a.has(400, "is over", "POST", "/v2/workflows/runs/"+free+"/move", `{"to":"v1"}`)
	a.want(200, `{"moved":1}`, "POST", base+"/v1/move", `{"to":"v2"}`)
	a.want(200, "", "DELETE", base+"/v1", "")
	a.has(200, `"runs":[]`, "GET", base+"/v2/explain?cursor=zzzz", "")
	a.wake(pinned)
	a.seen("v2 v2 v2 2", "v2 v2 v2 3")
	got := listOf(a.state(pinned, "RUN_SUCCESS"), "runs")[0]
	if got["deployment"] != "v2" || got["workflowUrl"] != home+"/wf?x=1" {
		t.Errorf("the run is shown as %v", got)
	}
	if list := listOf(a.object(a.want(200, "", "GET", "/v2/workflows/logs?deployment=v2", "")), "runs"); len(list) != 1 || list[0]["workflowRunId"] != pinned {
		t.Errorf("of v2 there are %v", list)
	}

	a.want(200, "", "PUT", base+"/v1", fmt.Sprintf(`{"url":%q}`, v1))
	a.mu.Lock()
	a.broken["v1"] = true
	a.mu.Unlock()
	failing := trigger("Svc-Deployment", "v1", "Svc-Retry-Delay", "3600000")
	a.seen("v1 v1 v1 1")
	a.await("/v2/workflows/runs/"+failing+"/explain", func(got map[string]any) bool { return got["reason"] == "retrying" })
	a.has(400, "in a circle", "PUT", base+"/v1", `{"moveTo":"v1"}`)
	a.has(404, "deployment v9 not found", "PUT", base+"/v1", `{"moveTo":"v9"}`)
	a.has(200, `"when":"unstarted"`, "PUT", base+"/v1", `{"moveTo":"v2"}`)
	a.has(412, "rule of deployment v1", "DELETE", base+"/v2", "")
	delivery, _ := a.object(a.want(200, "", "GET", "/v2/workflows/runs/"+failing+"/explain", ""))["delivery"].(map[string]any)
	a.want(200, "", "POST", fmt.Sprintf("/v2/messages/%s/retry", delivery["messageId"]), "") // goes to v1 once more, of which the failure moves it
	a.seen("v1 v1 v1 1")
	a.await("/v2/workflows/runs/"+failing+"/explain", func(got map[string]any) bool { return got["deployment"] == "v2" && got["attempts"] == 2.0 })
	a.want(200, "", "POST", fmt.Sprintf("/v2/messages/%s/retry", delivery["messageId"]), "")
	a.seen("v2 v2 v2 1")
	a.has(200, `"deployment":""`, "POST", "/v2/workflows/runs/"+failing+"/move", `{"to":""}`)
	a.wake(failing)
	a.seen("home   2", "home   3")

	var names []string
	for cursor := ""; ; {
		_, text := a.do("GET", base+"?count=1"+cursor, "")
		var page []map[string]any
		if err := json.Unmarshal([]byte(text), &page); err != nil || len(page) != 1 {
			t.Fatal(text, err)
		}
		names = append(names, page[0]["name"].(string))
		if len(names) == 2 {
			break
		}
		cursor = "&cursor=djE" // v1
	}
	if !slices.Equal(names, []string{"v1", "v2"}) {
		t.Errorf("listed %q", names)
	}
}
