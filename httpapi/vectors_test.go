package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

const (
	base64Header = "Svc-Encoding: base64"
	resp2Header  = "Svc-Response-Format: resp2"
)

// vector is a request and the reply that clients rely on. A body that ends in … is
// compared up to there.
type vector struct {
	method, target, body string
	header               string // lines, separated by |
	status               int
	reply                string
}

func (v vector) check(t *testing.T, g *gateway) {
	t.Helper()
	var header []string
	if v.header != "" {
		header = strings.Split(v.header, "|")
	}
	a := g.ask(t, v.method, v.target, v.body, header...)
	prefix, open := strings.CutSuffix(v.reply, "…")
	same := a.body == v.reply || (open && strings.HasPrefix(a.body, prefix))
	if a.status != v.status || !same {
		t.Errorf("%s %s %s %s: %d %q, want %d %q", v.method, v.target, v.body, v.header, a.status, a.body, v.status, v.reply)
	}
	checkHeaders(t, v, a)
}

// checkHeaders makes sure of what every reply carries.
func checkHeaders(t *testing.T, v vector, a answer) {
	t.Helper()
	for _, prefix := range []string{"Svc-", "Upstash-"} {
		outcome, token := a.header.Get(prefix+"Outcome"), a.header.Get(prefix+"Sync-Token")
		if a.status == 200 && (outcome != "" || token == "") {
			t.Errorf("%s %s: outcome %q, token %q with status 200", v.method, v.target, outcome, token)
		}
		if a.status != 200 && (outcome != "not-applied" || token != "") {
			t.Errorf("%s %s: outcome %q, token %q with status %d", v.method, v.target, outcome, token, a.status)
		}
	}
	want := "application/json"
	if strings.Contains(v.header, "resp2") && a.status == 200 && !strings.Contains(v.target, "multi-exec") {
		want = "application/octet-stream"
	}
	if got := a.header.Get("Content-Type"); a.body != "" && a.status == 200 && got != want {
		t.Errorf("%s %s: content type %s, want %s", v.method, v.target, got, want)
	}
}

