package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// raw sends bytes as they are over a connection of its own and returns the first reply.
func (g *gateway) raw(t *testing.T, request string) answer {
	t.Helper()
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(c, request) }() // ends with the connection
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

const rawHead = " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + httpapitest.Token + "\r\n"

// Targets that a router or an HTTP client would clean, decode or redirect arrive as they
// are.
func TestRawTargets(t *testing.T) {
	g := newGateway(t)
	for target, want := range map[string]string{
		`/echo/a"b|c^d{e\f`:         `{"result":"a\"b|c^d{e\\f"}`,
		`/echo/%2F`:                 `{"result":"/"}`,
		`/echo/"%2F"`:               `{"result":"\"/\""}`,
		"/echo/..":                  `{"result":".."}`,
		"/./echo/x":                 `{"error":"ERR Command is not available: '.'"}`,
		"/echo//":                   `{"result":""}`,
		"//echo/x":                  `{"error":"ERR Command is not available: ''"}`,
		"http://h/echo/abs%2Folute": `{"result":"abs/olute"}`,
		"http://h:1/echo?a":         `{"result":"a"}`,
		"/echo/caf\xc3\xa9":         `{"result":"café"}`,
		"/echo/\xff":                "{\"result\":\"\ufffd\"}",
		"/mget/a/../b":              `{"result":[null,null,null]}`,
	} {
		a := g.raw(t, "GET "+target+rawHead+"\r\n")
		if a.body != want || (a.status != 200 && a.status != 400) {
			t.Errorf("%s: %d %s, want %s", target, a.status, a.body, want)
		}
	}
}

func TestRawRequests(t *testing.T) {
	g := newGateway(t)
	chunked := "Transfer-Encoding: chunked\r\n"
	body := "8\r\n[\"ECHO\",\r\n7\r\n\"chunk\"\r\n1\r\n]\r\n0\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
		reply   string
	}{
		"chunked body":              {"POST /" + rawHead + chunked + "\r\n" + body, 200, `{"result":"chunk"}`},
		"length and chunks":         {"POST /" + rawHead + "Content-Length: 4\r\n" + chunked + "\r\n" + body, 200, `{"result":"chunk"}`},
		"two unequal lengths":       {"POST /" + rawHead + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n[\"A\"]", 400, ""},
		"unknown coding":            {"POST /" + rawHead + "Transfer-Encoding: gzip\r\n\r\n", 501, ""},
		"space before colon":        {"GET /ping HTTP/1.1\r\nHost: h\r\nAuthorization : Bearer x\r\n\r\n", 400, ""},
		"repeated Authorization":    {"GET /ping" + rawHead + "Authorization: Bearer x\r\n\r\n", 400, `{"error":"ERR Authorization must appear at most once, got it 2 times"}`},
		"the same one twice":        {"GET /v2/queues" + rawHead + "Authorization: Bearer x\r\n\r\n", 400, `{"error":"ERR Authorization must appear at most once, got it 2 times"}`},
		"broken escape":             {"GET /get/%zz" + rawHead + "\r\n", 400, ""},
		"no host":                   {"GET /ping HTTP/1.1\r\n\r\n", 400, ""},
		"options of everything":     {"OPTIONS *" + rawHead + "\r\n", 405, ""},
		"preflight of everything":   {"OPTIONS *" + rawHead + "Origin: http://p\r\nAccess-Control-Request-Method: POST\r\n\r\n", 200, ""},
		"expect before a body":      {"POST /echo" + rawHead + "Expect: nothing\r\nContent-Length: 1\r\n\r\nx", 417, ""},
		"header names in any case":  {"GET /echo/x" + rawHead + "sVC-eNCODING: base64\r\n\r\n", 200, `{"result":"eA=="}`},
		"version 1.0":               {"GET /ping HTTP/1.0\r\nAuthorization: " + httpapitest.Token + "\r\n\r\n", 200, `{"result":"PONG"}`},
		"fragment is part of a key": {"GET /echo/a#b" + rawHead + "\r\n", 200, `{"result":"a#b"}`},
	} {
		a := g.raw(t, c.request)
		if a.status != c.status || (c.reply != "" && a.body != c.reply) {
			t.Errorf("%s: %d %q, want %d %q", name, a.status, a.body, c.status, c.reply)
		}
	}
}

