package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// raw sends bytes as they are over a connection of its own and returns the first reply.
func (g *gateway) raw(t *testing.T, request string) answer {
	t.Helper()
	c := g.dial(t, "")
	defer c.Close()
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
		"repeated Authorization":    {"GET /ping" + rawHead + "Authorization: Bearer x\r\n\r\n", 400, `{"error":"ERR Authorization must appear at most once, got it 2 times"}`},
		"the same one twice":        {"GET /v2/queues" + rawHead + "Authorization: Bearer x\r\n\r\n", 400, `{"error":"ERR Authorization must appear at most once, got it 2 times"}`},
		"options of everything":     {"OPTIONS *" + rawHead + "\r\n", 405, ""},
		"preflight of everything":   {"OPTIONS *" + rawHead + "Origin: http://p\r\nAccess-Control-Request-Method: POST\r\n\r\n", 200, ""},
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

// Whatever is wrong with a request, its reply is JSON with an error that says what: on a new
// connection, and after other requests, on either path.
func TestRefusalsOfNetHTTP(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Limits.HeaderBytes = 4 << 10 })
	plain := "GET /echo/x" + rawHead + "\r\n"
	odd := "GET /echo/x" + rawHead + "TE: trailers\r\n\r\n" // for which net/http takes the connection
	post := "POST /" + rawHead
	for _, c := range []struct {
		request string
		status  int
		why     string // with a connection's first odd request
	}{
		{"GET /get/100%" + rawHead + "\r\n", 400, "malformed request: byte 9 of the path is % without two hexadecimal digits after it, write a percent sign as %25"},
		{"GET /get/%zz" + rawHead + "\r\n", 400, "malformed request: byte 6 of the path is % without two hexadecimal digits after it, write a percent sign as %25"},
		{"GET /set/%4/v" + rawHead + "\r\n", 400, "malformed request: byte 6 of the path is % without two hexadecimal digits after it, write a percent sign as %25"},
		{"GET /get/a\x01b" + rawHead + "\r\n", 400, `malformed request: byte 7 of the path is "\x01", write it as %01`},
		{"GET /get/a\x7f" + rawHead + "\r\n", 400, `malformed request: byte 7 of the path is "\x7f", write it as %7F`},
		{"GET /get/a\x00" + rawHead + "\r\n", 400, `malformed request: byte 7 of the path is "\x00", write it as %00`},
		{"GET /get/a b" + rawHead + "\r\n", 400, `malformed request: byte 7 of the path is " ", write it as %20`},
		{"GET /ping\r\n\r\n", 400, `malformed request: its first line must be METHOD PATH HTTP/1.1, got "GET /ping"`},
		{"G(T /ping" + rawHead + "\r\n", 400, `malformed request: its first line must be METHOD PATH HTTP/1.1, got "G(T /ping HTTP/1.1"`},
		{post + "Content-Length: x\r\n\r\n", 400, `malformed request: Content-Length must be a number of bytes, got "x"`},
		{post + "Content-Length: -1\r\n\r\n", 400, `malformed request: Content-Length must be a number of bytes, got "-1"`},
		{post + "Content-Length: +4\r\n\r\n[\"A\"", 400, `malformed request: Content-Length must be a number of bytes, got "+4"`},
		{post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n[\"A\"]", 400, `malformed request: Content-Length must appear once, got "4" and "5"`},
		{"GET /ping HTTP/1.1\r\nHost: h\r\nAuthorization : Bearer x\r\n\r\n", 400, `malformed request: a header name has a character that is not allowed: "Authorization "`},
		{"GET /ping" + rawHead + "X\r\n\r\n", 400, `malformed request: a header line has no colon: "X"`},
		{"GET /ping" + rawHead + "X: a\x01\r\n\r\n", 400, `malformed request: the value of header "X" has a control byte`},
		{"GET /ping HTTP/1.1\r\n\r\n", 400, "malformed request: missing required Host header"},
		{"GET /ping HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, `malformed request: Host must appear once, got "a" and "b"`},
		{"GET /ping HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "malformed request: malformed Host header"},
		{post + "Transfer-Encoding: gzip\r\n\r\n", 501, "this transfer coding is not supported: send chunked, or a Content-Length"},
		{"GET /ping HTTP/3.0\r\nHost: h\r\n\r\n", 505, "this version of HTTP is not supported: send HTTP/1.1"},
		{post + "Expect: nothing\r\nContent-Length: 1\r\n\r\nx", 417, "the only expectation that is supported is 100-continue"},
		{"GET /" + strings.Repeat("k", 16<<10) + rawHead + "\r\n", 431, "max header size exceeded. Limit: 4096 bytes, Actual: more than that. Setting: max-header-size"},
	} {
		for name, before := range map[string]string{"": "", "after another ": plain, "after an odd one ": odd} {
			a := g.lastReply(t, before, c.request)
			var said struct{ Error string }
			if err := json.Unmarshal([]byte(a.body), &said); err != nil || a.status != c.status || a.header.Get("Content-Type") != "application/json" ||
				a.header.Get("Svc-Outcome") != "not-applied" || a.header.Get("Connection") != "close" {
				t.Errorf("%s%.60q: %d %v %q", name, c.request, a.status, a.header, a.body)
			}
			if name != "after an odd one " && said.Error != "ERR "+c.why || said.Error == "" {
				t.Errorf("%s%.60q: %q, want %q", name, c.request, said.Error, "ERR "+c.why)
			}
		}
	}
}

// A command's reply is never taken for a refusal of net/http, however it begins.
func TestReplyThatLooksLikeARefusal(t *testing.T) {
	g := newGateway(t)
	value := "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	long := strings.Repeat(value, 1000)
	for range 2 {
		a := g.raw(t, "POST /echo"+rawHead+"Svc-Response-Format: resp2\r\nTE: trailers\r\nContent-Length: "+fmt.Sprint(len(long))+"\r\n\r\n"+long)
		if want := fmt.Sprintf("$%d\r\n%s\r\n", len(long), long); a.status != 200 || a.body != want {
			t.Errorf("%d %.100q", a.status, a.body)
		}
	}
}

// lastReply sends two requests over one connection and returns the reply to the second; an
// empty first one is not sent.
func (g *gateway) lastReply(t *testing.T, before, request string) (last answer) {
	t.Helper()
	c := g.dial(t, "")
	defer c.Close()
	in := bufio.NewReader(c)
	for _, r := range []string{before, request} {
		if r == "" {
			continue
		}
		if _, err := io.WriteString(c, r); err != nil {
			t.Fatalf("%.60q: %v", r, err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%.60q: %v", r, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("%.60q: %v", r, err)
		}
		if res.Close {
			res.Header.Set("Connection", "close")
		}
		last = answer{res.StatusCode, res.Header, string(body)}
	}
	return last
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
