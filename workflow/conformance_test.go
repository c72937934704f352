package workflow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/workflow"
)

// absent are workflows and checks of the published SDK's test that this package has not, with the reason.
var absent = map[string]string{
	"provider":         "context.api is a helper of the SDK for providers' addresses; here it is a Call",
	"a provider's API": "the check of that workflow",
}

// names returns what a pattern finds in a file of the published SDK's test, without what is absent.
func names(t *testing.T, file, pattern string) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../clients/workflow/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		if absent[m[1]] == "" {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return all
}

// TestNothingIsForgotten: each workflow and each check of the test of the published SDK is here, or says why it is not.
func TestNothingIsForgotten(t *testing.T) {
	var got []string
	for _, w := range (&world{}).workflows() {
		got = append(got, w.Name())
	}
	slices.Sort(got)
	if want := names(t, "workflows.mjs", `(?m)^  all\.(\w+) = define\(`); len(want) < 25 || !slices.Equal(got, want) {
		t.Errorf("workflows %v, want %v", got, want)
	}
	want := names(t, "test.mjs", `(?m)^  test\("([^"]+)"`)
	for _, name := range want {
		if checks[name] == nil {
			t.Errorf("no check %q", name)
		}
	}
	if len(want) < 40 {
		t.Errorf("%d checks", len(want))
	}
}

// checks are those of clients/workflow/test.mjs, by their names there, and some more.
var checks = map[string]func(*world, *testing.T){
	"outputs of every kind": (*world).testSteps,
	"no payload, no result": (*world).testQuitter,
	"sleeps":                (*world).testSleeps,
	"calls":                 (*world).testCalls,
	"a call of a workflow starts another run": (*world).testCaller,
	"parallel steps of every kind":            (*world).testParallel,
	"a block of n costs at most 1 + 2n calls": (*world).testWide,
	"blocks in blocks":                        (*world).testNested,
	"a wait that is notified":                 (*world).testWait,
	"a wait that times out":                   (*world).testTimeout,
	"one run notifies another":                (*world).testNotifier,
	"notifications that come before the wait": (*world).testLookback,
	"webhooks":                                              (*world).testWebhook,
	"invoke":                                                (*world).testInvoke,
	"invokes in invokes, in parallel":                       (*world).testGrandparent,
	"an invoked run that fails":                             (*world).testFailedChild,
	"an invoked run that is cancelled":                      (*world).testCanceledChild,
	"retries":                                               (*world).testRetries,
	"a retry that the app puts off":                         (*world).testLater,
	"a failure with a failure function":                     (*world).testFailing,
	"a failure that no retry mends":                         (*world).testFinal,
	"a failure URL is told":                                 (*world).testFailureURL,
	"a failure function that fails is called again":         (*world).testFailureAgain,
	"an app that refuses":                                   (*world).testRefusal,
	"a destination that is no workflow":                     (*world).testNoWorkflow,
	"resume runs only what is missing":                      (*world).testResume,
	"resume of a parallel block":                            (*world).testResumeBlock,
	"restart runs everything again":                         (*world).testRestart,
	"bulk actions choose by label":                          (*world).testBulk,
	"60 steps":                                              (*world).testLong,
	"large outputs are fetched":                             (*world).testLarge,
	"a large answer of a call is whole":                     (*world).testHuge,
	"a large error reaches the failure function":            (*world).testHugeError,
	"a large failure of a called URL does not fail the run": (*world).testHugeFailure,
	"cancel": (*world).testCancel,
	"a run that waits for its start is cancelled":             (*world).testCancelEarly,
	"the same run id starts one run":                          (*world).testSameID,
	"a plain first call starts a run":                         (*world).testFirstCall,
	"the trigger of the REST API":                             (*world).testREST,
	"each delivery of a run carries the trace of its trigger": (*world).testTraces,
	"labels, flow control and pages of logs":                  (*world).testLimited,
	"a stuck run explains itself":                             (*world).testExplain,
	"unsigned requests":                                       (*world).testUnsigned,
}

// TestConformance holds the package to what clients/workflow/test.mjs holds the published SDK to, against three nodes.
func TestConformance(t *testing.T) {
	w := newWorld(t)
	for name, test := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(w, t)
		})
	}
}

func (w *world) testSteps(t *testing.T) {
	id := w.start(t, "steps", object{"a": "é"}, workflow.RunOptions{Header: http.Header{"X-User": {"ada"}}})
	var got object
	if err := json.Unmarshal([]byte(w.result(t, id)), &got); err != nil {
		t.Fatal(err)
	}
	is(t, "the result", got, object{
		"nothing": true, "text": "Grüße <&> \u2028\u2029 \"日本\" \\", "object": object{"input": object{"a": "é"}, "deep": []any{1, nil, object{"a": ""}}}, "number": 42, "nil": nil, "user": "ada",
	})
	w.once(t, id, "nothing", "text", "object", "nil")
	is(t, "messages", len(w.messagesOf(id)), 6)
	run := w.log(t, id)
	var states []string
	for _, g := range run.Groups {
		for _, s := range g.Steps {
			states = append(states, fmt.Sprint(s.Type, ":", s.Name, ":", s.State, ":", s.ID))
		}
	}
	want := []string{"Initial:init:STEP_SUCCESS:0"}
	for i, name := range []string{"nothing", "text", "object", "number", "nil"} {
		want = append(want, fmt.Sprint("Run:", name, ":STEP_SUCCESS:", i+1))
	}
	is(t, "the log", states, want)
	first := run.Groups[0].Steps[0]
	is(t, "the payload", *first.Out, `{"a":"é"}`)
	is(t, "the header", first.Headers["X-User"], []string{"ada"})
	if run.CompletedAt < run.CreatedAt {
		t.Errorf("from %d to %d", run.CreatedAt, run.CompletedAt)
	}
}

