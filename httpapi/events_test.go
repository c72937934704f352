package httpapi_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/messages"
)

// members returns a member of each object of a list that is a string, joined by blanks.
func members(list []map[string]any, name string) string {
	var all []string
	for _, v := range list {
		text, _ := v[name].(string)
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// TestEvents: section 10.2, every event has the configuration, and events of an answer have the answer.
func TestEvents(t *testing.T) {
	p := startOffice(t)
	id := p.publish("/bad", "hello", "Svc-Retries", "1", "Svc-Retry-Delay", "retried * 10 + 1", "Svc-Label", "l,m", "Svc-Forward-X-Mine", "m", "Svc-Timeout", "30s",
		"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "parallelism=3", "Svc-Callback", p.url+"/ok/told", "Svc-Callback-Forward-A", "b")
	query := "/v2/events?messageId=" + id
	got := p.until(query+"&order=earliestFirst", func(a map[string]any) bool { return strings.HasSuffix(members(listOf(a, "events"), "state"), "FAILED") })
	list := listOf(got, "events")
	if want := "CREATED ACTIVE ERROR RETRY ACTIVE ERROR FAILED"; members(list, "state") != want || got["cursor"] != nil {
		t.Fatalf("%s, want %s", members(list, "state"), want)
	}
	for _, v := range list {
		_, told := v["responseStatus"]
		if want := v["state"] == "ERROR" || v["state"] == "FAILED"; told != want {
			t.Errorf("%v", v)
		}
		if told {
			header, _ := v["responseHeader"].(map[string]any)
			if v["responseStatus"] != 500.0 || v["responseBody"] != "YW5zd2Vy" || !reflect.DeepEqual(header["X-Answer"], []any{"yes"}) || !reflect.DeepEqual(v["responseHeaders"], v["responseHeader"]) {
				t.Errorf("%v", v)
			}
		}
		if _, next := v["nextDeliveryTime"].(float64); next != (v["state"] == "RETRY") {
			t.Errorf("%v", v)
		}
		if _, number := v["time"].(float64); !number {
			t.Errorf("%v", v)
		}
		for _, name := range []string{"time", "state", "nextDeliveryTime", "responseStatus", "responseBody", "responseHeader", "responseHeaders"} {
			delete(v, name)
		}
		want := map[string]any{
			"messageId": id, "url": p.url + "/bad", "method": "POST", "header": map[string]any{"X-Mine": []any{"m"}}, "body": "aGVsbG8=", "timeout": 30_000.0,
			"callback": p.url + "/ok/told", "callbackHeaders": map[string]any{"A": []any{"b"}}, "maxRetries": 1.0, "callerIP": "127.0.0.1",
			"retryDelayExpression": "retried * 10 + 1", "retryDelayExpr": "retried * 10 + 1", "label": "l", "labels": []any{"l", "m"},
			"flowControlKey": "k", "parallelism": 3.0, "period": 1.0,
		}
		if !reflect.DeepEqual(v, want) {
			t.Errorf(" got %v\nwant %v", v, want)
		}
	}
	told := p.until("/v2/events?state=CREATED&url="+p.url+"/ok/told", func(a map[string]any) bool { return len(listOf(a, "events")) == 2 })
	for _, v := range listOf(told, "events") { // one for each attempt
		if v["sourceMessageId"] != id {
			t.Errorf("the callback tells of %v, want %s", v["sourceMessageId"], id)
		}
	}
	latest := p.object(p.want(200, "", "GET", "/v2/logs?messageIds="+id, ""))
	if members(listOf(latest, "logs"), "state") != "FAILED ERROR ACTIVE RETRY ERROR ACTIVE CREATED" || !reflect.DeepEqual(latest["logs"], latest["events"]) {
		t.Errorf("%v", latest)
	}
}

// TestEventFilters: section 10.1, each filter selects what it names, and the last page has no cursor.
func TestEventFilters(t *testing.T) {
	p := startOffice(t)
	first := p.publish("/ok/1", "", "Svc-Label", "a", "Svc-Queue-Name", "q")
	p.until("/v2/events?messageId="+first, long("events", 3))
	second := p.publish("/later", "", "Svc-Label", "b", "Svc-Delay", "1h", "Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "rate=1")
	p.want(202, `{"cancelled":1}`, "DELETE", "/v2/messages/"+second, "")
	host := strings.TrimPrefix(p.url, "http://")
	for query, want := range map[string]string{
		"":                                   "CANCELED CANCEL_REQUESTED CREATED DELIVERED ACTIVE CREATED",
		"messageIds=" + first:                "DELIVERED ACTIVE CREATED",
		"messageId=x":                        "",
		"state=canceled":                     "CANCELED",
		"state=CANCELLED":                    "CANCELED",
		"state=IN_PROGRESS":                  "ACTIVE",
		"state=DELIVERED&state=CREATED":      "CREATED DELIVERED CREATED",
		"label=a":                            "DELIVERED ACTIVE CREATED",
		"label=a,b&state=CREATED":            "CREATED CREATED",
		"url=" + p.url + "/ok/1":             "DELIVERED ACTIVE CREATED",
		"host=" + host + "&state=ACTIVE":     "ACTIVE",
		"host=other.example":                 "",
		"path=/later":                        "CANCELED CANCEL_REQUESTED CREATED",
		"queueName=q":                        "DELIVERED ACTIVE CREATED",
		"topicName=t":                        "",
		"scheduleId=s":                       "",
		"flowControlKey=k&state=CREATED":     "CREATED",
		"callerIp=127.0.0.1&state=DELIVERED": "DELIVERED",
		"toDate=1":                           "",
		"fromDate=1&api=llm&state=DELIVERED": "DELIVERED",
		"label=a&count=3":                    "DELIVERED ACTIVE CREATED",
		"messageIds=" + first + "&count=3":   "DELIVERED ACTIVE CREATED",
		"order=earliestFirst&label=b":        "CREATED CANCEL_REQUESTED CANCELED",
	} {
		got := p.object(p.want(200, "", "GET", "/v2/events?"+query, ""))
		list := listOf(got, "events")
		if members(list, "state") != want || got["cursor"] != nil || got["events"] == nil {
			t.Errorf("%s: %s, cursor %v", query, members(list, "state"), got["cursor"])
		}
	}
	for _, query := range []string{"", "&order=earliestFirst", "&messageIds=" + first + "," + second} {
		var seen []string
		for cursor := ""; ; {
			got := p.object(p.want(200, "", "GET", "/v2/events?count=4"+query+cursor, ""))
			for _, v := range listOf(got, "events") {
				seen = append(seen, v["messageId"].(string)+v["state"].(string))
			}
			next, more := got["cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		slices.Sort(seen)
		if len(seen) != 6 || len(slices.Compact(seen)) != 6 {
			t.Errorf("%s: %v", query, seen)
		}
	}
	for _, query := range []string{"stat=x", "state=x", "count=0", "order=up", "cursor=x"} {
		p.want(400, "", "GET", "/v2/events?"+query, "")
	}
	p.want(405, "", "POST", "/v2/events", "")
	p.want(404, "", "GET", "/v2/events/x", "")
}

// TestEventsInTheSpecificationsForm: section 20, the setting --spec-literal.
func TestEventsInTheSpecificationsForm(t *testing.T) {
	p := startOffice(t, func(n *messages.Parser) { n.SpecLiteral = true })
	id := p.publish("/later", "", "Svc-Delay", "1h")
	p.want(202, "", "DELETE", "/v2/messages/"+id, "")
	list := listOf(p.object(p.want(200, "", "GET", "/v2/events", "")), "events")
	if members(list, "state") != "CANCELLED CANCEL_REQUESTED CREATED" {
		t.Error(members(list, "state"))
	}
	for _, v := range list {
		if text, ok := v["time"].(string); !ok || len(text) != 13 {
			t.Error(v)
		}
	}
}

// TestRedactedEvents: section 17, redacted fields are hidden here too, and retried with their real values.
func TestRedactedEvents(t *testing.T) {
	p := startOffice(t)
	p.publish("/bad", "secret", "Svc-Retries", "0", "Svc-Redact-Fields", "body,header[X-Mine]", "Svc-Forward-X-Mine", "mine")
	dead := listOf(p.until("/v2/dlq", long("messages", 1)), "messages")[0]
	events := p.want(200, "", "GET", "/v2/events", "")
	entry := p.want(200, "", "GET", "/v2/dlq/"+dead["dlqId"].(string), "")
	for _, text := range []string{events, entry} {
		if strings.Contains(text, "secret") || strings.Contains(text, `"mine"`) || strings.Contains(text, "c2VjcmV0") || !strings.Contains(text, "REDACTED:") {
			t.Error(text)
		}
	}
	p.want(201, "", "POST", "/v2/dlq/retry/"+dead["dlqId"].(string), "")
	p.until("/v2/dlq", long("messages", 1))
	if got := p.requests(); len(got) != 2 || got[1] != "POST /bad mine secret" {
		t.Error(got)
	}
}

// TestLargePagesEndEarly: a page holds a bounded amount of bodies, and the cursor leads
// to the rest.
func TestLargePagesEndEarly(t *testing.T) {
	p := startOffice(t)
	large := strings.Repeat("x", 5<<20)
	for _, label := range []string{"1", "2", "3"} {
		p.publish("/bad", large, "Svc-Retries", "0", "Svc-Label", label)
		p.until("/v2/dlq?label="+label, long("messages", 1))
	}
	for path, name := range map[string]string{"/v2/dlq?count=100": "messages", "/v2/events?state=FAILED": "events"} {
		first := p.object(p.want(200, "", "GET", path, ""))
		cursor, _ := first["cursor"].(string)
		rest := p.object(p.want(200, "", "GET", path+"&cursor="+cursor, ""))
		if len(listOf(first, name)) != 2 || len(listOf(rest, name)) != 1 || rest["cursor"] != nil {
			t.Errorf("%s: %d, then %d, cursor %v", path, len(listOf(first, name)), len(listOf(rest, name)), rest["cursor"])
		}
	}
}

// TestGroupedEvents: groupBy=messageId lists messages by their last event, each with all
// of its events.
func TestGroupedEvents(t *testing.T) {
	p := startOffice(t)
	var ids []string
	for range 12 {
		ids = append(ids, p.publish("/ok", "x"))
	}
	waits := p.publish("/ok", "x", "Svc-Delay", "1h")
	p.until("/v2/events?state=delivered", long("events", len(ids)))
	first := p.object(p.want(200, "", "GET", "/v2/events?groupBy=messageId", ""))
	groups := listOf(first, "groups")
	rest := p.object(p.want(200, "", "GET", "/v2/events?groupBy=messageId&cursor="+first["cursor"].(string), ""))
	if groups = append(groups, listOf(rest, "groups")...); len(groups) != len(ids)+1 || len(listOf(rest, "groups")) != 3 || rest["cursor"] != nil {
		t.Fatal(len(groups), rest)
	}
	seen := map[string]bool{}
	for _, g := range groups {
		id, events := g["messageId"].(string), listOf(g, "events")
		want := 3
		if id == waits {
			want = 1
		}
		if seen[id] || len(events) != want || events[len(events)-1]["state"] != "CREATED" {
			t.Error(g)
		}
		seen[id] = true
	}
	// A state is the state of the last event, which nothing has changed since.
	created := listOf(p.object(p.want(200, "", "GET", "/v2/logs?groupBy=messageId&state=CREATED", "")), "groups")
	if len(created) != 1 || created[0]["messageId"] != waits {
		t.Error(created)
	}
	one := listOf(p.object(p.want(200, "", "GET", "/v2/events?groupBy=messageId&messageIds="+ids[0]+"&count=1", "")), "groups")
	if len(one) != 1 || len(listOf(one[0], "events")) != 3 {
		t.Error(one)
	}
	p.want(400, `{"error":"invalid groupBy \"url\": expected messageId or message or time"}`, "GET", "/v2/events?groupBy=url", "")
}
