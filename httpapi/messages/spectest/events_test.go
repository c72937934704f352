package spectest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// text returns a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// waits publishes a message that stays where it is.
func (w *world) waits(t testing.TB, header ...string) string {
	t.Helper()
	return w.publish(t, w.to("ok"), "", append(header, "Svc-Delay: 1h")...)
}

var events = []claim{
	{"MS-E.1", func(t *testing.T, w *world) {
		to := w.to("ok")
		id := w.publish(t, to, "")
		for _, v := range w.eventsOf(t, id, "DELIVERED") {
			if v.number("time") < time.Now().Add(-time.Minute).UnixMilli() || v.text("messageId") != id || v.text("url") != to {
				t.Error(v)
			}
		}
	}},
	{"MS-E.3", func(t *testing.T, w *world) {
		id := w.waits(t, "Content-Type: text/a", "Svc-Forward-A: 1", "Svc-Forward-A: 2")
		want(t, "header", text(w.eventsOf(t, id, "CREATED")[0]["header"]), `{"A":["1","2"],"Content-Type":["text/a"]}`)
	}},
	{"MS-E.4", func(t *testing.T, w *world) {
		id := w.publish(t, w.to("ok"), "plain", "Svc-Delay: 1h")
		want(t, "body", w.eventsOf(t, id, "CREATED")[0].text("body"), "cGxhaW4=")
	}},
}

var states = []claim{
	{"MS-T.1", func(t *testing.T, w *world) {
		want(t, "what waits", stateNames(w.eventsOf(t, w.waits(t), "CREATED")), "CREATED")
	}},
	{"MS-T.2", func(t *testing.T, w *world) {
		to := w.to("hang")
		id := w.publish(t, to, "", "Svc-Timeout: 20s")
		w.sink.arrived(t, to, 1)
		want(t, "what is being sent", stateNames(w.eventsOf(t, id, "ACTIVE")), "CREATED ACTIVE")
		w.ask(t, "DELETE", "/v2/messages/"+id, "").is(t, 202, `{"cancelled":1}`)
	}},
	{"MS-T.3", func(t *testing.T, w *world) {
		list := w.eventsOf(t, w.publish(t, w.to("500"), "", "Svc-Retry-Delay: 3600000"), "RETRY")
		want(t, "events", stateNames(list), "CREATED ACTIVE ERROR RETRY")
		last := list[len(list)-1]
		if in := last.number("nextDeliveryTime") - last.number("time"); in != 3_600_000 {
			t.Errorf("the next one is in %d ms", in)
		}
	}},
	{"MS-T.4", func(t *testing.T, w *world) {
		list := w.eventsOf(t, w.publish(t, w.to("500"), "", "Svc-Retries: 0"), "FAILED")
		want(t, "events", stateNames(list), "CREATED ACTIVE ERROR FAILED")
		want(t, "status", list[2].number("responseStatus"), 500)
		want(t, "body", list[2].text("responseBody"), "YW5zd2Vy")
	}},
	{"MS-T.5", func(t *testing.T, w *world) {
		label := w.name()
		id := w.publish(t, w.to("500"), "", "Svc-Label: "+label, "Svc-Retry-Delay: 3600000")
		w.eventsOf(t, id, "RETRY")
		list := w.ask(t, "GET", "/v2/events?state=IN_PROGRESS&order=earliestFirst&label="+label, "").object(t).list("events")
		want(t, "in progress", stateNames(list), "ACTIVE ERROR RETRY")
	}},
	{"MS-T.6", func(t *testing.T, w *world) {
		want(t, "events", stateNames(w.eventsOf(t, w.publish(t, w.to("ok"), ""), "DELIVERED")), "CREATED ACTIVE DELIVERED")
	}},
	{"MS-T.7", func(t *testing.T, w *world) {
		list := w.eventsOf(t, w.publish(t, w.to("500"), "", "Svc-Retries: 1", "Svc-Retry-Delay: 1"), "FAILED")
		want(t, "errored too often", stateNames(list), "CREATED ACTIVE ERROR RETRY ACTIVE ERROR FAILED")
		list = w.eventsOf(t, w.publish(t, w.to("never"), ""), "FAILED")
		want(t, "not to be repeated", stateNames(list), "CREATED ACTIVE ERROR FAILED")
	}},
	{"MS-T.8", func(t *testing.T, w *world) {
		to := w.to("hang")
		id := w.publish(t, to, "", "Svc-Timeout: 1s")
		w.sink.arrived(t, to, 1)
		w.ask(t, "DELETE", "/v2/messages/"+id, "").is(t, 202, `{"cancelled":1}`)
		want(t, "events", stateNames(w.eventsOf(t, id, "CANCELED")), "CREATED ACTIVE CANCEL_REQUESTED ERROR CANCELED")
	}},
	{"MS-T.9", func(t *testing.T, w *world) {
		id := w.waits(t)
		w.ask(t, "DELETE", "/v2/messages/"+id, "").is(t, 202, `{"cancelled":1}`)
		want(t, "events", stateNames(w.eventsOf(t, id, "CANCELED")), "CREATED CANCEL_REQUESTED CANCELED")
		for _, spelling := range []string{"CANCELED", "CANCELLED", "cancelled"} {
			want(t, spelling, len(w.ask(t, "GET", "/v2/events?messageId="+id+"&state="+spelling, "").object(t).list("events")), 1)
		}
	}},
	{"MS-T.10", func(t *testing.T, w *world) {
		slow := w.to("hang")
		d := w.deadLetter(t, w.to("500"), "", "Svc-Failure-Callback: "+slow, "Svc-Failure-Callback-Timeout: 20s")
		w.sink.arrived(t, slow, 1)
		want(t, "while it is called", d.in("failureCallbackInfo").text("state"), "CALLBACK_INPROGRESS")
	}},
}

