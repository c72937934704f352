package triremetest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
	"github.com/trireme-dev/trireme/workflow"
)

// ask sends a request with a token and returns the status and the body.
func ask(t *testing.T, s *triremetest.Server, token, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	text, err := io.ReadAll(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	return p.StatusCode, string(text)
}

const messagesPath = "/admin/databases/default/messages"

// records are the lines of an export without those that say when it was made, and by whom attempts were claimed last.
func records(t *testing.T, s *triremetest.Server) (all []string, file string) {
	t.Helper()
	status, file := ask(t, s, s.AdminToken, "GET", messagesPath, "")
	if status != 200 {
		t.Fatalf("export: %d %s", status, file)
	}
	for l := range strings.Lines(file) {
		if !strings.HasPrefix(l, `{"kind":"head"`) && !strings.HasPrefix(l, `{"kind":"trireme-messages"`) && !strings.HasPrefix(l, `{"kind":"end"`) {
			all = append(all, l)
		}
	}
	return all, file
}

// settle waits until the run of a server waits for its event, and all deliveries so far are recorded.
func settle(t *testing.T, s *triremetest.Server) {
	t.Helper()
	before := ""
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		s.WaitIdle(t)
		all, _ := records(t, s)
		_, log := ask(t, s, s.MessagesToken, "GET", "/v2/workflows/logs", "")
		if now := strings.Join(all, ""); strings.Contains(log, "waitEventId") && strings.Count(log, "STEP_PROGRESS") == 1 && now == before {
			return
		} else if before = now; time.Now().After(deadline) {
			t.Fatalf("the run does not come to its wait: %s", log)
		}
	}
}

