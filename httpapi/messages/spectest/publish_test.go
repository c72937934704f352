package spectest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// group makes a URL group of some URLs and returns its name.
func (w *world) group(t testing.TB, urls ...string) string {
	t.Helper()
	name := w.name()
	var list []map[string]string
	for _, u := range urls {
		list = append(list, map[string]string{"url": u})
	}
	w.ask(t, "POST", "/v2/topics/"+name+"/endpoints", `{"endpoints":`+text(list)+`}`).is(t, 200, "")
	return name
}

var published = []claim{
	{"MS-P.1", func(t *testing.T, w *world) {
		v := w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "").object(t)
		if len(v) != 1 || !strings.HasPrefix(v.text("messageId"), "msg_") {
			t.Error(v)
		}
	}},
	{"MS-P.2", func(t *testing.T, w *world) {
		to, once := w.to("ok"), "Svc-Deduplication-Id: "+w.name()
		id := w.publish(t, to, "", once)
		w.ask(t, "POST", "/v2/publish/"+to, "", once).is(t, 202, `{"messageId":"`+id+`","deduplicated":true}`)
		w.eventsOf(t, id, "DELIVERED")
		want(t, "deliveries", w.sink.times(to), 1)
	}},
	{"MS-P.3", func(t *testing.T, w *world) {
		a, b := w.to("ok"), w.to("ok")
		list := w.ask(t, "POST", "/v2/publish/"+w.group(t, a, b), "").list(t)
		want(t, "urls", list[0].text("url")+" "+list[1].text("url"), a+" "+b)
	}},
}

var destinations = []claim{
	{"MS-10.1", func(t *testing.T, w *world) {
		name := w.group(t, w.to("ok"))
		id := w.ask(t, "GET", "/v2/topics/"+name, "").object(t).text("id")
		for _, destination := range []string{name, id} {
			list := w.ask(t, "POST", "/v2/publish/"+destination, "", "Svc-Delay: 1h").list(t)
			want(t, "group", w.message(t, list[0].text("messageId")).text("topicName"), name)
		}
	}},
	{"MS-10.2", func(t *testing.T, w *world) {
		for _, destination := range []string{"http://a.example", "https://a.example/b//c?d=e%20f", "HTTPS://a.example/"} {
			want(t, "url", w.message(t, w.publish(t, destination, "", "Svc-Delay: 1h")).text("url"), destination)
		}
		for _, destination := range []string{"a.example/b", "ftp://a.example", "a.example:80"} {
			w.ask(t, "POST", "/v2/publish/"+destination, "").fails(t, 400, "invalid destination url: endpoint has invalid scheme, add http:// or https://")
		}
	}},
	{"MS-10.3", func(t *testing.T, w *world) {
		m := w.message(t, w.publish(t, "api/mine", "", "Svc-Delay: 1h"))
		want(t, "api", m.text("api"), "mine")
		want(t, "url", m.text("url"), w.sink.url+"/ok/mine")
		w.ask(t, "POST", "/v2/publish/api/other", "").fails(t, 400, "")
	}},
	{"MS-10.4", func(t *testing.T, w *world) {
		to := w.to("ok")
		body := "\x00\xff {\"a\": 1}\n"
		w.publish(t, to, body)
		want(t, "body", w.sink.arrived(t, to, 1)[0].body, body)
	}},
	{"MS-10.14", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/v2/publish/api/llm", "{}").fails(t, 400, "api/llm needs a callback: its answer would be lost")
		told := w.to("ok")
		before := w.sink.times(w.sink.url + "/ok/model")
		w.publish(t, "api/llm", `{"model":"m"}`, "Svc-Callback: "+told)
		asked := w.sink.arrived(t, w.sink.url+"/ok/model", before+1)[before]
		want(t, "the provider's token", asked.header.Get("Authorization"), "Bearer "+apiToken)
		want(t, "the answer", decoded(t, w.sink.arrived(t, told, 1)[0]).text("body"), "YW5zd2Vy")
	}},
}

// decoded returns the body of a callback.
func decoded(t testing.TB, d delivered) (v record) {
	t.Helper()
	if err := json.Unmarshal([]byte(d.body), &v); err != nil {
		t.Fatalf("callback %s: %v", d.body, err)
	}
	return v
}

