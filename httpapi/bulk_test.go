package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// batchOf publishes n messages that wait for an hour.
func (m *mail) batchOf(n int, label string) {
	m.Helper()
	item := fmt.Sprintf(`{"destination":"http://example.com/x","headers":{"Upstash-Delay":"1h","Upstash-Label":%q}}`, label)
	m.want(200, "", "POST", "/v2/batch", "["+strings.TrimSuffix(strings.Repeat(item+",", n), ",")+"]")
}

// TestBulkActions: a cancellation of more messages than one entry takes is counted, goes on in the background, and is shown by every node.
func TestBulkActions(t *testing.T) {
	m := startMail(t)
	const all = 2100
	m.batchOf(all, "a")
	m.batchOf(3, "b")
	m.want(200, fmt.Sprintf(`{"total":%d}`, all), "GET", "/v2/bulkActions/preview?label=a", "")
	m.want(400, `{"error":"unknown filter \"lable\""}`, "GET", "/v2/bulkActions/preview?lable=a", "")
	got := m.object(m.want(202, "", "DELETE", "/v2/messages?count=1", `{"label":"a","async":true}`))
	id, _ := got["actionId"].(string)
	if got["cancelled"] != float64(all) || id == "" {
		t.Fatal(got)
	}
	var one map[string]any
	for until := time.Now().Add(60 * time.Second); one["state"] != "FINISHED"; time.Sleep(10 * time.Millisecond) {
		if one = m.object(m.want(200, "", "GET", "/v2/bulkActions/"+id, "")); time.Now().After(until) {
			t.Fatal(one)
		}
	}
	if one["total"] != float64(all) || one["processed"] != float64(all) || one["kind"] != "cancel" || fmt.Sprint(one["filter"]) != "map[label:[a]]" {
		t.Error(one)
	}
	m.want(202, `{"cancelled":3}`, "DELETE", "/v2/messages", "")
	m.want(202, `{"cancelled":0}`, "DELETE", "/v2/messages?async=false", "")
	list, _ := m.object(m.want(200, "", "GET", "/v2/bulkActions?state=FINISHED", ""))["bulkActions"].([]any)
	if len(list) != 3 || list[2].(map[string]any)["actionId"] != id {
		t.Error(list)
	}
	page := m.object(m.want(200, "", "GET", "/v2/bulkActions?count=2", ""))
	rest := m.object(m.want(200, "", "GET", fmt.Sprint("/v2/bulkActions?count=2000&cursor=", page["cursor"]), ""))
	if len(page["bulkActions"].([]any)) != 2 || len(rest["bulkActions"].([]any)) != 1 || rest["cursor"] != nil {
		t.Error(page, rest)
	}
	m.want(200, `{"bulkActions":[]}`, "GET", "/v2/bulkActions?state=IN_PROGRESS", "")
	m.want(200, "", "DELETE", "/v2/bulkActions/"+id, "")
	for _, bad := range []string{"count=0", "count=x", "state=DONE", "cursor=x", "other=1"} {
		m.want(400, "", "GET", "/v2/bulkActions?"+bad, "")
	}
	m.want(400, "", "DELETE", "/v2/messages?async=perhaps", "")
	m.want(404, `{"error":"bulk action none not found"}`, "GET", "/v2/bulkActions/none", "")
	m.want(404, `{"error":"bulk action none not found"}`, "DELETE", "/v2/bulkActions/none", "")
}

// TestBulkActionOfNothing: an action whose filter matches nothing is over at once, however many messages there are, and is listed.
func TestBulkActionOfNothing(t *testing.T) {
	m := startMail(t)
	for range 10 {
		m.batchOf(1000, "a")
	}
	index := func() (last uint64) {
		for _, n := range m.nodes.Nodes {
			at, _ := n.Machine().Applied()
			last = max(last, at)
		}
		return last
	}
	for _, path := range []string{"/v2/messages?label=none", "/v2/messages?label=other&async=true"} {
		before := index()
		if got := m.object(m.want(202, "", "DELETE", path, "")); got["cancelled"] != 0.0 {
			t.Error(got)
		}
		if entries := index() - before; entries > 10 { // 2, and what the nodes do besides; the steps would be 20
			t.Errorf("%s took %d entries", path, entries)
		}
	}
	list, _ := m.object(m.want(200, "", "GET", "/v2/bulkActions?state=FINISHED", ""))["bulkActions"].([]any)
	if len(list) != 2 {
		t.Error(list)
	}
}

// TestBulkActionsOfRuns: bulk actions of runs have a list of their own.
func TestBulkActionsOfRuns(t *testing.T) {
	m := startMail(t)
	for _, label := range []string{"a", "a", "b"} {
		m.want(200, "", "POST", "/v2/trigger/http://example.com/"+label, "", "Upstash-Delay", "1h", "Upstash-Label", label)
	}
	m.want(200, `{"total":2}`, "GET", "/v2/workflows/bulkActions/preview?label=a", "")
	m.want(200, `{"total":1}`, "GET", "/v2/workflows/bulkActions/preview?workflowUrl=http://example.com/b&workflowUrlExactMatch=true", "")
	got := m.object(m.want(202, "", "DELETE", "/v2/workflows/runs?workflowUrl=http://example.com/a&async=true&count=100", ""))
	id, _ := got["actionId"].(string)
	if got["cancelled"] != 2.0 || id == "" {
		t.Fatal(got)
	}
	one := m.object(m.want(200, "", "GET", "/v2/workflows/bulkActions/"+id, ""))
	if one["state"] != "FINISHED" || one["total"] != 2.0 || fmt.Sprint(one["filter"]) != "map[workflowUrl:[http://example.com/a]]" {
		t.Error(one)
	}
	m.want(404, "", "GET", "/v2/bulkActions/"+id, "")
	m.want(202, `{"cancelled":1}`, "DELETE", "/v2/workflows/runs", `{}`)
	m.want(202, `{"cancelled":0}`, "DELETE", "/v2/workflows/runs?workflowRunIds=wfr_none", "")
	if list := m.object(m.want(200, "", "GET", "/v2/workflows/bulkActions", ""))["bulkActions"].([]any); len(list) != 2 {
		t.Error(list)
	}
}