func (w *world) testQuitter(t *testing.T) {
	id := w.start(t, "quitter", nil, workflow.RunOptions{})
	w.ended(t, id, workflow.RunCanceled)
	w.once(t, id, "before")
	is(t, "steps after the end", w.times(id, "after"), 0)
}

func (w *world) testSleeps(t *testing.T) {
	id := w.start(t, "sleeps", nil, workflow.RunOptions{})
	var at []int64
	if err := json.Unmarshal([]byte(w.result(t, id)), &at); err != nil || len(at) != 3 {
		t.Fatal(at, err)
	}
	if at[1]-at[0] < 1000 || at[2]-at[0] < 2500 {
		t.Errorf("a sleep of a second took %d ms, one until 3 seconds %d", at[1]-at[0], at[2]-at[0])
	}
	var sleeps []string
	for _, g := range w.log(t, id).Groups {
		if s := g.Steps[0]; strings.HasPrefix(s.Type, "Sleep") {
			sleeps = append(sleeps, fmt.Sprint(s.Type, s.SleepFor))
			if s.Name == "date" && (s.SleepUntil-at[0] < 3000 || s.SleepUntil-at[0] > 4000) {
				t.Errorf("it sleeps until %d of %d", s.SleepUntil, at[0])
			}
		}
	}
	is(t, "sleeps", sleeps, []string{"SleepFor1000", "SleepFor1000", "SleepUntil0", "SleepUntil0"})
}

func (w *world) testCalls(t *testing.T) {
	const id = "calls-of-a-test"
	w.setFault(id, 2)
	w.start(t, "calls", nil, workflow.RunOptions{RunID: id})
	is(t, "the result", json.RawMessage(w.result(t, id)), object{
		"post": echo{"POST", "yes", `{"n":1}`, "/out/echo/post?x=1"}, "get": "GET", "refused": []any{true, "status 418"}, "flaky": 200,
		"text": "Grüße <&> \u2028 日本", "bytes": []byte{0xff, 0, 0xfe}, "nobody": true,
	})
	w.mu.Lock()
	tries, first := w.visits["/out/flaky/"+id], w.visits["/out/echo/post"][0]
	w.mu.Unlock()
	for i := range 3 {
		is(t, "a try", tries[i].header.Get("Upstash-Retried"), fmt.Sprint(i))
	}
	for name := range first.header {
		if strings.Contains(name, "Workflow") {
			t.Errorf("the third party gets %s", name)
		}
	}
	var steps []string
	for _, g := range w.log(t, id).Groups {
		if s := g.Steps[0]; s.Type == "Call" && s.Name != "nobody" {
			steps = append(steps, fmt.Sprint(s.Name, s.CallMethod, s.CallStatus))
		}
		if s := g.Steps[0]; s.Name == "post" {
			is(t, "the request", []string{s.CallURL, s.CallBody}, []string{w.base + "/out/echo/post?x=1", `{"n":1}`})
		}
	}
	is(t, "steps", steps, []string{"postPOST200", "getGET200", "refusedPOST418", "flakyPUT200", "textGET200", "bytesGET200"})
}

func (w *world) testCaller(t *testing.T) {
	var other string
	if err := json.Unmarshal([]byte(w.result(t, w.start(t, "caller", nil, workflow.RunOptions{}))), &other); err != nil {
		t.Fatal(err)
	}
	is(t, "the called workflow", w.result(t, other), `{"Twice":8,"Parent":""}`)
}

func (w *world) testParallel(t *testing.T) {
	id := w.start(t, "parallel", nil, workflow.RunOptions{})
	is(t, "the result", json.RawMessage(w.result(t, id)), object{"a": "A", "status": 200, "timeout": true, "told": 0, "after": "after"})
	w.once(t, id, "a", "after")
	run := w.log(t, id)
	is(t, "groups", []string{run.Groups[0].Type, run.Groups[1].Type, run.Groups[2].Type}, []string{"sequential", "parallel", "sequential"})
	var block []string
	for _, s := range run.Groups[1].Steps {
		block = append(block, fmt.Sprint(s.Name, " ", s.State, s.Concurrent))
	}
	is(t, "the block", block, []string{"a STEP_SUCCESS5", "nap STEP_SUCCESS5", "call STEP_SUCCESS5", "wait STEP_SUCCESS5", "notify STEP_SUCCESS5"})
}

