package spectest

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var intro = []claim{
	{"MS-I.1", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/v2/keys", "").object(t)
		if a := w.ask(t, "GET", "/keys", ""); a.status == 200 {
			t.Errorf("%+v", a)
		}
	}},
	{"MS-I.2", func(t *testing.T, w *world) {
		id := w.publish(t, w.to("ok"), "", "Svc-Delay: 1h", "svc-label: a", "UPSTASH-RETRIES: 2")
		m := w.message(t, id)
		want(t, "label", m.text("label"), "a")
		want(t, "retries", m.number("maxRetries"), 2)
		// Of two different values the one of existing clients wins.
		id = w.publish(t, w.to("ok"), "", "Svc-Delay: 1h", "Svc-Retries: 1", "Upstash-Retries: 2")
		want(t, "retries", w.message(t, id).number("maxRetries"), 2)
	}},
	{"MS-S.1", func(t *testing.T, w *world) {
		single := w.to("ok")
		w.publish(t, single, "x")
		w.sink.arrived(t, single, 1)
		group, member := w.name(), w.to("ok")
		w.ask(t, "POST", "/v2/topics/"+group+"/endpoints", `{"endpoints":[{"url":"`+member+`"}]}`).is(t, 200, "")
		w.ask(t, "POST", "/v2/publish/"+group, "x").list(t)
		w.sink.arrived(t, member, 1)
		before := w.sink.times(w.sink.url + "/ok/mine")
		w.publish(t, "api/mine", "x")
		w.sink.arrived(t, w.sink.url+"/ok/mine", before+1)
	}},
	{"MS-S.2", func(t *testing.T, w *world) {
		to, told := w.to("fail1"), w.to("ok")
		id := w.publish(t, to, "x", "Svc-Delay: 1s", "Svc-Retries: 1", "Svc-Retry-Delay: 10", "Svc-Callback: "+told, "Svc-Deduplication-Id: "+w.name())
		w.sink.arrived(t, told, 2)
		want(t, "its life", stateNames(w.eventsOf(t, id, "DELIVERED")), "CREATED ACTIVE ERROR RETRY ACTIVE DELIVERED")
	}},
	{"MS-S.4", func(t *testing.T, w *world) {
		id := w.publish(t, w.to("ok"), "", "Svc-Delay: 1h")
		want(t, "events", len(w.ask(t, "GET", "/v2/events?messageId="+id, "").object(t).list("events")), 1)
		logs := w.ask(t, "GET", "/v2/logs?messageId="+id, "").object(t)
		want(t, "logs", len(logs.list("logs")), 1)
		want(t, "their events", len(logs.list("events")), 1)
	}},
	{"MS-S.5", func(t *testing.T, w *world) {
		before := w.ask(t, "GET", "/v2/keys", "").object(t)
		after := w.ask(t, "POST", "/v2/keys/rotate", "").object(t)
		want(t, "current", after.text("current"), before.text("next"))
		want(t, "keys", w.ask(t, "GET", "/v2/keys", "").object(t).text("next"), after.text("next"))
	}},
	{"MS-A.1", func(t *testing.T, w *world) {
		for _, token := range []string{"", "nonsense", httpapitest.Token} {
			for _, op := range w.described.Operations() {
				// A webhook's path is its credential.
				if strings.HasSuffix(op.Path, "/openapi.yaml") || strings.Contains(op.Path, "/workflows/hooks/") {
					continue
				}
				target := strings.NewReplacer("{", "", "}", "").Replace(op.Path)
				w.ask(t, op.Method, target, "", "Authorization: "+token).fails(t, 401, "unable to authenticate: invalid token")
			}
		}
	}},
	{"MS-N.1", func(t *testing.T, w *world) {
		for _, op := range w.described.Operations() {
			if !strings.HasPrefix(op.Path, "/v2/") && op.Path != "/llm/v1/chat/completions" {
				t.Error(op.Path)
			}
		}
	}},
	{"MS-N.2", func(t *testing.T, w *world) {
		if v := w.ask(t, "GET", "/v2/events?count=1", "").object(t); !v.has("events") || v.has("logs") {
			t.Error(v)
		}
	}},
}

var keyForm = regexp.MustCompile(`^sig_[0-9A-Za-z]{22,40}$`)

