package spectest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// TestInline runs workflows whose runs ask for several steps in one delivery, and those that do not, and counts their deliveries.
func TestInline(t *testing.T) {
	w := startWorld(t)
	count := func(name string) int {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ran[name]++
		return w.ran[name]
	}
	step := func(c *workflow.Context, name string, fn func() (string, error)) string {
		return workflow.Run(c, name, func(context.Context) (string, error) { return fn() })
	}
	letter := func(c *workflow.Context, name string) *workflow.Future[string] {
		return workflow.Go(c, func(c *workflow.Context) (string, error) {
			return step(c, name, func() (string, error) { return name, nil }), nil
		})
	}
	three := func(c *workflow.Context, _ []byte) (out string, err error) {
		for i := range 3 {
			out += step(c, fmt.Sprintf("s%d", i), func() (string, error) { return fmt.Sprint(i), nil })
		}
		return out, nil
	}
	mixed := func(c *workflow.Context, _ []byte) (string, error) {
		out := step(c, "a", func() (string, error) { return fmt.Sprint(count(c.RunID + "a")), nil })
		out += step(c, "b", func() (string, error) {
			if count(c.RunID+"b") == 1 {
				return "", workflow.NewError("Flaky", "the first time")
			}
			return "b", nil
		})
		workflow.Sleep(c, "nap", time.Second)
		both, err := workflow.All(letter(c, "c"), letter(c, "d"))
		return out + strings.Join(both, "") + step(c, "e", func() (string, error) { return fmt.Sprint(count(c.RunID + "e")), nil }), err
	}
	ahead := func(c *workflow.Context, payload []byte) (string, error) {
		c.SetAhead(5)
		return mixed(c, payload)
	}
	many := func(c *workflow.Context, _ []byte) (n int, err error) { // more than one request takes, and more bytes than they have together
		c.SetAhead(1000)
		for i := range 250 {
			n += len(step(c, "s", func() (string, error) { return strings.Repeat("x", i*20), nil }))
		}
		return n, nil
	}
	none := func(*workflow.Context, []byte) (workflow.None, error) { return workflow.None{}, nil }
	w.flows = workflow.Handler(w.options(), workflow.New("three", three), workflow.New("mixed", mixed), workflow.New("ahead", ahead), workflow.New("many", many), workflow.New("none", none))
	for _, c := range []struct {
		flow, inline string
		deliveries   int
		result       string
		steps        int
	}{
		{"three", "", 4, `"012"`, 3},
		{"three", "true", 1, `"012"`, 3},
		{"none", "true", 1, "", 0},
		{"many", "true", 1, "622500", 250},
		// a and b, where b fails, b again up to the sleep, the block's plan, two branches, their results, of which the first may not be needed, and
		// the last step with the end.
		{"mixed", "true", 7, `"1bcd1"`, 6},
		{"ahead", "true", 7, `"1bcd1"`, 6},
	} {
		id := w.start("flows/"+c.flow, "p", map[string]string{"svc-inline": c.inline, "upstash-retries": "1"})
		w.until(c.flow, func() bool { return w.log(id).at("workflowState").String() != "RUN_STARTED" })
		log := w.log(id)
		w.is("state", log.at("workflowState"), "RUN_SUCCESS")
		w.is("result", log.at("workflowRunResponse"), c.result)
		list := w.deliveries(id)
		w.true(len(list) == c.deliveries || c.steps == 6 && len(list) == c.deliveries-1, "%s, inline %q: %d deliveries, want %d", c.flow, c.inline, len(list), c.deliveries)
		w.true((list[0].header.Get("Upstash-Workflow-Attempt") != "") == (c.inline != "") &&
			(list[0].header.Get("Svc-Workflow-Attempt") != "") == (c.inline != ""), "%v", list[0].header)
		steps := w.ask(200, "GET", "/v2/workflows/runs/"+id+"/steps", nil, "").at("steps")
		w.true(steps.len() > 0, "%v", steps)
	}
	id := w.start("m/ok", "p", map[string]string{"svc-inline": "true"})
	attempt := w.delivery(id, 1).header.Get("Upstash-Workflow-Attempt")
	path := "/v2/workflows/runs/" + id + "/steps"
	for _, bad := range []string{`{`, `{"attempt":"x","steps":[{}]}`, fmt.Sprintf(`{"attempt":%q}`, attempt)} {
		w.ask(400, "POST", path, nil, bad)
	}
	w.ask(412, "POST", path, nil, fmt.Sprintf(`{"attempt":%q,"steps":[{}]}`, attempt))
	recorded := fmt.Sprintf(`{"attempt":%q,"steps":[%s],"end":{"result":"over"}}`, attempt, run(1)) // the attempt may be over by now
	first := w.ask(200, "POST", path, nil, recorded)
	w.true(first.at("inline").v == first.at("ended").v || first.at("ended").v == nil, "%v", first)
	w.startAs("bad-"+id, "m/ok", "p", nil)
	w.ask(400, "POST", "/v2/trigger/"+w.url("m/ok"), map[string]string{"Svc-Inline": "perhaps"}, "p")
}

// heldSteps is a client that holds the first request with steps until it is released.
type heldSteps struct {
	release chan struct{}
	first   sync.Once
	told    atomic.Bool // the node has answered it
}

func (s *heldSteps) RoundTrip(r *http.Request) (p *http.Response, err error) {
	held := false
	if strings.HasSuffix(r.URL.Path, "/steps") {
		s.first.Do(func() { held = true })
	}
	if !held {
		return http.DefaultTransport.RoundTrip(r)
	}
	<-s.release
	p, err = http.DefaultTransport.RoundTrip(r)
	s.told.Store(true)
	return p, err
}

// TestAhead holds back the answer to the first result of a run: as many steps as may be ahead of it are done meanwhile, and no more.
func TestAhead(t *testing.T) {
	w := startWorld(t)
	h := &heldSteps{release: make(chan struct{})}
	const most = 2
	flow := workflow.New("flow", func(c *workflow.Context, _ []byte) (string, error) {
		c.SetAhead(most)
		for i := range 6 {
			workflow.Run(c, fmt.Sprint("s", i), func(context.Context) (int, error) {
				switch {
				case i <= most && h.told.Load():
					t.Error("the first result was recorded before a step that may be ahead of it")
				case i == most:
					close(h.release)
				case i > most && !h.told.Load():
					t.Errorf("step %d is too far ahead", i)
				}
				return i, nil
			})
		}
		return "over", nil
	})
	o := w.options()
	o.HTTPClient = &http.Client{Transport: h}
	app := httptest.NewServer(workflow.Handler(o, flow))
	defer app.Close()
	id := w.id()
	headers := triggerHeaders(app.URL+"/flow", id)
	headers["svc-inline"] = "true"
	w.batch(200, app.URL+"/flow", headers, "p")
	w.is("result", w.state(id, "RUN_SUCCESS").at("workflowRunResponse"), `"over"`)
	steps := w.ask(200, "GET", "/v2/workflows/runs/"+id+"/steps", nil, "").at("steps")
	w.true(steps.len() == 7, "%v", steps)
}