var publishing = []claim{
	{"MS-10.5", func(t *testing.T, w *world) {
		with, without := w.to("ok"), w.to("ok")
		w.publish(t, with, "x", "Content-Type: text/x-mine")
		w.publish(t, without, "x")
		want(t, "type", w.sink.arrived(t, with, 1)[0].header.Get("Content-Type"), "text/x-mine")
		want(t, "type", w.sink.arrived(t, without, 1)[0].header.Get("Content-Type"), "")
	}},
	{"MS-10.6", func(t *testing.T, w *world) {
		for given, method := range map[string]string{"": "POST", "GET": "GET", "put": "PUT", "PATCH": "PATCH", "DELETE": "DELETE"} { // unordered: each by itself
			to := w.to("ok")
			w.publish(t, to, "body", "Svc-Method: "+given)
			got := w.sink.arrived(t, to, 1)[0]
			want(t, "method and body", got.method+got.body, method+"body")
		}
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Method: TRACE").fails(t, 400, "")
	}},
	{"MS-10.7", func(t *testing.T, w *world) {
		begin := time.Now()
		list := w.eventsOf(t, w.publish(t, w.to("hang"), "", "Svc-Timeout: 1s", "Svc-Retries: 0"), "FAILED")
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("an attempt of 1 s took %s", took)
		}
		want(t, "timeout", list[0].number("timeout"), 1000)
		want(t, "an error", list[2].has("error"), true)
	}},
	{"MS-10.8", func(t *testing.T, w *world) {
		for given, ms := range map[string]int64{"1s": 1000, "5m": 300_000, "2h": 7_200_000} { // unordered: each by itself
			id := w.waits(t, "Svc-Timeout: "+given)
			want(t, given, w.eventsOf(t, id, "CREATED")[0].number("timeout"), ms)
		}
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Timeout: soon").fails(t, 400, "")
	}},
	{"MS-10.9", func(t *testing.T, w *world) {
		want(t, "by default", w.message(t, w.waits(t)).number("maxRetries"), 3)
		want(t, "given", w.message(t, w.waits(t, "Svc-Retries: 0")).number("maxRetries"), 0)
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Retries: -1").fails(t, 400, "")
	}},
	{"MS-10.10", func(t *testing.T, w *world) {
		to := w.to("500")
		w.eventsOf(t, w.publish(t, to, "", "Svc-Retries: 2", "Svc-Retry-Delay: 1"), "FAILED")
		want(t, "deliveries", w.sink.times(to), 3)
	}},
	{"MS-10.11", func(t *testing.T, w *world) {
		for given, ms := range map[string]int64{ // unordered: each by itself
			"3600000": 3_600_000, "pow(60, 2) * 1000": 3_600_000, "3600000 + retried": 3_600_000, "sqrt(4) * 1800000": 3_600_000, "abs(-3600000)": 3_600_000,
			"exp(0) * 3600000": 3_600_000, "floor(3600000.9)": 3_600_000, "ceil(3599999.1)": 3_600_000, "round(3600000.4)": 3_600_000,
			"min(3600000, 4000000)": 3_600_000, "max(1, 3600000)": 3_600_000,
		} {
			list := w.eventsOf(t, w.publish(t, w.to("500"), "", "Svc-Retry-Delay: "+given), "RETRY")
			last := list[len(list)-1]
			want(t, given, last.number("nextDeliveryTime")-last.number("time"), ms)
			want(t, "the expression", last.text("retryDelayExpression"), given)
		}
		for _, bad := range []string{"retries", "1 +", "sin(1)", "pow(1)"} {
			w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Retry-Delay: "+bad).fails(t, 400, "")
		}
	}},
	{"MS-10.12", func(t *testing.T, w *world) {
		to := w.to("ok")
		w.publish(t, to, "", "Svc-Forward-X-Mine: one", "Upstash-Forward-X-Other: two")
		got := w.sink.arrived(t, to, 1)[0].header
		want(t, "forwarded", got.Get("X-Mine")+" "+got.Get("X-Other"), "one two")
		want(t, "with the prefix", got.Get("Svc-Forward-X-Mine")+got.Get("Upstash-Forward-X-Other"), "")
	}},
	{"MS-10.23", func(t *testing.T, w *world) {
		to, once := w.to("ok"), "Svc-Deduplication-Id: "+w.name()
		first := w.publish(t, to, "a", once)
		for _, other := range []string{to, w.to("ok")} { // the id counts, not the destination
			want(t, "again", w.ask(t, "POST", "/v2/publish/"+other, "b", once).object(t).text("messageId"), first)
		}
	}},
	{"MS-10.24", func(t *testing.T, w *world) {
		to := w.to("ok")
		first := w.publish(t, to, "a", "Svc-Content-Based-Deduplication: true", "Svc-Forward-A: 1")
		w.ask(t, "POST", "/v2/publish/"+to, "a", "Svc-Content-Based-Deduplication: True", "Svc-Forward-A: 1").is(t, 202, `{"messageId":"`+first+`","deduplicated":true}`)
		for _, other := range [][]string{{to, "b", "1"}, {w.to("ok"), "a", "1"}, {to, "a", "2"}} {
			if id := w.publish(t, other[0], other[1], "Svc-Content-Based-Deduplication: true", "Svc-Forward-A: "+other[2]); id == first {
				t.Errorf("%v is a duplicate", other)
			}
		}
		if id := w.publish(t, to, "a", "Svc-Forward-A: 1"); id == first {
			t.Error("deduplicated without being asked to")
		}
	}},
	{"MS-10.27", func(t *testing.T, w *world) {
		for _, destination := range []string{w.to("ok"), "api/mine"} {
			w.ask(t, "POST", "/v2/publish/"+destination, "").object(t)
		}
	}},
	{"MS-10.28", func(t *testing.T, w *world) {
		a, b := w.to("ok"), w.to("ok")
		list := w.ask(t, "POST", "/v2/publish/"+w.group(t, a, b), "x").list(t)
		want(t, "elements", len(list), 2)
		for i, to := range []string{a, b} {
			want(t, "url", list[i].text("url"), to)
			want(t, "message", w.sink.arrived(t, to, 1)[0].header.Get("Upstash-Message-Id"), list[i].text("messageId"))
		}
	}},
}