// found returns the ids of the messages whose events a query chooses, each once, in order.
func (w *world) found(t testing.TB, query string) string {
	t.Helper()
	var all []string
	for _, v := range w.ask(t, "GET", "/v2/events?"+query, "").object(t).list("events") {
		if id := v.text("messageId"); len(all) == 0 || all[len(all)-1] != id {
			all = append(all, id)
		}
	}
	return strings.Join(all, " ")
}

var eventFilters = []claim{
	{"MS-9.1", func(t *testing.T, w *world) {
		label := w.name()
		a, b, c := w.waits(t, "Svc-Label: "+label), w.waits(t, "Svc-Label: "+label), w.waits(t, "Svc-Label: "+label)
		first := w.ask(t, "GET", "/v2/events?count=2&label="+label, "").object(t)
		second := w.ask(t, "GET", "/v2/events?count=2&label="+label+"&cursor="+first.text("cursor"), "").object(t)
		list := append(first.list("events"), second.list("events")...)
		if len(list) != 3 || list[0].text("messageId") != c || list[1].text("messageId") != b || list[2].text("messageId") != a || second.has("cursor") {
			t.Error(first, second)
		}
	}},
	{"MS-9.2", func(t *testing.T, w *world) {
		id := w.waits(t)
		want(t, "found", w.found(t, "messageId="+id), id)
		want(t, "found", w.found(t, "messageId=msg_none"), "")
	}},
	{"MS-9.3", func(t *testing.T, w *world) {
		label := w.name()
		id := w.publish(t, w.to("ok"), "", "Svc-Label: "+label)
		w.eventsOf(t, id, "DELIVERED")
		for _, state := range []string{"CREATED", "ACTIVE", "DELIVERED"} {
			list := w.ask(t, "GET", "/v2/events?label="+label+"&state="+state, "").object(t).list("events")
			want(t, "found", stateNames(list), state)
		}
		w.ask(t, "GET", "/v2/events?state=NONSENSE", "").fails(t, 400, "")
	}},
	{"MS-9.4", func(t *testing.T, w *world) {
		to := w.to("ok") + "?a=1,2&b=%20"
		id := w.publish(t, to, "", "Svc-Delay: 1h")
		want(t, "found", w.found(t, "url="+query(to)), id)
		want(t, "another", w.found(t, "url="+query(to+"x")), "")
	}},
	{"MS-9.5", func(t *testing.T, w *world) {
		group := w.name()
		w.ask(t, "POST", "/v2/topics/"+group+"/endpoints", `{"endpoints":[{"url":"`+w.to("ok")+`"}]}`).is(t, 200, "")
		id := w.ask(t, "POST", "/v2/publish/"+group, "", "Svc-Delay: 1h").list(t)[0].text("messageId")
		want(t, "found", w.found(t, "topicName="+group), id)
	}},
	{"MS-9.6", func(t *testing.T, w *world) {
		id := w.name()
		to := w.to("ok")
		w.ask(t, "POST", "/v2/schedules/"+to, "", "Svc-Cron: @every 1s", "Svc-Schedule-Id: "+id).is(t, 200, `{"scheduleId":"`+id+`"}`)
		got := w.sink.arrived(t, to, 1)[0]
		w.ask(t, "DELETE", "/v2/schedules/"+id, "").is(t, 200, "")
		if found := w.found(t, "scheduleId="+id); !strings.Contains(found, got.header.Get("Upstash-Message-Id")) {
			t.Errorf("found %s", found)
		}
	}},
	{"MS-9.7", func(t *testing.T, w *world) {
		queue := w.name()
		id := w.waits(t, "Svc-Queue-Name: "+queue)
		want(t, "found", w.found(t, "queueName="+queue), id)
	}},
	{"MS-9.8", func(t *testing.T, w *world) {
		id := w.waits(t)
		at := w.message(t, id).number("createdAt")
		want(t, "at its time", w.found(t, fmt.Sprintf("messageId=%s&fromDate=%d", id, at)), id)
		want(t, "later", w.found(t, fmt.Sprintf("messageId=%s&fromDate=%d", id, at+1)), "")
		w.ask(t, "GET", "/v2/events?fromDate=yesterday", "").fails(t, 400, "")
	}},
	{"MS-9.9", func(t *testing.T, w *world) {
		id := w.waits(t)
		at := w.message(t, id).number("createdAt")
		want(t, "at its time", w.found(t, fmt.Sprintf("messageId=%s&toDate=%d", id, at)), id)
		want(t, "before", w.found(t, fmt.Sprintf("messageId=%s&toDate=%d", id, at-1)), "")
	}},
	{"MS-9.10", func(t *testing.T, w *world) {
		label := w.name()
		items := make([]string, 1100)
		for i := range items {
			items[i] = `{"destination":"` + w.sink.url + `/ok","headers":{"Svc-Delay":"1h","Svc-Label":"` + label + `"}}`
		}
		w.ask(t, "POST", "/v2/batch", "["+strings.Join(items, ",")+"]").list(t)
		for _, query := range []string{"", "&count=1000", "&count=5000"} {
			want(t, "a page"+query, len(w.ask(t, "GET", "/v2/events?label="+label+query, "").object(t).list("events")), 1000)
		}
		w.ask(t, "DELETE", "/v2/messages?label="+label, "").is(t, 202, `{"cancelled":1100}`)
	}},
	{"MS-9.11", func(t *testing.T, w *world) {
		label := w.name()
		a, b := w.waits(t, "Svc-Label: "+label), w.waits(t, "Svc-Label: "+label)
		want(t, "by default", w.found(t, "label="+label), b+" "+a)
		want(t, "latest first", w.found(t, "order=latestFirst&label="+label), b+" "+a)
		want(t, "earliest first", w.found(t, "order=earliestFirst&label="+label), a+" "+b)
		w.ask(t, "GET", "/v2/events?order=upwards", "").fails(t, 400, "")
	}},
	{"MS-9.12", func(t *testing.T, w *world) {
		label := w.name()
		w.waits(t, "Svc-Label: "+label)
		v := w.ask(t, "GET", "/v2/events?count=1&label="+label, "").object(t)
		if len(v.list("events")) != 1 || v.has("cursor") {
			t.Error(v)
		}
	}},
	{"MS-V.1", func(t *testing.T, w *world) {
		a, b := w.name(), w.name()
		one := w.waits(t, "Svc-Label: "+a)
		two := w.waits(t, "Svc-Label: "+a+","+b)
		want(t, "values of one filter", w.found(t, "order=earliestFirst&label="+a+","+b), one+" "+two)
		want(t, "two filters", w.found(t, "label="+a+"&messageIds="+two), two)
		want(t, "that don't meet", w.found(t, "label="+b+"&messageIds="+one), "")
		w.ask(t, "GET", "/v2/events?lable="+a, "").fails(t, 400, "")
	}},
	{"MS-9.13", func(t *testing.T, w *world) {
		id := w.waits(t)
		want(t, "found", w.found(t, "state=created&messageId="+id), id)
	}},
}
