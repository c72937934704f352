package spectest

import (
	"encoding/json"
	"strings"
	"testing"
)

var endpoints = []claim{
	{"KV-M.1", func(t *testing.T, w *world) {
		for _, method := range []string{"HEAD", "GET", "POST", "PUT"} {
			if a := w.ask(t, method, "/ping", ""); a.status != 200 {
				t.Errorf("%s: %+v", method, a)
			}
		}
	}},
	{"KV-M.2", func(t *testing.T, w *world) {
		for _, method := range []string{"DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"} {
			for _, target := range []string{"/ping", "/", "/pipeline", "/multi-exec"} {
				if a := w.ask(t, method, target, ""); a.status != 405 {
					t.Errorf("%s %s: %+v", method, target, a)
				}
			}
		}
	}},
	{"KV-1.1", func(t *testing.T, w *world) { w.ask(t, "GET", "/echo/x", "").result(t, `"x"`) }},
	{"KV-1.2", func(t *testing.T, w *world) {
		k := w.key()
		if a := w.ask(t, "HEAD", "/incr/"+k, ""); a.status != 200 || a.body != "" {
			t.Errorf("HEAD: %+v", a)
		}
		w.ask(t, "POST", "/incr/"+k, "").result(t, "2")
		w.ask(t, "PUT", "/incr/"+k, "").result(t, "3")
	}},
	{"KV-1.3", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "GET", "/mset/"+k+"a/1/"+k+"b/2", "").result(t, `"OK"`)
		w.ask(t, "GET", "/mget/"+k+"b/"+k+"a", "").result(t, `["2","1"]`)
	}},
	{"KV-1.4", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "GET", "/set/"+k+"/value", "").result(t, `"OK"`)
		w.array(t, "GET", k).result(t, `"value"`)
	}},
	{"KV-1.5", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "GET", "/set/"+k+"/value/EX/1000", "").result(t, `"OK"`)
		w.array(t, "TTL", k).result(t, "1000")
	}},
	{"KV-1.6", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/ping", "").only(t, "result")
		w.ask(t, "GET", "/get", "").only(t, "error")
	}},
	{"KV-2.1", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/set/"+k, `{"a":[1,null]}`, "Content-Type: application/json").result(t, `"OK"`)
		w.array(t, "GET", k).result(t, `"{\"a\":[1,null]}"`)
	}},
	{"KV-2.2", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/set/"+k, "\x00\xff\r\n\x80", "Content-Type: application/octet-stream").result(t, `"OK"`)
		w.ask(t, "GET", "/get/"+k, "", resp2On).is(t, 200, "$5\r\n\x00\xff\r\n\x80\r\n")
	}},
	{"KV-2.3", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/set/"+k+"?EX=500&NX", "v").result(t, `"OK"`)
		w.ask(t, "POST", "/set/"+k+"?EX=500&NX", "other").result(t, "null")
		w.array(t, "GET", k).result(t, `"v"`)
		w.array(t, "TTL", k).result(t, "500")
	}},
	{"KV-2.4", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/set/"+k+"?EX=100", "v").result(t, `"OK"`)
		byQuery := w.array(t, "TTL", k)
		w.ask(t, "GET", "/set/"+k+"/v/EX/100", "").result(t, `"OK"`)
		w.array(t, "TTL", k).is(t, byQuery.status, byQuery.body)
	}},
	{"KV-2.5", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/echo", "x").only(t, "result")
		w.ask(t, "POST", "/get/a", "b").only(t, "error")
	}},
	{"KV-3.1", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/", `["PING"]`).result(t, `"PONG"`)
		w.ask(t, "POST", "", `["PING"]`).result(t, `"PONG"`)
	}},
	{"KV-3.2", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/", `["SET","`+k+`","v","EX","77"]`).result(t, `"OK"`)
		w.ask(t, "POST", "/", `["TTL","`+k+`"]`).result(t, "77")
	}},
	{"KV-3.3", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/", `["SET","`+k+`",12.50]`).result(t, `"OK"`)
		w.ask(t, "POST", "/", `["GET","`+k+`"]`).result(t, `"12.50"`)
		w.ask(t, "POST", "/", `["SET","`+k+`",9007199254740993]`).result(t, `"OK"`)
		w.ask(t, "POST", "/", `["INCRBY","`+k+`","1"]`).result(t, "9007199254740994")
	}},
	{"KV-3.4", func(t *testing.T, w *world) {
		w.array(t, "PING").only(t, "result")
		w.array(t, "GET").only(t, "error")
	}},
	{"KV-8.1", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/publish/"+w.key()+"/nobody%20hears", "").result(t, "0")
	}},
	{"KV-8.2", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/publish/c/m", "").only(t, "result")
		w.ask(t, "POST", "/publish/c", "").only(t, "error")
	}},
	{"KV-9.1", func(t *testing.T, w *world) {
		a := w.ask(t, "POST", "/info", "")
		var envelope struct{ Result string }
		if err := json.Unmarshal([]byte(a.body), &envelope); a.status != 200 || err != nil || !strings.HasPrefix(envelope.Result, "# Server\r\n") {
			t.Errorf("%+v", a)
		}
		w.ask(t, "POST", "/info", "", noToken).fails(t, 401, "WRONGPASS ")
	}},
}
