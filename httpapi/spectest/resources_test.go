package spectest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var intro = []claim{
	{"KV-I.1", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "SET", k, "v").result(t, `"OK"`)
		w.array(t, "GET", k).result(t, `"v"`)
	}},
	{"KV-I.2", func(t *testing.T, w *world) {
		if a := w.ask(t, "GET", "/v2/get/k", ""); strings.Contains(a.body, `"result"`) {
			t.Errorf("a path under /v2 ran as a command: %s", a.body)
		}
	}},
	{"KV-I.4", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/admin/databases", `{"name":"spec"}`, "Authorization: Bearer "+httpapitest.AdminToken)
		a := w.ask(t, "GET", "/db/spec/get/k", "")
		a.fails(t, 401, "WRONGPASS ") // the token of another database
	}},
	{"KV-S.1", func(t *testing.T, w *world) { w.array(t, "ECHO", "one command").result(t, `"one command"`) }},
	{"KV-S.2", func(t *testing.T, w *world) {
		for _, target := range []string{"/pipeline", "/multi-exec"} {
			w.ask(t, "POST", target, `[["ECHO","a"],["ECHO","b"]]`).is(t, 200, `[{"result":"a"},{"result":"b"}]`)
		}
	}},
	{"KV-S.3", func(t *testing.T, w *world) {
		c := w.key()
		s := w.open(t, "/subscribe/"+c)
		s.expect(t, "subscribe,"+c+",1")
		w.ask(t, "POST", "/publish/"+c+"/hello", "").result(t, "1")
		s.expect(t, "message,"+c+",hello")
	}},
	{"KV-S.4", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/echo/x", "", resp2On).is(t, 200, "$1\r\nx\r\n")
		w.ask(t, "GET", "/echo/x", "", base64On).result(t, `"eA=="`)
	}},
	{"KV-S.5", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/ping", "").result(t, `"PONG"`)
		w.ask(t, "GET", "/ping?_token="+httpapitest.Token, "", noToken).result(t, `"PONG"`)
	}},
}

var resources = []claim{
	{"KV-R.1", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "GET", k).result(t, "null")
		w.array(t, "APPEND", k, "ab").result(t, "2")
		w.array(t, "GET", k).result(t, `"ab"`)
		w.array(t, "MGET", k, w.key()).result(t, `["ab",null]`)
	}},
	{"KV-R.2", func(t *testing.T, w *world) { w.array(t, "PING").only(t, "result") }},
	{"KV-R.3", func(t *testing.T, w *world) {
		w.array(t, "GET").only(t, "error") // rejected
		k := w.key()
		w.array(t, "SET", k, "no number")
		w.array(t, "INCR", k).only(t, "error") // failed
	}},
	{"KV-R.4", func(t *testing.T, w *world) {
		w.array(t, "GET").fails(t, 400, "ERR ")
		w.ask(t, "GET", "/ping", "", badToken).fails(t, 401, "WRONGPASS ")
	}},
	{"KV-T.1", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "SET", k, "v").result(t, `"OK"`)
		if a := w.array(t, "KEYS", k); a.status != 200 {
			t.Errorf("KEYS: %+v", a)
		}
		if a := w.array(t, "SCAN", 0); a.status != 200 {
			t.Errorf("SCAN: %+v", a)
		}
	}},
	{"KV-T.2", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "SET", k, "v")
		w.ask(t, "GET", "/get/"+k, "", asReadOnly).result(t, `"v"`)
		w.ask(t, "GET", "/set/"+k+"/other", "", asReadOnly).fails(t, 400, "NOPERM ")
		w.ask(t, "GET", "/get/"+k, "").result(t, `"v"`)
	}},
	{"KV-T.3", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/scan/0", "", asReadOnly).fails(t, 400, "NOPERM ")
		w.ask(t, "GET", "/keys/*", "", asReadOnly).fails(t, 400, "NOPERM ")
	}},
	{"KV-T.4", func(t *testing.T, w *world) {
		token := w.restToken(t, "tfour", "~allowed:*", "+get")
		w.ask(t, "GET", "/get/allowed:x", "", "Authorization: Bearer "+token).result(t, "null")
		w.ask(t, "GET", "/get/other", "", "Authorization: Bearer "+token).fails(t, 400, "NOPERM ")
		w.ask(t, "GET", "/set/allowed:x/v", "", "Authorization: Bearer "+token).fails(t, 400, "NOPERM ")
	}},
	{"KV-T.5", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/ping", "").result(t, `"PONG"`)
		w.ask(t, "GET", "/ping", "", asReadOnly).result(t, `"PONG"`)
	}},
}

// only fails unless the reply is an object with that one field.
func (a answer) only(t testing.TB, field string) {
	t.Helper()
	var envelope map[string]any
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		t.Errorf("%s: %v", a.body, err)
	}
	if _, ok := envelope[field]; !ok || len(envelope) != 1 {
		t.Errorf("%s, want the field %s alone", a.body, field)
	}
}

// restToken makes a user with those rules and returns the REST token of it.
func (w *world) restToken(t testing.TB, user string, rules ...any) string {
	t.Helper()
	w.array(t, append([]any{"ACL", "SETUSER", user, "on", ">pa55-word-of-" + user}, rules...)...).result(t, `"OK"`)
	a := w.array(t, "ACL", "RESTTOKEN", user, "pa55-word-of-"+user)
	var envelope struct{ Result string }
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || envelope.Result == "" {
		t.Fatalf("RESTTOKEN: %+v (%v)", a, err)
	}
	return envelope.Result
}
