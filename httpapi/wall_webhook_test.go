package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// runs returns all workflow data of a database, as its snapshot would hold it.
func (w *wall) runs(db string) string {
	var b strings.Builder
	w.g.engine.Machine.View(0, [16]byte{}, func(v *fsm.View) {
		err := v.WorkflowsOf(db).Save(func(record []byte) error { fmt.Fprintf(&b, "%q\n", record); return nil })
		if err != nil {
			w.Fatal(err)
		}
	})
	return b.String()
}

// TestWebhookReachesItsDatabase calls a webhook without a token: its address names no database, and only the database whose run
// has made it learns of the call, although another one has a run of the same id.
func TestWebhookReachesItsDatabase(t *testing.T) {
	w := newWall(t)
	const hook = "/v2/workflows/hooks/tester/wfr_run/evt_abcdefghijklmno"
	to := "https://" + hidden + ".example.com/"
	step := `{"stepId":2,"stepName":"c","stepType":"CreateWebhook","out":"{\"webhookUrl\":\"http://x` + hook + `\",\"eventId\":\"evt_abcdefghijklmno\"}","concurrent":1}`
	item, err := json.Marshal([]map[string]any{{"destination": to, "body": step, "headers": map[string]string{
		"content-type": "application/json", "upstash-method": "POST", "upstash-workflow-init": "false", "upstash-workflow-runid": "wfr_run",
		"upstash-workflow-url": to, "upstash-workflow-sdk-version": "1", "upstash-forward-upstash-workflow-sdk-version": "1",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if a := w.g.ask(t, "POST", "/db/a/v2/batch", string(item), auth(w.a.Token), "Content-Type: application/json"); a.status != 200 {
		t.Fatalf("the step is answered %+v", a)
	}
	if a := w.g.ask(t, "POST", "/db/b/v2/trigger/"+to, "x", auth(w.b.Token), "Upstash-Workflow-RunId: wfr_run"); a.status/100 != 2 {
		t.Fatalf("the run of b is answered %+v", a)
	}
	before, others := w.runs("a"), w.runs("b")
	if a := w.g.ask(t, "POST", "/db/b"+hook, "x", "Authorization: none"); a.status != 404 {
		t.Errorf("b has the webhook of a: %+v", a)
	}
	if w.runs("a") != before || w.runs("b") != others {
		t.Error("a call of a webhook that b does not have changed something")
	}
	if a := w.g.ask(t, "POST", hook, "x", "Authorization: none"); a.status != 200 {
		t.Errorf("the webhook is answered %+v", a)
	}
	for _, method := range []string{"PUT", "PROPFIND", "X"} { // by any method, also one that a description can't name
		r, err := http.NewRequestWithContext(t.Context(), method, w.g.URL+hook, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.g.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != 200 {
			t.Errorf("the webhook is answered %d by %s", a.StatusCode, method)
		}
	}
	if w.runs("a") == before {
		t.Error("a did not learn of the call")
	}
	if w.runs("b") != others {
		t.Error("the call changed b")
	}
}