// testWide: one call for the start, one for each plan and each result. Those of results that the run no longer needs are not made when it has
// ended meanwhile.
func (w *world) testWide(t *testing.T) {
	id := w.start(t, "wide", nil, workflow.RunOptions{})
	is(t, "the result", w.result(t, id), "190")
	for i := range 20 {
		w.once(t, id, fmt.Sprint("branch ", i))
	}
	if n := len(w.messagesOf(id)); n <= 21 || n > 41 {
		t.Errorf("%d calls", n)
	}
}

func (w *world) testNested(t *testing.T) {
	id := w.start(t, "nested", nil, workflow.RunOptions{})
	is(t, "the result", w.result(t, id), `"lx+ly|rx+ry"`)
	w.once(t, id, "l1", "l2", "l3", "r1", "r2", "r3", "join")
}

func (w *world) testWait(t *testing.T) {
	ids := []string{w.start(t, "waiter", waitInput{Event: "go"}, workflow.RunOptions{}), w.start(t, "waiter", waitInput{Event: "go"}, workflow.RunOptions{})}
	is(t, "the waiter", w.waiting(t, "go", 2)[0].URL, w.flow("waiter"))
	groups := w.log(t, ids[0]).Groups
	last := groups[len(groups)-1].Steps
	is(t, "the last step", []any{len(last), last[0].Type, last[0].WaitEventID}, []any{1, "Wait", "go"})
	woken, err := w.client.Notify(t.Context(), "go", object{"hello": "Wörld"})
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, n := range woken {
		runs = append(runs, n.RunID)
	}
	slices.Sort(runs)
	slices.Sort(ids)
	is(t, "woken", runs, ids)
	for _, id := range ids {
		is(t, "the result", json.RawMessage(w.result(t, id)), object{"eventData": object{"hello": "Wörld"}, "late": false, "after": "done"})
	}
	w.waiting(t, "go", 0)
	wait := w.log(t, ids[0]).Groups[1].Steps[0]
	is(t, "the wait", []any{wait.State, wait.WaitTimeout, wait.WaitLimit}, []any{"STEP_SUCCESS", false, "7d"})
}

func (w *world) testTimeout(t *testing.T) {
	id := w.start(t, "waiter", waitInput{Event: "never", Timeout: 1}, workflow.RunOptions{})
	is(t, "the result", json.RawMessage(w.result(t, id)), object{"eventData": nil, "late": true, "after": "done"})
	is(t, "the log", w.log(t, id).Groups[1].Steps[0].WaitTimeout, true)
	if woken, err := w.client.Notify(t.Context(), "never", nil); err != nil || len(woken) > 0 {
		t.Error(woken, err)
	}
}

func (w *world) testNotifier(t *testing.T) {
	waiter := w.start(t, "waiter", waitInput{Event: "from"}, workflow.RunOptions{})
	w.waiting(t, "from", 1)
	notifier := w.start(t, "notifier", object{"event": "from", "data": "plain text"}, workflow.RunOptions{})
	is(t, "woken", json.RawMessage(w.result(t, notifier)), []string{waiter})
	is(t, "the result", json.RawMessage(w.result(t, waiter)), object{"eventData": "plain text", "late": false, "after": "done"})
}

func (w *world) testLookback(t *testing.T) {
	id := w.start(t, "lookback", nil, workflow.RunOptions{})
	for n := 1; n <= 2; n++ {
		if _, err := w.client.NotifyRun(t.Context(), id, "look", object{"n": n}); err != nil {
			t.Fatal(err)
		}
	}
	w.change(func() { w.said["told "+id] = true })
	is(t, "the result", json.RawMessage(w.result(t, id)), []object{{"n": 1}, {"n": 2}})
}

func (w *world) testWebhook(t *testing.T) {
	id := w.start(t, "webhook", nil, workflow.RunOptions{})
	var hook string
	w.until(t, "the webhook's URL", func() bool { hook = w.hooks[id]; return hook != "" })
	post := func(method, url, body string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Mine", "hook")
		p, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Body.Close()
		return p.StatusCode
	}
	is(t, "answers", []int{post("PUT", hook+"?q=1", "hook body"), post("POST", hook, "")}, []int{200, 200})
	at, err := url.Parse(hook)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "the result", json.RawMessage(w.result(t, id)), object{"seen": []string{"PUT", at.Path + "?q=1", "hook", "hook body"}, "two": "POST", "late": true})
	is(t, "after the end", post("POST", hook, ""), 404)
}

func (w *world) testUnsigned(t *testing.T) {
	for what, header := range map[string]http.Header{"nothing": {}, "another key": {"Upstash-Signature": {"e30.e30.AAAA"}}} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.flow("steps"), bytes.NewReader([]byte("{}")))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		p, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(p.Body)
		p.Body.Close()
		if err != nil || p.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), "Failed to verify that the Workflow request comes from") {
			t.Errorf("signed by %s: %d %s %v", what, p.StatusCode, body, err)
		}
	}
}
