package httpapi_test

import (
	"reflect"
	"strings"
	"testing"
)

// TestDeadLetterEntry: section 11.1, a dead letter has the message and its last answer.
func TestDeadLetterEntry(t *testing.T) {
	p := startOffice(t)
	id := p.publish("/bad", "hello", "Svc-Retries", "0", "Svc-Failure-Callback", p.url+"/ok/failed", "Svc-Label", "a,b", "Svc-Forward-X-Mine", "m", "Content-Type", "text/plain")
	list := p.until("/v2/dlq/", func(a map[string]any) bool {
		list := listOf(a, "messages")
		return len(list) == 1 && list[0]["failureCallbackInfo"].(map[string]any)["state"] == "CALLBACK_SUCCESS"
	})
	if list["cursor"] != nil {
		t.Error(list["cursor"])
	}
	dlqID, _ := listOf(list, "messages")[0]["dlqId"].(string)
	got := p.object(p.want(200, "", "GET", "/v2/dlq/"+dlqID, ""))
	header, _ := got["responseHeader"].(map[string]any)
	info, _ := got["failureCallbackInfo"].(map[string]any)
	told, _ := info["responseHeaders"].(map[string]any)
	if !reflect.DeepEqual(told["X-Answer"], []any{"yes"}) {
		t.Error(got)
	}
	if !reflect.DeepEqual(header["X-Answer"], []any{"yes"}) {
		t.Error(got)
	}
	for _, name := range []string{"createdAt", "notBefore", "responseHeader"} {
		if got[name] == nil {
			t.Errorf("%s is missing", name)
		}
		delete(got, name)
	}
	want := map[string]any{
		"messageId": id, "dlqId": dlqID, "url": p.url + "/bad", "method": "POST", "maxRetries": 0.0, "body": "hello", "callerIP": "127.0.0.1",
		"header": map[string]any{"Content-Type": []any{"text/plain"}, "X-Mine": []any{"m"}}, "label": "a", "labels": []any{"a", "b"},
		"failureCallback": p.url + "/ok/failed", "failureCallbackInfo": map[string]any{"state": "CALLBACK_SUCCESS", "responseStatus": 200.0, "responseBody": "answer", "responseHeaders": told},
		"responseStatus": 500.0, "responseBody": "answer",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
	p.want(200, "", "DELETE", "/v2/dlq/"+dlqID, "")
	gone := `{"error":"dlq message ` + dlqID + ` not found"}`
	p.want(404, gone, "GET", "/v2/dlq/"+dlqID, "")
	p.want(404, gone, "DELETE", "/v2/dlq/"+dlqID, "")
	p.want(404, gone, "POST", "/v2/dlq/retry/"+dlqID, "")
	p.want(404, `{"error":"dlq message x not found"}`, "GET", "/v2/dlq/x", "")
	p.want(200, `{"messages":[]}`, "GET", "/v2/dlq", "")
}

// deadLetters makes three messages fail, labelled 1, 2 and 3, and returns their entries, oldest first.
func deadLetters(p *office) []map[string]any {
	p.Helper()
	for _, label := range []string{"1", "2", "3"} {
		p.publish("/bad", "body "+label, "Svc-Retries", "0", "Svc-Label", label, "Svc-Forward-X-Mine", "m", "Svc-Queue-Name", "q")
	}
	return listOf(p.until("/v2/dlq", long("messages", 3)), "messages")
}

// TestDeadLetterPages: section 11.2, the oldest first, no cursor on the last page.
func TestDeadLetterPages(t *testing.T) {
	p := startOffice(t)
	all := deadLetters(p)
	id := func(i int) string { return all[i]["dlqId"].(string) }
	for query, want := range map[string]string{
		"order=latestFirst": "3 2 1", "order=earliestFirst": "1 2 3", "count=500": "1 2 3", "label=1,3": "1 3", "label=1&label=3": "1 3", "label=1&queueName=other": "",
		"queueName=q": "1 2 3", "responseStatus=500,404": "1 2 3", "responseStatus=404": "", "url=" + p.url + "/bad": "1 2 3", "topicName=t": "", "scheduleId=s": "",
		"callerIp=127.0.0.1": "1 2 3", "flowControlKey=k": "", "fromDate=1": "1 2 3", "toDate=1": "", "messageId=" + all[1]["messageId"].(string): "2", "messageId=x": "",
		"dlqIds=" + id(2) + "&dlqIds=" + id(0): "3 1", "dlqIds=x": "", "dlqIds=": "", "source=workflow": "", "api=llm": "1 2 3",
		// The cursor of a page is the place before the next match, if there is one.
		"label=1&count=1": "1", "count=3": "1 2 3",
	} {
		got := p.object(p.want(200, "", "GET", "/v2/dlq?"+query, ""))
		if members(listOf(got, "messages"), "label") != want || got["cursor"] != nil || got["messages"] == nil {
			t.Errorf("%s: %v", query, got)
		}
	}
	for _, order := range []string{"", "&order=latestFirst"} {
		var seen []map[string]any
		for cursor := ""; ; {
			got := p.object(p.want(200, "", "GET", "/v2/dlq?count=2"+order+cursor, ""))
			seen = append(seen, listOf(got, "messages")...)
			next, more := got["cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		if got := members(seen, "label"); got != "1 2 3" && order == "" || got != "3 2 1" && order != "" {
			t.Errorf("%s: %s", order, got)
		}
	}
}

// TestDeadLetterFiltersMustBeKnown: section 11.2, a mistyped filter changes nothing.
func TestDeadLetterFiltersMustBeKnown(t *testing.T) {
	p := startOffice(t)
	deadLetters(p)
	for _, query := range []string{"lable=1", "host=127.0.0.1", "path=/bad", "count=0", "count=x", "cursor=x", "order=up", "responseStatus=x", "fromDate=x"} {
		p.want(400, "", "GET", "/v2/dlq?"+query, "")
		p.want(400, "", "DELETE", "/v2/dlq?"+query, "")
		p.want(400, "", "POST", "/v2/dlq/retry?"+query, "")
	}
	p.want(400, `{"error":"unknown filter \"lable\""}`, "DELETE", "/v2/dlq", `{"lable":["1"]}`)
	p.want(400, `{"error":"unknown filter \"order\""}`, "DELETE", "/v2/dlq?order=latestFirst", "")
	p.want(405, "", "POST", "/v2/dlq", "")
	p.want(405, "", "GET", "/v2/dlq/retry", "")
	p.want(404, "", "GET", "/v2/dlq/a/b", "")
	if got := p.object(p.want(200, "", "GET", "/v2/dlq", "")); len(listOf(got, "messages")) != 3 {
		t.Error(got)
	}
}

// TestDeleteDeadLetters: section 11.3, by query and by JSON body.
func TestDeleteDeadLetters(t *testing.T) {
	p := startOffice(t)
	all := deadLetters(p)
	p.want(200, `{"deleted":0}`, "DELETE", "/v2/dlq?label=4", "")
	p.want(200, `{"deleted":0}`, "DELETE", "/v2/dlq", `{"dlqIds":[]}`)
	cursor := all[0]["dlqId"].(string)
	p.want(200, `{"deleted":1,"cursor":"`+cursor+`"}`, "DELETE", "/v2/dlq?count=1", "")
	p.want(200, `{"deleted":1}`, "DELETE", "/v2/dlq", `{"dlqIds":["`+cursor+`","`+all[1]["dlqId"].(string)+`"]}`)
	p.want(200, `{"deleted":1}`, "DELETE", "/v2/dlq", `{"label":"3","count":1}`)
	p.want(200, `{"messages":[]}`, "GET", "/v2/dlq", "")
}

// TestRetryDeadLetters: section 11.4, a retry is a new message with the original
// configuration, except what the headers of the retry name.
func TestRetryDeadLetters(t *testing.T) {
	p := startOffice(t)
	all := deadLetters(p)
	dlqID := all[0]["dlqId"].(string)
	text := p.want(201, "", "POST", "/v2/dlq/retry/"+dlqID, "", "Svc-Retries", "7", "Svc-Delay", "1h", "Svc-Forward-X-Other", "o", "Content-Type", "a/b")
	id, _ := p.object(text)["messageId"].(string)
	if id == all[0]["messageId"] {
		t.Error(text)
	}
	got := p.object(p.want(200, "", "GET", "/v2/messages/"+id, ""))
	if got["maxRetries"] != 7.0 || got["body"] != "body 1" || got["label"] != "1" || got["queueName"] != "q" ||
		!reflect.DeepEqual(got["header"], map[string]any{"X-Mine": []any{"m"}, "X-Other": []any{"o"}}) {
		t.Error(got)
	}
	p.want(404, "", "POST", "/v2/dlq/retry/"+dlqID, "")
	for _, header := range [][]string{{"Svc-Retries", "-1"}, {"Svc-Callback", "nowhere"}, {"Svc-Queue-Name", "a b"}, {"Svc-Delay", "soon"}} {
		p.want(400, "", "POST", "/v2/dlq/retry", "", header...)
	}
	if got := p.object(p.want(201, "", "POST", "/v2/dlq/retry?label=4", "")); !reflect.DeepEqual(got, map[string]any{"responses": []any{}}) {
		t.Error(got)
	}
	page := p.object(p.want(201, "", "POST", "/v2/dlq/retry?count=1&upstash-delay=1h", ""))
	if len(listOf(page, "responses")) != 1 || page["cursor"] == nil {
		t.Error(page)
	}
	page = p.object(p.want(201, "", "POST", "/v2/dlq/retry?count=1&cursor="+page["cursor"].(string), "", "Svc-Delay", "1h"))
	if len(listOf(page, "responses")) != 1 || page["cursor"] != nil {
		t.Error(page)
	}
	p.want(200, `{"messages":[]}`, "GET", "/v2/dlq", "")
	p.want(202, `{"cancelled":3}`, "DELETE", "/v2/messages", "")
}

// TestDeadLettersByCause: dead letters that failed alike are counted together, over the filter and in pages.
func TestDeadLettersByCause(t *testing.T) {
	p := startOffice(t)
	all := deadLetters(p)
	p.publish("/bad/other?n=1", "x", "Svc-Retries", "0", "Svc-Label", "4")
	p.until("/v2/dlq", long("messages", 4))
	groups := listOf(p.object(p.want(200, "", "GET", "/v2/dlq?groupBy=cause&label=1,2,3", "")), "groups")
	if len(groups) != 1 {
		t.Fatalf("%v", groups)
	}
	last := all[2]
	want := map[string]any{
		"count": 3.0, "host": strings.TrimPrefix(p.url, "http://"), "responseStatus": 500.0, "text": "answer",
		"oldest": groups[0]["oldest"], "newest": groups[0]["newest"], "dlqId": last["dlqId"],
	}
	if !reflect.DeepEqual(groups[0], want) || groups[0]["oldest"].(float64) > groups[0]["newest"].(float64) {
		t.Errorf(" got %v\nwant %v", groups[0], want)
	}
	if list := listOf(p.object(p.want(200, "", "GET", "/v2/dlq?groupBy=cause&responseStatus=404", "")), "groups"); len(list) != 0 {
		t.Errorf("%v", list)
	}
	one := "/v2/dlq?groupBy=cause&dlqIds=" + all[0]["dlqId"].(string)
	if list := listOf(p.object(p.want(200, "", "GET", one, "")), "groups"); len(list) != 1 || list[0]["count"] != 1.0 {
		t.Errorf("%v", list)
	}
	p.want(400, `{"error":"invalid groupBy \"host\": expected cause"}`, "GET", "/v2/dlq?groupBy=host", "")
	p.want(400, "", "DELETE", "/v2/dlq?groupBy=cause", "")
}