var keys = []claim{
	{"MS-K.1", func(t *testing.T, w *world) {
		k := w.ask(t, "GET", "/v2/keys", "").object(t)
		if len(k) != 2 || !keyForm.MatchString(k.text("current")) || !keyForm.MatchString(k.text("next")) {
			t.Error(k)
		}
	}},
	{"MS-1.1", func(t *testing.T, w *world) {
		first := w.ask(t, "GET", "/v2/keys", "").object(t)
		second := w.ask(t, "GET", "/v2/keys/", "").object(t)
		want(t, "current", second.text("current"), first.text("current"))
		w.ask(t, "POST", "/v2/keys", "").fails(t, 405, "")
	}},
	{"MS-2.1", func(t *testing.T, w *world) {
		for _, method := range []string{"POST", "GET"} { // the reference's description has both
			next := w.ask(t, "GET", "/v2/keys", "").object(t).text("next")
			k := w.ask(t, method, "/v2/keys/rotate", "").object(t)
			if len(k) != 2 || k.text("current") != next || !keyForm.MatchString(k.text("next")) || k.text("next") == next {
				t.Error(method, k)
			}
		}
		w.ask(t, "PUT", "/v2/keys/rotate", "").fails(t, 405, "")
	}},
}

var deadLetters = []claim{
	{"MS-D.1", func(t *testing.T, w *world) {
		id := w.publish(t, w.to("500"), "", "Svc-Retries: 0")
		d := w.deadLetterOf(t, id)
		want(t, "message", d.text("messageId"), id)
		want(t, "the entry", w.ask(t, "GET", "/v2/dlq/"+d.text("dlqId"), "").object(t).text("dlqId"), d.text("dlqId"))
	}},
	{"MS-D.2", func(t *testing.T, w *world) {
		to := w.to("500") + "?x=1"
		d := w.deadLetter(t, to, "", "Svc-Method: PATCH")
		want(t, "url", d.text("url"), to)
		want(t, "method", d.text("method"), "PATCH")
	}},
	{"MS-D.3", func(t *testing.T, w *world) {
		d := w.deadLetter(t, w.to("500"), "x", "Content-Type: text/a", "Svc-Forward-X-Two: 1", "Svc-Forward-X-Two: 2")
		want(t, "header", text(d["header"]), `{"Content-Type":["text/a"],"X-Two":["1","2"]}`)
	}},
	{"MS-D.4", func(t *testing.T, w *world) {
		d := w.deadLetter(t, w.to("500"), "grüße")
		want(t, "body", d.text("body"), "grüße")
		want(t, "in base64", d.has("bodyBase64"), false)
	}},
	{"MS-D.5", func(t *testing.T, w *world) {
		d := w.deadLetter(t, w.to("500"), "\xff\xfe")
		want(t, "in base64", d.text("bodyBase64"), base64.StdEncoding.EncodeToString([]byte("\xff\xfe")))
		want(t, "body", d.has("body"), false)
	}},
	{"MS-D.6", func(t *testing.T, w *world) {
		d := w.deadLetter(t, w.to("500"), "", "Svc-Delay: 1s")
		want(t, "retries", d.number("maxRetries"), 0)
		want(t, "the delay", d.number("notBefore")-d.number("createdAt"), 1000)
	}},
	{"MS-D.7", func(t *testing.T, w *world) {
		told := w.to("ok")
		d := w.deadLetter(t, w.to("500"), "", "Svc-Failure-Callback: "+told, "Svc-Failure-Callback-Forward-X-Mine: m")
		want(t, "callback", d.text("failureCallback"), told)
		want(t, "its header", text(d["failureCallbackHeader"]), `{"X-Mine":["m"]}`)
		plain := w.deadLetter(t, w.to("500"), "")
		want(t, "a callback that was not set", plain.has("failureCallback") || plain.has("failureCallbackInfo"), false)
	}},
	{"MS-D.8", func(t *testing.T, w *world) {
		want(t, "caller", w.deadLetter(t, w.to("500"), "").text("callerIP"), "127.0.0.1")
	}},
	{"MS-D.10", func(t *testing.T, w *world) {
		key := w.name()
		d := w.deadLetter(t, w.to("500"), "", "Svc-Flow-Control-Key: "+key, "Svc-Flow-Control-Value: rate=7, parallelism=2, period=1m")
		want(t, "key", d.text("flowControlKey"), key)
		want(t, "limits", []int64{d.number("rate"), d.number("parallelism"), d.number("period")}[2], 60)
		want(t, "rate", d.number("rate"), 7)
		want(t, "parallelism", d.number("parallelism"), 2)
		want(t, "without", w.deadLetter(t, w.to("500"), "").has("period"), false)
	}},
	{"MS-D.11", func(t *testing.T, w *world) {
		d := w.deadLetter(t, w.to("418"), "")
		want(t, "status", d.number("responseStatus"), 418)
		want(t, "header", text(d.in("responseHeader")["X-Answer"]), `["one","two"]`)
		none := w.deadLetter(t, "http://127.0.0.1:1/", "")
		want(t, "status without an answer", none.number("responseStatus"), 0)
		want(t, "a reason", none.has("error"), true)
	}},
	{"MS-D.12", func(t *testing.T, w *world) {
		want(t, "body", w.deadLetter(t, w.to("500"), "").text("responseBody"), "answer")
		d := w.deadLetter(t, w.to("binary"), "")
		want(t, "body in base64", d.text("responseBodyBase64"), base64.StdEncoding.EncodeToString([]byte{0xff, 0xfe, 0}))
		want(t, "body", d.has("responseBody"), false)
	}},
	{"MS-D.13", func(t *testing.T, w *world) {
		for _, c := range []struct {
			path, state string
			status      int64
		}{{"ok", "CALLBACK_SUCCESS", 200}, {"503", "CALLBACK_FAIL", 503}} {
			d := w.deadLetter(t, w.to("500"), "", "Svc-Failure-Callback: "+w.to(c.path))
			info := w.until(t, "/v2/dlq/"+d.text("dlqId"), func(v record) bool {
				return v.in("failureCallbackInfo").text("state") != "CALLBACK_INPROGRESS"
			}).in("failureCallbackInfo")
			want(t, "state", info.text("state"), c.state)
			want(t, "status", info.number("responseStatus"), c.status)
			want(t, "body", info.text("responseBody"), "answer")
			want(t, "header", text(info.in("responseHeaders")["X-Answer"]), `["one","two"]`)
		}
	}},
	{"MS-3.1", func(t *testing.T, w *world) {
		d := w.deadLetter(t, w.to("500"), "x")
		want(t, "entry", text(w.ask(t, "GET", "/v2/dlq/"+d.text("dlqId"), "").object(t)), text(d))
	}},
	{"MS-3.2", func(t *testing.T, w *world) {
		id := w.deadLetter(t, w.to("500"), "x").text("dlqId")
		w.ask(t, "DELETE", "/v2/dlq/"+id, "").is(t, 200, "")
		w.ask(t, "GET", "/v2/dlq/"+id, "").fails(t, 404, "dlq message "+id+" not found")
		w.ask(t, "GET", "/v2/dlq/nonsense", "").fails(t, 404, "dlq message nonsense not found")
	}},
	{"MS-4.1", func(t *testing.T, w *world) {
		w.ask(t, "DELETE", "/v2/dlq/"+w.deadLetter(t, w.to("500"), "x").text("dlqId"), "").is(t, 200, "")
	}},
	{"MS-4.2", func(t *testing.T, w *world) {
		id := w.deadLetter(t, w.to("500"), "x").text("dlqId")
		w.ask(t, "POST", "/v2/dlq/retry/"+id, "", "Svc-Delay: 1h")
		w.ask(t, "DELETE", "/v2/dlq/"+id, "").fails(t, 404, "dlq message "+id+" not found")
	}},
	{"MS-X.1", func(t *testing.T, w *world) {
		for _, method := range []string{"GET", "DELETE"} {
			w.ask(t, method, "/v2/dlq/1-1", "").fails(t, 404, "dlq message 1-1 not found")
		}
	}},
	{"MS-X.2", func(t *testing.T, w *world) {
		d := w.deadLetter(t, w.to("500"), "", "Svc-Failure-Callback: "+w.to("429"), "Svc-Failure-Callback-Retries: 0")
		info := w.until(t, "/v2/dlq/"+d.text("dlqId"), func(v record) bool {
			return v.in("failureCallbackInfo").text("state") == "CALLBACK_FAIL"
		}).in("failureCallbackInfo")
		want(t, "status", info.number("responseStatus"), 429)
		want(t, "header", info.in("responseHeaders").has("X-Answer"), true)
	}},
}
