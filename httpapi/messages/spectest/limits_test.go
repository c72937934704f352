package spectest

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

const asAdmin = "Authorization: Bearer " + httpapitest.AdminToken

// with changes settings until the claim ends.
func (w *world) with(t *testing.T, change string) {
	t.Helper()
	before := w.ask(t, "GET", "/admin/settings/messages", "", asAdmin)
	w.ask(t, "POST", "/admin/settings/messages", change, asAdmin).object(t)
	t.Cleanup(func() { w.ask(t, "POST", "/admin/settings/messages", before.body, asAdmin).is(t, 200, before.body) })
}

// over fails the test unless a publish with a header is refused because of a limit, and succeeds without it.
func (w *world) over(t *testing.T, limit, target, header string) {
	t.Helper()
	w.ask(t, "POST", target, "", header).fails(t, 412, "quota "+limit+" exceeded")
}

var limits = []claim{
	{"MS-L.1", func(t *testing.T, w *world) {
		v := w.ask(t, "GET", "/v2/events", "").object(t)
		if n := len(v.list("events")); n != 1000 || !v.has("cursor") {
			t.Errorf("a page has %d events", n)
		}
	}},
	{"MS-L.2", func(t *testing.T, w *world) {
		w.with(t, `{"defaultRetries":5}`)
		want(t, "retries of a paid tier", w.message(t, w.waits(t)).number("maxRetries"), 5)
	}},
	{"MS-L.3", func(t *testing.T, w *world) {
		to := w.to("500")
		w.eventsOf(t, w.publish(t, to, "", "Svc-Retry-Delay: 1"), "FAILED")
		want(t, "deliveries", w.sink.times(to), 1+3)
	}},
	{"MS-L.7", func(t *testing.T, w *world) {
		id := w.publish(t, w.to("ok"), "")
		w.eventsOf(t, id, "DELIVERED")
		d := w.deadLetter(t, w.to("500"), "")
		w.with(t, `{"eventRetentionMs":1,"dlqRetentionMs":1}`)
		w.until(t, "/v2/events?messageId="+id, func(v record) bool { return len(v.list("events")) == 0 })
		w.until(t, "/v2/dlq", func(v record) bool { return len(v.list("messages")) == 0 })
		w.ask(t, "GET", "/v2/dlq/"+d.text("dlqId"), "").fails(t, 404, "")
	}},
	{"MP-19.1", func(t *testing.T, w *world) {
		w.with(t, `{"maxMessageSize":10,"maxDelayMs":60000,"maxRetries":5,"maxParallelism":2}`)
		publish := "/v2/publish/" + w.to("ok")
		w.ask(t, "POST", publish, strings.Repeat("x", 11)).fails(t, 412, "quota maxMessageSize exceeded")
		w.over(t, "maxDelay", publish, "Svc-Delay: 61s")
		w.over(t, "maxRetries", publish, "Svc-Retries: 6")
		w.ask(t, "POST", publish, "", "Svc-Flow-Control-Key: "+w.name(), "Svc-Flow-Control-Value: parallelism=3").fails(t, 412, "quota maxParallelism exceeded")
		w.ask(t, "POST", "/v2/queues", `{"queueName":"`+w.name()+`","parallelism":3}`).fails(t, 412, "quota maxParallelism exceeded")
		w.ask(t, "POST", publish, strings.Repeat("x", 10), "Svc-Delay: 60s", "Svc-Retries: 5").object(t)
	}},
	{"MP-19.2", func(t *testing.T, w *world) {
		queue, group, schedule := w.name(), w.group(t, w.to("ok")), w.name()
		w.ask(t, "POST", "/v2/queues", `{"queueName":"`+queue+`"}`).is(t, 200, "")
		make := func(id string) answer {
			return w.ask(t, "POST", "/v2/schedules/"+w.to("ok"), "", "Svc-Cron: 0 0 1 1 *", "Svc-Schedule-Id: "+id)
		}
		make(schedule).object(t)
		w.with(t, `{"maxQueues":1,"maxSchedules":1,"maxTopics":1,"maxEndpointsPerTopic":1}`)
		w.ask(t, "POST", "/v2/queues", `{"queueName":"`+w.name()+`"}`).fails(t, 412, "quota maxQueues exceeded")
		w.over(t, "maxQueues", "/v2/publish/"+w.to("ok"), "Svc-Queue-Name: "+w.name())
		w.ask(t, "POST", "/v2/queues", `{"queueName":"`+queue+`","parallelism":2}`).is(t, 200, "") // that is there already
		make(w.name()).fails(t, 412, "quota maxSchedules exceeded")
		make(schedule).object(t)
		endpoint := `{"endpoints":[{"url":"` + w.to("ok") + `"}]}`
		w.ask(t, "POST", "/v2/topics/"+w.name()+"/endpoints", endpoint).fails(t, 412, "quota maxTopics exceeded")
		w.ask(t, "POST", "/v2/topics/"+group+"/endpoints", endpoint).fails(t, 412, "quota maxEndpointsPerTopic exceeded")
		w.ask(t, "DELETE", "/v2/schedules/"+schedule, "").is(t, 200, "")
	}},
	{"MP-19.3", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/v2/publish/"+w.to("ok"), strings.Repeat("x", maxBody+1)).fails(t, 413, "")
		w.ask(t, "POST", "/v2/batch", `[{"destination":"`+w.to("ok")+`","body":"`+strings.Repeat("x", maxBody+1)+`"}]`).fails(t, 413, "")
	}},
	{"MP-19.4", func(t *testing.T, w *world) {
		label := w.name() // the count of a cancellation is ignored
		w.waits(t, "Svc-Label: "+label)
		w.waits(t, "Svc-Label: "+label)
		w.ask(t, "DELETE", "/v2/messages?count=1&label="+label, "").is(t, 202, `{"cancelled":2}`)
	}},
	{"MP-6.1", func(t *testing.T, w *world) {
		to, once := w.to("ok"), "Svc-Deduplication-Id: "+w.name()
		w.with(t, `{"dedupWindowMs":1}`)
		first := w.publish(t, to, "", once)
		for {
			a := w.ask(t, "POST", "/v2/publish/"+to, "", once)
			if a.object(t).text("messageId") != first { // the window is over
				return
			}
		}
	}},
}
