package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestMessagesAsTheyAre: groupBy=message lists messages, each once, with its state and how its last attempt went.
func TestMessagesAsTheyAre(t *testing.T) {
	p := startOffice(t)
	good, waits := p.publish("/ok", "x", "Svc-Label", "mine"), p.publish("/ok", "x", "Svc-Delay", "1h")
	bad, retries := p.publish("/bad", "x", "Svc-Retries", "0"), p.publish("/bad", "x", "Svc-Retries", "5", "Svc-Retry-Delay", "3600000")
	p.until("/v2/events?state=FAILED", long("events", 1))
	p.until("/v2/events?state=RETRY", long("events", 1))
	p.until("/v2/events?state=DELIVERED", long("events", 1))
	list := listOf(p.object(p.want(200, "", "GET", "/v2/events?groupBy=message&count=50", "")), "messages")
	if len(list) != 4 {
		t.Fatal(list)
	}
	of := map[string]map[string]any{}
	for _, m := range list {
		of[m["messageId"].(string)] = m
	}
	for id, want := range map[string]string{
		good: "DELIVERED 1 <nil> [mine]", waits: "CREATED 0 <nil> <nil>", bad: "FAILED 1 500 <nil>", retries: "RETRY 1 500 <nil>",
	} {
		m := of[id]
		if got := fmt.Sprint(m["state"], " ", m["attempts"], " ", m["responseStatus"], " ", m["labels"]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if took, ended := m["attemptMs"].(float64); ended != (id != waits) || took < 0 || m["createdAt"].(float64) > m["time"].(float64) {
			t.Error(m)
		}
	}
	next, _ := of[retries]["nextDeliveryTime"].(float64)
	if at := of[retries]["time"].(float64); next < at+3_500_000 {
		t.Errorf("the next attempt is at %v, the last event was at %v", next, at)
	}
	answer, err := base64.StdEncoding.DecodeString(of[bad]["responseBody"].(string))
	whole := listOf(p.object(p.want(200, "", "GET", "/v2/events?groupBy=message&trimBody=-1&messageIds="+bad, "")), "messages")[0]
	cut := listOf(p.object(p.want(200, "", "GET", "/v2/events?groupBy=message&trimBody=1&state=FAILED", "")), "messages")[0]
	if err != nil || len(answer) == 0 || whole["responseBody"] != of[bad]["responseBody"] || len(cut["responseBody"].(string)) != 4 {
		t.Error(whole, cut)
	}
	if list := listOf(p.object(p.want(200, "", "GET", "/v2/events?groupBy=message&label=mine", "")), "messages"); len(list) != 1 || list[0]["messageId"] != good {
		t.Error(list)
	}
}

// TestEventsByTime: groupBy=time counts what a list of the same filters has, in spans that begin at multiples of their length.
func TestEventsByTime(t *testing.T) {
	p := startOffice(t)
	for i := range 5 {
		p.publish("/ok", "x", "Svc-Label", fmt.Sprint("l", i%2))
	}
	p.until("/v2/events?state=DELIVERED", long("events", 5))
	for _, query := range []string{"", "&span=1", "&span=60000", "&label=l1", "&label=l1&state=delivered,created", "&label=none", "&messageIds=none"} {
		filter := strings.Join(strings.FieldsFunc(query, func(r rune) bool { return r == '&' }), "&")
		filter = strings.TrimPrefix(strings.TrimPrefix(filter, "span=60000"), "span=1")
		want := map[string]float64{}
		for _, e := range listOf(p.object(p.want(200, "", "GET", "/v2/events?"+filter, "")), "events") {
			want[e["state"].(string)]++
		}
		answer := p.object(p.want(200, "", "GET", "/v2/events?groupBy=time&order=earliestFirst"+query, ""))
		got, before, span := map[string]float64{}, -1.0, answer["span"].(float64)
		for _, g := range listOf(answer, "groups") {
			at := g["time"].(float64)
			if at <= before || int64(at)%int64(span) != 0 || at+span <= answer["from"].(float64) || at > answer["to"].(float64) {
				t.Errorf("%s: a group at %v: %v", query, at, answer)
			}
			before = at
			for state, n := range g["counts"].(map[string]any) {
				got[state] += n.(float64)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || answer["cursor"] != nil {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"groupBy=time&span=0": "invalid span",
		"groupBy=time&fromDate=1000000&toDate=3000000&span=1": "too short",
		"groupBy=time&fromDate=2000&toDate=1000":              "toDate is before fromDate",
		"span=1000":                                           "span is for groupBy=time alone",
	} {
		if answer := p.want(400, "", "GET", "/v2/events?"+query, ""); !strings.Contains(fmt.Sprint(answer), want) {
			t.Errorf("%s: %v", query, answer)
		}
	}
}