// A second request on the same connection starts where the first one's body ended.
func TestPipelinedRequestsKeepTheirBodies(t *testing.T) {
	g := newGateway(t)
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all strings.Builder
	const n = 50
	for i := range n {
		body := fmt.Sprintf(`["ECHO","%d \u00e9\n%s"]`, i, strings.Repeat("x", i*37))
		fmt.Fprintf(&all, "POST /%sContent-Length: %d\r\n\r\n%s", rawHead, len(body), body)
		fmt.Fprintf(&all, "GET /get/none%sContent-Length: 3\r\n\r\nabc", rawHead)
	}
	go func() { _, _ = io.WriteString(c, all.String()) }()
	in := bufio.NewReader(c)
	for i := range 2 * n {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"result":null}`
		if i%2 == 0 {
			want = fmt.Sprintf(`{"result":"%d é\n%s"}`, i/2, strings.Repeat("x", i/2*37))
		}
		if string(body) != want {
			t.Fatalf("reply %d: %s, want %s", i, body, want)
		}
	}
}

func TestRequestSizeIsLimited(t *testing.T) {
	const limit = 4096
	g := newGateway(t, func(o *httpapi.Options) { o.MaxRequestSize = limit })
	text := func(actual int) string {
		return fmt.Sprintf(`{"error":"ERR max request size exceeded. Limit: %d bytes, Actual: %d bytes. Setting: max-request-size"}`, limit, actual)
	}
	if a := g.ask(t, "POST", "/set/k", strings.Repeat("x", limit)); a.status != 200 {
		t.Errorf("at the limit: %+v", a)
	}
	for _, size := range []int{limit + 1, 3 * limit, 5 << 20} {
		for _, target := range []string{"/set/k", "/", "/pipeline", "/multi-exec"} {
			a := g.ask(t, "POST", target, strings.Repeat("x", size))
			if a.status != 400 || a.body != text(size) || a.header.Get("Svc-Outcome") != "not-applied" {
				t.Errorf("%d bytes to %s: %+v", size, target, a)
			}
		}
		chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, strings.Repeat("x", size))
		if a := g.raw(t, "POST /set/k"+rawHead+"Transfer-Encoding: chunked\r\n\r\n"+chunk); a.status != 400 || a.body != text(size) {
			t.Errorf("%d bytes in a chunk: %d %s", size, a.status, a.body)
		}
	}
	if a := g.raw(t, "POST /set/k"+rawHead+"Expect: 100-continue\r\nContent-Length: 9999\r\n\r\n"); a.status != 400 || a.body != text(9999) {
		t.Errorf("announced only: %d %s", a.status, a.body)
	}
}

// A body that ends early runs nothing.
func TestCutOffBodyRunsNothing(t *testing.T) {
	g := newGateway(t)
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /set/k%sContent-Length: 10\r\n\r\nhalf", rawHead)
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if a := g.ask(t, "GET", "/exists/k", ""); a.body != `{"result":0}` {
		t.Errorf("%+v", a)
	}
}

func TestLargeRepliesHaveALength(t *testing.T) {
	g := newGateway(t)
	value := strings.Repeat("v", 100_000)
	g.ask(t, "POST", "/set/k", value)
	a := g.ask(t, "GET", "/get/k", "")
	if a.body != `{"result":"`+value+`"}` || a.header.Get("Content-Length") != fmt.Sprint(len(a.body)) {
		t.Errorf("%d bytes, %v", len(a.body), a.header)
	}
}
