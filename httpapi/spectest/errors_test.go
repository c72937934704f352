package spectest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var authentication = []claim{
	{"KV-A.1", func(t *testing.T, w *world) { w.ask(t, "GET", "/ping", "").result(t, `"PONG"`) }},
	{"KV-A.2", func(t *testing.T, w *world) {
		for _, target := range []string{"/", "/pipeline", "/multi-exec"} {
			body := `["PING"]`
			if target != "/" {
				body = `[["PING"]]`
			}
			if a := w.ask(t, "POST", target+"?_token="+httpapitest.Token, body, noToken); a.status != 200 {
				t.Errorf("%s: %+v", target, a)
			}
		}
	}},
	{"KV-A.3", func(t *testing.T, w *world) {
		for _, target := range []string{"/ping", "/", "/pipeline", "/multi-exec", "/nosuch"} {
			w.ask(t, "POST", target, "", noToken).fails(t, 401, "WRONGPASS ")
			w.ask(t, "POST", target, "", badToken).fails(t, 401, "WRONGPASS ")
			w.ask(t, "POST", target+"?_token=bad", "", noToken).fails(t, 401, "WRONGPASS ")
		}
	}},
	{"KV-A.4", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "SET", k, "v").result(t, `"OK"`)
		w.array(t, "DEL", k).result(t, "1")
	}},
	{"KV-A.5", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "SET", k, "1")
		w.ask(t, "GET", "/get/"+k, "", asReadOnly).result(t, `"1"`)
		for _, target := range []string{"/set/" + k + "/2", "/del/" + k, "/incr/" + k, "/getdel/" + k, "/flushall", "/expire/" + k + "/1"} {
			w.ask(t, "GET", target, "", asReadOnly).fails(t, 400, "NOPERM ")
		}
		w.array(t, "GET", k).result(t, `"1"`)
	}},
	{"KV-A.6", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/", `["SCAN",0]`, asReadOnly).fails(t, 400, "NOPERM ")
		w.ask(t, "POST", "/", `["KEYS","*"]`, asReadOnly).fails(t, 400, "NOPERM ")
	}},
	{"KV-A.8", func(t *testing.T, w *world) {
		admin := "Authorization: Bearer " + httpapitest.AdminToken
		made := w.tokens(t, w.ask(t, "POST", "/admin/databases", `{"name":"reset"}`, admin))
		again := w.tokens(t, w.ask(t, "POST", "/admin/databases/reset/reset-password", "", admin))
		for range 6 { // every node
			for _, token := range made {
				w.ask(t, "GET", "/db/reset/get/k", "", "Authorization: Bearer "+token).fails(t, 401, "WRONGPASS ")
			}
			for _, token := range again {
				w.ask(t, "GET", "/db/reset/get/k", "", "Authorization: Bearer "+token).result(t, "null")
			}
		}
	}},
	{"KV-A.9", func(t *testing.T, w *world) {
		if w.restToken(t, "anine", "+@all", "~*") == "" {
			t.Error("an empty token")
		}
	}},
	{"KV-A.10", func(t *testing.T, w *world) {
		header := "Authorization: Bearer " + w.restToken(t, "aten", "+get", "~*")
		w.ask(t, "GET", "/get/k", "", header).result(t, "null")
		w.ask(t, "GET", "/set/k/v", "", header).fails(t, 400, "NOPERM ")
	}},
	{"KV-A.11", func(t *testing.T, w *world) {
		w.array(t, "ACL", "RESTTOKEN", "nobody", "x").is(t, 400, `{"error":"ERR Wrong password or user nobody does not exist"}`)
	}},
}

// tokens returns the two tokens of a database that was made or reset.
func (w *world) tokens(t *testing.T, a answer) []string {
	t.Helper()
	var shown struct{ Token, ReadOnlyToken string }
	if err := json.Unmarshal([]byte(a.body), &shown); err != nil || shown.Token == "" || shown.ReadOnlyToken == "" {
		t.Fatalf("%+v: %v", a, err)
	}
	return []string{shown.Token, shown.ReadOnlyToken}
}

var failures = []claim{
	{"KV-X.1", func(t *testing.T, w *world) { w.array(t, "PING").result(t, `"PONG"`) }},
	{"KV-X.2", func(t *testing.T, w *world) {
		for _, body := range []string{`["PING"`, `PING`, ``, `{}`, `[]`} {
			if a := w.ask(t, "POST", "/", body); a.status != 400 {
				t.Errorf("%s: %+v", body, a)
			}
		}
		w.array(t, "SET", w.key(), "v", "NONSENSE").fails(t, 400, "ERR syntax error")
	}},
	{"KV-X.3", func(t *testing.T, w *world) {
		w.array(t, "NOSUCH").fails(t, 400, "ERR Command is not available: 'NOSUCH'")
		w.array(t, "MULTI").fails(t, 400, "ERR ")
	}},
	{"KV-X.4", func(t *testing.T, w *world) {
		k := w.key()
		w.array(t, "SET", k, "text")
		w.array(t, "INCR", k).fails(t, 400, "ERR value is not an integer")
	}},
	{"KV-X.5", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/ping", "", "Svc-Response-Format: yaml").fails(t, 400, "ERR ")
	}},
	{"KV-X.6", func(t *testing.T, w *world) { w.ask(t, "GET", "/ping", "", base64On, resp2On).fails(t, 400, "ERR ") }},
	{"KV-X.7", func(t *testing.T, w *world) {
		w.ask(t, "GET", "/ping", "", noToken).fails(t, 401, "WRONGPASS ")
		w.ask(t, "GET", "/ping", "", badToken).fails(t, 401, "WRONGPASS ")
	}},
	{"KV-X.8", func(t *testing.T, w *world) {
		if a := w.ask(t, "DELETE", "/get/k", ""); a.status != 405 {
			t.Errorf("%+v", a)
		}
	}},
	{"KV-X.9", func(t *testing.T, w *world) { w.array(t, "GET").only(t, "error") }},
	{"KV-X.10", func(t *testing.T, w *world) {
		k := w.key()
		for _, target := range []string{"/pipeline", "/multi-exec"} {
			w.ask(t, "POST", target, `[["SET","`+k+`","x"],["INCR","`+k+`"],["GET","`+k+`"]]`).
				is(t, 200, `[{"result":"OK"},{"error":"ERR value is not an integer or out of range"},{"result":"x"}]`)
		}
	}},
}

var limitations = []claim{
	{"KV-L.1", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/set/"+k, strings.Repeat("x", maxRequest)).result(t, `"OK"`)
		w.ask(t, "POST", "/set/"+k, strings.Repeat("x", maxRequest+1)).fails(t, 400, "ERR max request size exceeded.")
	}},
	{"KV-L.2", func(t *testing.T, w *world) {
		path, token := w.limited(t, "limited", 5)
		for range 5 {
			w.ask(t, "GET", path+"/get/k", "", token).result(t, "null")
		}
		w.ask(t, "GET", path+"/get/k", "", token).fails(t, 400, "ERR max daily request limit exceeded")
	}},
	{"KV-L.3", func(t *testing.T, w *world) {
		for _, c := range []string{"BLPOP", "BRPOP", "BZPOPMIN", "BZPOPMAX"} {
			w.array(t, c, "k", 0).fails(t, 400, "ERR ")
		}
	}},
}
