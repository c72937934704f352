package messages

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/queue"
)

func choosing(body string) *request {
	return &request{API: New(Options{Parser: parser, MaxBody: 1 << 20}), w: httptest.NewRecorder(), r: httptest.NewRequest("DELETE", "/v2/dlq", strings.NewReader(body))}
}

var deadFilters = []string{
	"dlqIds", "messageId", "responseStatus", "source", "api", "count", "cursor", "url", "topicName", "queueName", "label", "flowControlKey", "scheduleId", "callerIp", "callerIP", "fromDate", "toDate",
}

// FuzzReadDead: for any query, an unknown name is refused, a page is 1 to 100, and a query that names ids selects only
// these.
func FuzzReadDead(f *testing.F) {
	for _, query := range []string{"", "label=a,b&count=7", "dlqIds=1-2&dlqIds=3-4", "dlqIds=", "lable=a", "count=0", "cursor=5-6", "responseStatus=500", "qstash_token=x", "%zz", "source=workflow"} {
		f.Add(query, "")
		f.Add("", `{"`+query+`":[]}`)
	}
	f.Add("", `{"dlqIds":["1-2"],"count":5,"label":"a"}`)
	f.Fuzz(func(t *testing.T, query, body string) {
		q := choosing(body)
		c, err := q.readDead(query, inDead)
		if err != nil {
			return
		}
		values, err := choosing(body).parameters(query)
		if err != nil {
			t.Fatal(err)
		}
		for name := range values {
			if !slices.Contains(deadFilters, name) {
				t.Fatalf("%q was taken", name)
			}
		}
		if c.page.Limit < 1 || c.page.Limit > max(queue.MaxDeadPage, len(c.dead)) || c.page.Newest {
			t.Fatalf("%+v", c.page)
		}
		if values.Has("dlqIds") && len(c.dead) == 0 && !c.none {
			t.Fatal("no ids are everything")
		}
	})
}

func TestParseStates(t *testing.T) {
	for text, want := range map[string][]queue.State{
		"created": {queue.Created}, "ACTIVE": {queue.Active}, "Retry": {queue.Retry}, "ERROR": {queue.Failing}, "DELIVERED": {queue.Delivered}, "FAILED": {queue.Failed},
		"CANCEL_REQUESTED": {queue.CancelRequested}, "CANCELED": {queue.Canceled}, "cancelled": {queue.Canceled}, "IN_PROGRESS": {queue.Active, queue.Retry, queue.Failing},
	} {
		if got, err := parseStates(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "UNKNOWN", "DONE"} {
		if _, err := parseStates(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
