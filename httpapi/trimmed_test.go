package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestListsTrimBodies: every list of messages that shows bodies takes trimBody, for text and for other bytes, for
// published bodies and for answers. No other request takes it.
func TestListsTrimBodies(t *testing.T) {
	p := startOffice(t)
	const text, raw = "body-of-mine", "\xff\xfe\xfdbytes" // their beginnings are no ends of one another
	ids := []string{
		p.publish("/bad", text, "Svc-Retries", "0", "Svc-Failure-Callback", p.url+"/ok"),
		p.publish("/bad", raw, "Svc-Retries", "0", "Svc-Failure-Callback", p.url+"/ok"),
	}
	p.until("/v2/dlq", func(a map[string]any) bool {
		list := listOf(a, "messages")
		for _, d := range list {
			if info, _ := d["failureCallbackInfo"].(map[string]any); info["state"] != "CALLBACK_SUCCESS" {
				return false
			}
		}
		return len(list) == len(ids)
	})
	coded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	named := "messageId=" + strings.Join(ids, ",") // without the callbacks, whose bodies are others
	for _, list := range []struct {
		path  string
		texts bool // bodies are shown as text if they are
	}{
		{"/v2/dlq?" + named, true},
		{"/v2/events?" + named, false},
		{"/v2/logs?" + named, false},
		{"/v2/events?groupBy=messageId&" + named, false},
		{"/v2/logs?groupBy=messageId&" + named, false},
	} {
		for _, c := range []struct {
			trim      string
			of, ofRaw string // what is left of the bodies
			answer    string
		}{
			{"", text, raw, "answer"},
			{"&trimBody=-1", text, raw, "answer"},
			{"&trimBody=1000", text, raw, "answer"},
			{"&trimBody=4", text[:4], raw[:4], "answ"},
			{"&trimBody=0", "", "", ""},
		} {
			got := map[string]bool{}
			bodiesIn(p.object(p.want(200, "", "GET", list.path+c.trim, "")), got)
			want := map[string]bool{coded(c.ofRaw): true, c.of: true, c.answer: true}
			if !list.texts {
				want = map[string]bool{coded(c.ofRaw): true, coded(c.of): true, coded(c.answer): true}
			}
			delete(want, "")
			if got, want := fmt.Sprint(got), fmt.Sprint(want); got != want {
				t.Errorf("%s%s shows %s, want %s", list.path, c.trim, got, want)
			}
		}
		for _, wrong := range []string{"x", "-2", "1.5", "", "99999999999"} {
			p.want(400, `{"error":"invalid trimBody \"`+wrong+`\": expected a number of bytes, or -1 for all"}`, "GET", list.path+"&trimBody="+wrong, "")
		}
	}
	for method, path := range map[string]string{"DELETE": "/v2/dlq", "POST": "/v2/dlq/retry"} {
		p.want(400, `{"error":"unknown filter \"trimBody\""}`, method, path+"?trimBody=0", "")
	}
}

// bodiesIn collects the values of all members that hold bodies.
func bodiesIn(v any, all map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			bodiesIn(one, all)
		}
	case map[string]any:
		for name, one := range v {
			if text, ok := one.(string); ok && text != "" && strings.Contains(strings.ToLower(name), "body") {
				all[text] = true
			}
			bodiesIn(one, all)
		}
	}
}

// TestLogsByMessage: the reference's tool server reads the events of messages as messages, grouped or of one message.
func TestLogsByMessage(t *testing.T) {
	p := startOffice(t)
	ids := []string{p.publish("/ok", "x"), p.publish("/ok", "x")}
	p.until("/v2/events?state=delivered", long("events", len(ids)))
	for path, want := range map[string]int{
		"/v2/logs?trimBody=0&groupBy=messageId":                         2,
		"/v2/events?trimBody=0&groupBy=messageId":                       2,
		"/v2/logs?messageId=" + ids[0]:                                  1,
		"/v2/logs?messageIds=" + ids[0] + "," + ids[1]:                  2,
		"/v2/logs?messageId=none":                                       0,
		"/v2/logs?trimBody=0&groupBy=messageId&messageId=none":          0,
		"/v2/logs?trimBody=0&groupBy=messageId&state=DELIVERED&count=1": 1,
	} {
		answer := p.object(p.want(200, "", "GET", path, ""))
		list := listOf(answer, "messages")
		if answer["messages"] == nil || len(list) != want {
			t.Errorf("%s: %v", path, answer)
		}
		for _, m := range list {
			events := listOf(m, "events")
			if len(events) != 3 || events[0]["state"] != "DELIVERED" || events[2]["state"] != "CREATED" || events[0]["messageId"] != m["messageId"] {
				t.Errorf("%s: %v", path, m)
			}
		}
	}
	if all := p.object(p.want(200, "", "GET", "/v2/logs", "")); all["messages"] != nil || !long("logs", 6)(all) {
		t.Error("a list that names no message shows its events twice, not three times:", all)
	}
}
