package spectest

import (
	"testing"
)

var formats = []claim{
	{"KV-F.1", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "SET", k, "bar")
		w.ask(t, "POST", "/", `["GET","`+k+`"]`, base64On).result(t, `"YmFy"`)
		w.ask(t, "POST", "/", `["MGET","`+k+`","none"]`, base64On).result(t, `["YmFy",null]`)
		w.ask(t, "POST", "/", `["TYPE","`+k+`"]`, base64On).result(t, `"c3RyaW5n"`)
		w.ask(t, "POST", "/", `["PING"]`, "Upstash-Encoding: base64").result(t, `"UE9ORw=="`)
		w.ask(t, "POST", "/pipeline", `[["GET","`+k+`"],["STRLEN","`+k+`"]]`, base64On).is(t, 200, `[{"result":"YmFy"},{"result":3}]`)
	}},
	{"KV-F.2", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/", `["SET","`+w.key()+`","v"]`, base64On).result(t, `"OK"`)
	}},
	{"KV-F.3", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "GET", "/set/"+k+"/v", "", resp2On).is(t, 200, "+OK\r\n")
		a := w.ask(t, "GET", "/get/"+k, "", resp2On)
		a.is(t, 200, "$1\r\nv\r\n")
		if got := a.header.Get("Content-Type"); got != "application/octet-stream" {
			t.Errorf("content type %s", got)
		}
		w.ask(t, "POST", "/", `["MGET","`+k+`","none"]`, resp2On).is(t, 200, "*2\r\n$1\r\nv\r\n$-1\r\n")
	}},
	{"KV-F.4", func(t *testing.T, w *world) {
		for _, header := range []string{"Svc-Response-Format: json", "X-Nothing: 1"} {
			a := w.ask(t, "GET", "/ping", "", header)
			if got := a.header.Get("Content-Type"); a.status != 200 || got != "application/json" {
				t.Errorf("%s: %d, content type %s", header, a.status, got)
			}
		}
	}},
	{"KV-F.5", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/echo", "a\xffb\xc3").result(t, "\"a\ufffdb\ufffd\"")
	}},
	{"KV-F.6", func(t *testing.T, w *world) {
		for _, value := range []string{"xml", "RESP3", "resp", "JSON2"} {
			w.ask(t, "GET", "/ping", "", "Svc-Response-Format: "+value).fails(t, 400, "ERR ")
			w.ask(t, "POST", "/pipeline", `[["PING"]]`, "Upstash-Response-Format: "+value).fails(t, 400, "ERR ")
		}
	}},
	{"KV-F.7", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/ping", "", base64On, resp2On).fails(t, 400, "ERR ")
		w.ask(t, "POST", "/pipeline", `[["PING"]]`, base64On, resp2On).fails(t, 400, "ERR ")
	}},
	{"KV-F.8", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/multi-exec", `[["ECHO","x"]]`, base64On, resp2On).is(t, 200, `[{"result":"eA=="}]`)
	}},
}