var callbacks = []claim{
	{"MS-10.13", func(t *testing.T, w *world) {
		told := w.to("ok")
		w.publish(t, w.to("fail1"), "x", "Svc-Callback: "+told, "Svc-Retry-Delay: 1")
		got := w.sink.arrived(t, told, 2)
		seen := map[int64]bool{decoded(t, got[0]).number("status"): true, decoded(t, got[1]).number("status"): true}
		if !seen[200] || !seen[503] {
			t.Errorf("told %v", seen)
		}
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Callback: nowhere").fails(t, 400, "")
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Callback: ftp://a.example").fails(t, 400, "")
	}},
	{"MS-10.15", func(t *testing.T, w *world) {
		told := w.to("500")
		w.publish(t, w.to("ok"), "", "Svc-Callback: "+told, "Svc-Callback-Method: PUT", "Svc-Callback-Retries: 1", "Svc-Callback-Retry-Delay: 1", "Svc-Callback-Timeout: 7s",
			"Svc-Callback-Delay: 1s", "Svc-Callback-Nonsense: x")
		got := w.sink.arrived(t, told, 2)
		want(t, "method", got[0].method, "PUT")
		list := w.eventsOf(t, got[0].header.Get("Upstash-Message-Id"), "FAILED")
		want(t, "its life", stateNames(list), "CREATED ACTIVE ERROR RETRY ACTIVE ERROR FAILED")
		want(t, "timeout", list[0].number("timeout"), 7000)
		if wait := list[1].number("time") - list[0].number("time"); wait < 1000 {
			t.Errorf("sent after %d ms", wait)
		}
	}},
	{"MS-10.16", func(t *testing.T, w *world) {
		told := w.to("ok")
		w.publish(t, w.to("ok"), "", "Svc-Callback: "+told, "Svc-Callback-Forward-X-Mine: m")
		got := w.sink.arrived(t, told, 1)[0].header
		want(t, "forwarded", got.Get("X-Mine"), "m")
		want(t, "with the prefix", got.Get("Svc-Callback-Forward-X-Mine"), "")
	}},
	{"MS-10.17", func(t *testing.T, w *world) {
		failed, fine := w.to("ok"), w.to("ok")
		w.publish(t, w.to("500"), "", "Svc-Failure-Callback: "+failed, "Svc-Retries: 1", "Svc-Retry-Delay: 1")
		v := decoded(t, w.sink.arrived(t, failed, 1)[0])
		want(t, "retried", v.number("retried"), 1)
		want(t, "a dead letter", v.has("dlqId"), true)
		w.eventsOf(t, w.publish(t, w.to("fail1"), "", "Svc-Failure-Callback: "+fine, "Svc-Retry-Delay: 1"), "DELIVERED")
		want(t, "calls for what was delivered", w.sink.times(fine), 0)
	}},
	{"MS-10.18", func(t *testing.T, w *world) {
		failed := w.to("500")
		w.publish(t, w.to("500"), "", "Svc-Retries: 0", "Svc-Failure-Callback: "+failed, "Svc-Failure-Callback-Method: PATCH", "Svc-Failure-Callback-Retries: 1",
			"Svc-Failure-Callback-Retry-Delay: 1", "Svc-Failure-Callback-Timeout: 8s")
		got := w.sink.arrived(t, failed, 2)
		want(t, "method", got[1].method, "PATCH")
		want(t, "timeout", w.eventsOf(t, got[0].header.Get("Upstash-Message-Id"), "FAILED")[0].number("timeout"), 8000)
	}},
	{"MS-10.19", func(t *testing.T, w *world) {
		failed := w.to("ok")
		w.publish(t, w.to("500"), "", "Svc-Retries: 0", "Svc-Failure-Callback: "+failed, "Svc-Failure-Callback-Forward-X-Mine: m")
		want(t, "forwarded", w.sink.arrived(t, failed, 1)[0].header.Get("X-Mine"), "m")
	}},
	{"MS-10.26", func(t *testing.T, w *world) {
		told, failed := w.to("ok"), w.to("ok")
		w.publish(t, w.to("500"), "", "Svc-Retries: 0", "Svc-Callback: "+told, "Svc-Failure-Callback: "+failed)
		for _, path := range []string{told, failed} {
			id := w.sink.arrived(t, path, 1)[0].header.Get("Upstash-Message-Id")
			want(t, "retries", w.message(t, id).number("maxRetries"), 0)
		}
	}},
	{"MP-16.1", func(t *testing.T, w *world) {
		told := w.to("ok")
		id := w.publish(t, w.to("ok"), "sent", "Svc-Callback: "+told, "Svc-Forward-A: b", "Svc-Method: PUT")
		got := w.sink.arrived(t, told, 1)[0]
		v := decoded(t, got)
		want(t, "method and type", got.method+" "+got.header.Get("Content-Type"), "POST application/json")
		want(t, "status", v.number("status"), 200)
		want(t, "header", text(v.in("header")["X-Answer"]), `["one","two"]`)
		want(t, "body", v.text("body"), base64.StdEncoding.EncodeToString([]byte("answer")))
		want(t, "retried on the first attempt", v.has("retried"), false)
		want(t, "maxRetries", v.number("maxRetries"), 3)
		want(t, "source", v.text("sourceMessageId"), id)
		want(t, "source's method", v.text("method"), "PUT")
		want(t, "source's header", text(v["sourceHeader"]), `{"A":["b"]}`)
		want(t, "source's body", v.text("sourceBody"), base64.StdEncoding.EncodeToString([]byte("sent")))
		want(t, "times", v.number("notBefore"), v.number("createdAt"))
		want(t, "caller", v.text("callerIP"), "127.0.0.1")
		want(t, "a dead letter", v.has("dlqId"), false)
		if own := got.header.Get("Upstash-Message-Id"); own == "" || own == id || got.header.Get("Upstash-Signature") == "" {
			t.Errorf("the callback's own id is %q", own)
		}
	}},
	{"MP-16.2", func(t *testing.T, w *world) {
		told := w.to("ok")
		group := w.group(t, w.to("ok"))
		w.ask(t, "POST", "/v2/publish/"+group, "", "Svc-Callback: "+told)
		want(t, "group", decoded(t, w.sink.arrived(t, told, 1)[0]).text("topicName"), group)
	}},
}