// The vectors of kv-http 20, and the rules of its sections 1 to 10, in an order in
// which each finds the keys it needs.
var vectors = []vector{
	// Commands in the path.
	{"GET", "/set/foo/bar/EX/100", "", "", 200, `{"result":"OK"}`},
	{"GET", "/get/foo", "", "", 200, `{"result":"bar"}`},
	{"GET", "/GET/foo/", "", "", 200, `{"result":"bar"}`},
	{"GET", "/SeT/foo/bar", "", "", 200, `{"result":"OK"}`},
	{"PUT", "/get/foo", "", "", 200, `{"result":"bar"}`},
	{"POST", "/ping", "", "", 200, `{"result":"PONG"}`},
	{"GET", "/ping?hello+world", "", "", 200, `{"result":"hello world"}`},
	{"GET", "/echo/%7B%22a%22%3A1%7D", "", "", 200, `{"result":"{\"a\":1}"}`},
	{"GET", "/set//empty%20key", "", "", 200, `{"result":"OK"}`},
	{"POST", "/", `["GET",""]`, "", 200, `{"result":"empty key"}`},
	{"GET", "/echo/a%2Bb+c", "", "", 200, `{"result":"a+b+c"}`},
	{"GET", "/echo/..", "", "", 200, `{"result":".."}`},
	{"GET", "/get/foo?x=%zz", "", "", 400, `{"error":"ERR invalid percent-encoding in the URL"}`},

	// A body value, then the query.
	{"POST", "/set/foo?EX=100&NX", "ignored", "", 200, `{"result":null}`},
	{"POST", "/del/foo", "", "", 200, `{"result":1}`},
	{"POST", "/set/foo?EX=100&NX", "a/b c", "", 200, `{"result":"OK"}`},
	{"GET", "/get/foo", "", "", 200, `{"result":"a/b c"}`},
	{"GET", "/ttl/foo", "", "", 200, `{"result":100}`},
	{"PUT", "/set/foo", `{"json":[1,2]}`, "Content-Type: application/json", 200, `{"result":"OK"}`},
	{"GET", "/get/foo", "a body that GET ignores", "", 200, `{"result":"{\"json\":[1,2]}"}`},
	{"GET", "/set/a%2Fb/slash", "", "", 200, `{"result":"OK"}`},
	{"GET", "/get/a%2Fb", "", "", 200, `{"result":"slash"}`},
	{"POST", "/set/bin", "\xff\x00\xfe", "Content-Type: application/octet-stream", 200, `{"result":"OK"}`},
	{"GET", "/get/bin", "", "", 200, "{\"result\":\"\ufffd\\u0000\ufffd\"}"},
	{"GET", "/get/bin", "", base64Header, 200, `{"result":"/wD+"}`},
	{"GET", "/get/bin", "", resp2Header, 200, "$3\r\n\xff\x00\xfe\r\n"},

	// A JSON array.
	{"POST", "/", `["SET","foo","bar"]`, "", 200, `{"result":"OK"}`},
	{"PUT", "", `["GET","foo"]`, "", 200, `{"result":"bar"}`},
	{"POST", "/?_token=" + httpapitest.Token, `["GET","foo"]`, "Authorization:", 200, `{"result":"bar"}`},
	{"POST", "/", ` ["get" , "foo"] `, "Content-Type: application/x-www-form-urlencoded", 200, `{"result":"bar"}`},
	{"POST", "/", `["INCRBY","n","9007199254740993"]`, "", 200, `{"result":9007199254740993}`},
	{"POST", "/", `["INCRBY","n",-3]`, "", 200, `{"result":9007199254740990}`},
	{"POST", "/", `["SET","n",1e+21]`, "", 200, `{"result":"OK"}`},
	{"POST", "/", `["GET","n"]`, "", 200, `{"result":"1e+21"}`},
	{"POST", "/", `["SET","b",true]`, "", 200, `{"result":"OK"}`},
	{"POST", "/", `["GET","b"]`, "", 200, `{"result":"true"}`},
	{"POST", "/", `["SET","k",null]`, "", 400, `{"error":"ERR null args are not supported"}`},
	{"POST", "/", `["SET","k",{"a":1}]`, "", 400, `{"error":"ERR unsupported arg type: \"{\": json.Delim"}`},
	{"POST", "/", `[["SET","k","v"]]`, "", 400, `{"error":"ERR unsupported arg type: \"[\": json.Delim"}`},
	{"POST", "/", ``, "", 400, `{"error":"EOF"}`},
	{"GET", "/", ``, "", 400, `{"error":"EOF"}`},
	{"POST", "/", `{"a":1}`, "", 400, `{"error":"expected JSON array"}`},
	{"POST", "/", `[]`, "", 400, `{"error":"ERR empty command"}`},
	{"POST", "/", `["SET"`, "", 400, `{"error":"ERR …`},
	{"POST", "/", `["NOSUCH"]`, "", 400, `{"error":"ERR Command is not available: 'NOSUCH'…`},
	{"POST", "/", `["GET"]`, "", 400, `{"error":"ERR wrong number of arguments for 'get' command"}`},
	{"POST", "/", `["SET","k"]`, "", 400, `{"error":"ERR wrong number of arguments for 'set' command"}`},
	{"POST", "/", `["INCR","b"]`, "", 400, `{"error":"ERR value is not an integer or out of range"}`},
	{"POST", "/", `["MULTI"]`, "", 400, `{"error":"ERR Command …`},
	{"POST", "/", `["SET","p","<&>\u2028é"]`, "", 200, `{"result":"OK"}`},
	{"POST", "/", `["GET","p"]`, "", 200, "{\"result\":\"<&>\u2028é\"}"},

	// Base64.
	{"POST", "/", `["GET","foo"]`, base64Header, 200, `{"result":"YmFy"}`},
	{"POST", "/", `["GET","foo"]`, "upstash-encoding: base64", 200, `{"result":"YmFy"}`},
	{"POST", "/", `["PING"]`, base64Header, 200, `{"result":"UE9ORw=="}`},
	{"POST", "/", `["SET","foo","bar"]`, base64Header, 200, `{"result":"OK"}`},
	{"POST", "/", `["TYPE","foo"]`, base64Header, 200, `{"result":"c3RyaW5n"}`},
	{"POST", "/", `["MGET","foo","none"]`, base64Header, 200, `{"result":["YmFy",null]}`},
	{"POST", "/", `["INCR","b"]`, base64Header, 400, `{"error":"ERR value is not an integer or out of range"}`},
	{"POST", "/", `["GET","foo"]`, "Svc-Encoding: rot13", 200, `{"result":"bar"}`},

	// RESP2.
	{"GET", "/get/foo", "", resp2Header, 200, "$3\r\nbar\r\n"},
	{"GET", "/get/foo", "", "Upstash-Response-Format: resp2", 200, "$3\r\nbar\r\n"},
	{"GET", "/get/foo", "", "Svc-Response-Format: json", 200, `{"result":"bar"}`},
	{"GET", "/get/none", "", resp2Header, 200, "$-1\r\n"},
	{"POST", "/set/foo", "bar", resp2Header, 200, "+OK\r\n"},
	{"GET", "/incr/foo", "", resp2Header, 400, "-ERR value is not an integer or out of range\r\n"},
	{"GET", "/nosuch", "", resp2Header, 400, "-ERR Command is not available: 'NOSUCH'…"},
	{"GET", "/get/foo", "", resp2Header + "|" + base64Header, 400, `{"error":"ERR …`},
	{"GET", "/get/foo", "", "Svc-Response-Format: xml", 400, `{"error":"ERR …`},
	{"POST", "/", `{`, resp2Header, 400, `{"error":"expected JSON array"}`},
	{"POST", "/pipeline", `[["SET","foo","bar"],["GET","foo"],["INCR","foo"]]`, resp2Header, 200,
		"+OK\r\n$3\r\nbar\r\n-ERR value is not an integer or out of range\r\n"},

	// Pipelines.
	{"POST", "/pipeline", `[["SET","foo","bar"],["INCR","foo"],["NOSUCH"],["GET"],["GET","foo"]]`, "", 200,
		`[{"result":"OK"},{"error":"ERR value is not an integer or out of range"},{"error":"ERR Command is not available: 'NOSUCH'"},` +
			`{"error":"ERR wrong number of arguments for 'get' command"},{"result":"bar"}]`},
	{"POST", "/pipeline/", `[["GET","foo"],["GET","none"]]`, base64Header, 200, `[{"result":"YmFy"},{"result":null}]`},
	{"POST", "/pipeline?_token=" + httpapitest.Token, `[["GET","foo"]]`, "Authorization:", 200, `[{"result":"bar"}]`},
	{"POST", "/pipeline", `[["SET","x","1"],["SET","x",null]]`, "", 400, `{"error":"ERR null args are not supported"}`},
	{"POST", "/pipeline", `[["SET","x","1"],"GET"]`, "", 400, `{"error":"expected JSON array"}`},
	{"POST", "/pipeline", `["SET","x","1"]`, "", 400, `{"error":"expected JSON array"}`},
	{"POST", "/pipeline", `[]`, "", 400, `{"error":"ERR empty command"}`},
	{"POST", "/pipeline", ``, "", 400, `{"error":"EOF"}`},
	{"GET", "/pipeline", `[["PING"]]`, "", 400, `{"error":"EOF"}`},
	{"GET", "/get/x", "", "", 200, `{"result":null}`}, // nothing of a refused pipeline ran
	{"GET", "/pipeline/x", "", "", 400, `{"error":"ERR Command is not available: 'PIPELINE'…`},

	// Transactions.
	{"POST", "/multi-exec", `[["SET","k","v"],["GET","k"]]`, base64Header, 200, `[{"result":"OK"},{"result":"dg=="}]`},
	{"POST", "/multi-exec", `[["SET","k","w"],["INCR","k"],["GET","k"]]`, "", 200,
		`[{"result":"OK"},{"error":"ERR value is not an integer or out of range"},{"result":"w"}]`},
	{"POST", "/multi-exec", `[["GET","k"],["GET","none"]]`, "", 200, `[{"result":"w"},{"result":null}]`},
	{"POST", "/multi-exec", `[["SET","k","x"],["GET"]]`, "", 400, `{"error":"ERR wrong number of arguments for 'get' command"}`},
	{"POST", "/multi-exec", `[["SET","k","x"],["NOSUCH"]]`, "", 400, `{"error":"ERR Command is not available: 'NOSUCH'…`},
	{"POST", "/multi-exec", `[["GET","k"],["NOSUCH"]]`, "", 400, `{"error":"ERR Command is not available: 'NOSUCH'…`},
	{"POST", "/multi-exec", `[["SET","k","x"],null]`, "", 400, `{"error":"expected JSON array"}`},
	{"GET", "/get/k", "", "", 200, `{"result":"w"}`}, // no discarded transaction changed it
	{"POST", "/multi-exec", `[["GET","k"]]`, resp2Header, 200, `[{"result":"w"}]`},
	{"POST", "/multi-exec", `[["GET","k"]]`, "Svc-Response-Format: xml", 200, `[{"result":"w"}]`},
	{"POST", "/multi-exec", `[["GET"]]`, resp2Header, 400, `{"error":"ERR wrong number of arguments for 'get' command"}`},

	// Tokens.
	{"GET", "/get/foo", "", "Authorization:", 401, `{"error":"WRONGPASS invalid or missing auth token…`},
	{"GET", "/get/foo", "", "Authorization: Bearer nonsense", 401, `{"error":"WRONGPASS invalid or missing auth token…`},
	{"GET", "/get/foo", "", "Authorization:|" + resp2Header, 401, `{"error":"WRONGPASS invalid or missing auth token…`},
	{"POST", "/", `not JSON`, "Authorization: Bearer nonsense|Svc-Response-Format: xml", 401, `{"error":"WRONGPASS…`},
	{"GET", "/get/foo", "", "Authorization: " + httpapitest.Token, 200, `{"result":"bar"}`},
	{"GET", "/get/foo", "", "Authorization: bEaReR " + httpapitest.Token, 200, `{"result":"bar"}`},
	{"GET", "/get/foo?_token=" + httpapitest.Token, "", "Authorization: Bearer nonsense", 200, `{"result":"bar"}`},
	{"GET", "/get/foo?_token=nonsense", "", "", 401, `{"error":"WRONGPASS…`},
	{"GET", "/get/foo?_token=", "", "", 401, `{"error":"WRONGPASS…`},
	{"GET", "/get/foo", "", "Authorization: Bearer " + httpapitest.AdminToken, 200, `{"result":"bar"}`},
	{"GET", "/get/foo", "", "Authorization: Bearer " + httpapitest.MessagesToken, 401, `{"error":"WRONGPASS…`},

	// The Read Only token.
	{"GET", "/get/foo", "", readOnly, 200, `{"result":"bar"}`},
	{"GET", "/set/foo/x", "", readOnly, 400, `{"error":"NOPERM this user has no permissions to run the 'set' command or its subcommand"}`},
	{"POST", "/", `["SCAN","0"]`, readOnly, 400, `{"error":"NOPERM this user has no permissions to run the 'scan' command or its subcommand"}`},
	{"POST", "/", `["KEYS","*"]`, readOnly, 400, `{"error":"NOPERM this user has no permissions to run the 'keys' command or its subcommand"}`},
	{"POST", "/pipeline", `[["GET","foo"],["SET","foo","x"]]`, readOnly, 200,
		`[{"result":"bar"},{"error":"NOPERM this user has no permissions to run the 'set' command or its subcommand"}]`},
	{"POST", "/multi-exec", `[["GET","foo"],["DEL","foo"]]`, readOnly, 400, `{"error":"NOPERM this user has no permissions to run the 'del' command or its subcommand"}`},

	// Reading at a consistency.
	{"GET", "/get/foo", "", "Svc-Consistency: linearizable", 200, `{"result":"bar"}`},
	{"GET", "/get/foo", "", "Svc-Consistency: session", 200, `{"result":"bar"}`},
	{"GET", "/get/foo", "", "Svc-Consistency: session|Svc-Sync-Token: my-new-sync-token", 200, `{"result":"bar"}`},
	{"GET", "/get/foo", "", "Svc-Consistency: session|Svc-Sync-Token:", 200, `{"result":"bar"}`},
	{"GET", "/get/foo", "", "Upstash-Consistency: stale", 200, `{"result":"bar"}`},
	{"GET", "/get/foo", "", "Svc-Consistency: eventual", 400, `{"error":"ERR …`},
	{"GET", "/set/foo/bar", "", "Svc-Consistency: stale", 200, `{"result":"OK"}`},

	// Keys and cursors.
	{"POST", "/", `["FLUSHALL"]`, "", 200, `{"result":"OK"}`},
	{"POST", "/", `["SET","k","v"]`, "", 200, `{"result":"OK"}`},
	{"POST", "/", `["COPY","k","k"]`, "", 200, `{"result":0}`},
	{"POST", "/", `["SCAN","0","WITHTYPE"]`, "", 200, `{"result":["0",["k","string"]]}`},

	// Headers that clients send for other reasons.
	{"GET", "/get/k", "", "Svc-Telemetry-Sdk: a, b|Cache-Control: no-cache|X-Anything: 1", 200, `{"result":"v"}`},
	// Streams that do not begin.
	{"POST", "/subscribe", "[]", base64Header, 400, `{"error":"ERR wrong number of arguments for 'subscribe' command"}`},
	{"POST", "/monitor/x", "", "", 400, `{"error":"ERR wrong number of arguments for 'monitor' command"}`},
	// Parts that are not there.
	{"GET", "/v2/messages", "", "", 404, `{"error":"…`},
	{"GET", "/console/", "", "", 404, `{"error":"…`},
	{"POST", "/db/", "", "", 404, `{"error":"…`},
	{"POST", "/db/no.name/get/k", "", "", 404, `{"error":"…`},
}