// TestMessagesMove: messages of every kind and a run that waits are exported from one server and imported into another,
// which lists them as the first did, delivers what was scheduled and completes the run.
func TestMessagesMove(t *testing.T) {
	t.Parallel()
	from, to := triremetest.StartProcess(t), triremetest.StartProcess(t)
	now := from.Now(t).Truncate(time.Hour).Add(70 * time.Minute) // of both, far from a tick
	from.AdvanceTo(t, now)
	to.AdvanceTo(t, now)
	broken, later, queued, grouped, ticks := from.Sink("broken"), from.Sink("later"), from.Sink("queued"), from.Sink("grouped"), from.Sink("ticks")
	broken.Script(t, triremetest.Reply{Status: 500})
	var at atomic.Pointer[http.Handler]
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*at.Load()).ServeHTTP(w, r) }))
	defer app.Close()
	ended := make(chan string, 1)
	serve := func(s *triremetest.Server) {
		o := workflow.Options{URL: s.URL, Token: s.MessagesToken, OnEnd: func(id string) { ended <- id }}
		h := workflow.Handler(o, workflow.New("approve", func(c *workflow.Context, _ []byte) (string, error) {
			workflow.Run(c, "one", func(context.Context) (int, error) { return 1, nil })
			return workflow.Wait[string](c, "approval", "approved", 24*time.Hour)
		}))
		at.Store(&h)
	}
	serve(from)
	publish(t, from, "/v2/publish/"+broken.URL, "lost", map[string]string{"Upstash-Retries": "0"})
	publish(t, from, "/v2/publish/"+later.URL, "in an hour", map[string]string{"Upstash-Delay": "1h", "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "parallelism=2"})
	publish(t, from, "/v2/enqueue/q/"+queued.URL, "in order", map[string]string{"Upstash-Delay": "30m"})
	for _, name := range []string{"a", "b"} {
		body := fmt.Sprintf(`{"endpoints":[{"name":%q,"url":%q}]}`, name, grouped.URL+"?to="+name)
		if status, text := ask(t, from, from.MessagesToken, "POST", "/v2/topics/both/endpoints", body); status/100 != 2 {
			t.Fatal(status, text)
		}
	}
	if status, text := ask(t, from, from.MessagesToken, "POST", "/v2/publish/both?svc-delay=10m", "\x00\x01"); status != 200 {
		t.Fatal(status, text)
	}
	publish(t, from, "/v2/schedules/"+ticks.URL, "tick", map[string]string{"Upstash-Cron": "0 * * * *"})
	publish(t, from, "/v2/trigger/"+app.URL+"/approve", "{}", nil)
	settle(t, from)

	for _, sink := range []*triremetest.Sink{later, queued, grouped, ticks} {
		if n := len(sink.Received(t)); n != 0 {
			t.Fatalf("%s: %d deliveries before the import", sink.URL, n)
		}
	}
	want, file := records(t, from)
	if status, text := ask(t, to, to.AdminToken, "POST", messagesPath, file); status != 200 || !strings.Contains(text, `"deadLetters":1`) || !strings.Contains(text, `"runs":1`) {
		t.Fatalf("import: %d %s", status, text)
	}
	if got, _ := records(t, to); strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("exported again there are %d records, %d were imported:\n%s", len(got), len(want), got)
	}
	for _, list := range []string{"/v2/queues", "/v2/topics", "/v2/schedules", "/v2/dlq", "/v2/events", "/v2/flowControl/k", "/v2/workflows/logs"} {
		a, wants := ask(t, from, from.MessagesToken, "GET", list, "")
		b, has := ask(t, to, to.MessagesToken, "GET", list, "")
		if a != 200 || b != 200 || wants != has || len(has) < 10 {
			t.Errorf("%s: %d\n%s\n%d\n%s", list, a, wants, b, has)
		}
	}
	if status, text := ask(t, to, to.AdminToken, "POST", messagesPath, file); status != 409 || !strings.Contains(text, "this one has ") {
		t.Errorf("a second import: %d %s", status, text)
	}

	serve(to)
	to.Advance(t, 2*time.Hour)
	for sink, deliveries := range map[*triremetest.Sink]int{broken: 1, later: 1, queued: 1, grouped: 2, ticks: 2} {
		if got := sink.Received(t); len(got) != deliveries {
			t.Errorf("%s: %d deliveries, want %d", sink.URL, len(got), deliveries)
		}
	}
	for _, got := range grouped.Received(t) {
		if got.Body != "\x00\x01" {
			t.Errorf("a body came as %q", got.Body)
		}
	}
	if status, text := ask(t, to, to.MessagesToken, "POST", "/v2/notify/approved", "yes"); status != 200 {
		t.Fatal(status, text)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the run has not ended")
	}
}

// TestRefusedImports: what a file can't bring changes nothing, and the answer names the line.
func TestRefusedImports(t *testing.T) {
	t.Parallel()
	s := triremetest.StartProcess(t)
	publish(t, s, "/v2/publish/"+s.Sink("later").URL, "x", map[string]string{"Upstash-Delay": "1h"})
	_, file := records(t, s)
	s.Reset(t)
	lines := strings.SplitAfter(strings.TrimSuffix(file, "\n"), "\n")
	bad := append([]string(nil), lines...)
	bad[2] = "{\"kind\":\n"
	for name, c := range map[string]struct {
		file, says string
		status     int
	}{
		"a bad line":     {strings.Join(bad, ""), "line 3: ", 400},
		"cut short":      {strings.Join(lines[:2], ""), "cut short", 400},
		"a newer format": {strings.Replace(file, `"format":1`, `"format":2`, 1), "this version reads format 1", 400},
		"a higher level": {strings.Replace(file, `"level":`, `"level":9`, 1), "higher feature level", 409},
		"nothing":        {"", "it is empty", 400},
	} {
		if status, text := ask(t, s, s.AdminToken, "POST", messagesPath, c.file); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, text := ask(t, s, s.AdminToken, "POST", "/admin/databases/nosuch/messages", file); status != 404 {
		t.Errorf("into no database: %d %s", status, text)
	}
	if status, text := ask(t, s, s.AdminToken, "POST", messagesPath, file); status != 200 || !strings.Contains(text, `"messages":1`) {
		t.Errorf("the whole file after those: %d %s", status, text)
	}
}