var times = []claim{
	{"MS-10.20", func(t *testing.T, w *world) {
		for given, ms := range map[string]int64{"50s": 50_000, "10m": 600_000, "3h": 10_800_000, "2d": 172_800_000, "1d10h30m": 124_200_000, "1h30m3s": 5_403_000, "70": 70_000} { // unordered: each by itself
			m := w.message(t, w.publish(t, w.to("ok"), "", "Svc-Delay: "+given))
			want(t, given, m.number("notBefore")-m.number("createdAt"), ms)
		}
		for _, bad := range []string{"soon", "5w", "-1s", "1.5s"} {
			w.ask(t, "POST", "/v2/publish/"+w.to("ok"), "", "Svc-Delay: "+bad).fails(t, 400, "")
		}
		to := w.to("ok")
		begin := time.Now()
		w.publish(t, to, "", "Svc-Delay: 1s")
		if early := w.sink.arrived(t, to, 1)[0].at.Sub(begin); early < time.Second {
			t.Errorf("delivered after %s", early)
		}
	}},
	{"MS-10.21", func(t *testing.T, w *world) {
		at := time.Now().Add(time.Hour).Unix()
		want(t, "not before", w.message(t, w.publish(t, w.to("ok"), "", fmt.Sprintf("Svc-Not-Before: %d", at))).number("notBefore"), at*1000)
		past := w.to("ok")
		w.publish(t, past, "", "Svc-Not-Before: 1000000000")
		w.sink.arrived(t, past, 1)
		w.ask(t, "POST", "/v2/publish/"+past, "", "Svc-Not-Before: tomorrow").fails(t, 400, "")
	}},
	{"MS-10.22", func(t *testing.T, w *world) {
		at := time.Now().Add(2 * time.Hour).Unix()
		want(t, "not before", w.message(t, w.publish(t, w.to("ok"), "", fmt.Sprintf("Svc-Not-Before: %d", at), "Svc-Delay: 1h")).number("notBefore"), at*1000)
	}},
	{"MS-10.25", func(t *testing.T, w *world) {
		list := w.eventsOf(t, w.publish(t, w.to("500"), ""), "RETRY")
		last := list[len(list)-1]
		want(t, "the first wait, e^0 s", last.number("nextDeliveryTime")-last.number("time"), 1000)
	}},
}