const readOnly = "Authorization: Bearer " + httpapitest.ReadOnlyToken

func TestVectors(t *testing.T) {
	g := newGateway(t)
	for i, v := range vectors {
		t.Run(fmt.Sprint(i), func(t *testing.T) { v.check(t, g) })
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	g := newGateway(t)
	for _, method := range []string{"DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"} {
		a := g.ask(t, method, "/get/foo", "", "Authorization:")
		if a.status != 405 || a.body != "" || a.header.Get("Allow") != "HEAD, GET, POST, PUT" || a.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s: %+v", method, a)
		}
	}
}

func TestHeadRunsTheCommand(t *testing.T) {
	g := newGateway(t)
	get := g.ask(t, "GET", "/set/k/v", "")
	head := g.ask(t, "HEAD", "/append/k/more", "")
	if head.status != 200 || head.body != "" || head.header.Get("Content-Length") != fmt.Sprint(len(`{"result":5}`)) {
		t.Errorf("%+v after %+v", head, get)
	}
	if head.header.Get("Svc-Sync-Token") == get.header.Get("Svc-Sync-Token") {
		t.Error("the command of HEAD did not run")
	}
	if a := g.ask(t, "GET", "/get/k", ""); a.body != `{"result":"vmore"}` {
		t.Errorf("%s", a.body)
	}
	if a := g.ask(t, "HEAD", "/nosuch", ""); a.status != 400 || a.body != "" {
		t.Errorf("%+v", a)
	}
}
