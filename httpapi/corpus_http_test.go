package httpapi_test

import (
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// request returns a request without a body, in pieces that may be wrong.
func request(line string, header ...string) string {
	return line + "\r\nHost: h\r\nAuthorization: Bearer " + httpapitest.Token + "\r\n" + strings.Join(append(header, ""), "\r\n") + "\r\n"
}

// post returns a well-framed request with that body.
func post(target, body string, header ...string) string {
	return request("POST "+target+" HTTP/1.1", append(header, fmt.Sprint("Content-Length: ", len(body)))...) + body
}

// smuggled is a request that must never run as a second one.
var smuggled = request("GET /set/smuggled/1 HTTP/1.1")

// requestLines returns malformed first lines.
func requestLines() []attack {
	const long = 70_000
	list := []attack{
		{"nothing", "", "-"},
		{"an empty line", "\r\n", "400"},
		{"empty lines before a request", "\r\n\r\n" + request("GET /ping HTTP/1.1"), "400"},
		{"no version", "GET /ping\r\n\r\n", "400"},
		{"one word", "PING\r\n\r\n", "400"},
		{"no method", " /ping HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
		{"four words", request("GET /ping x HTTP/1.1"), "400"},
		{"two spaces", request("GET  /ping HTTP/1.1"), "400"},
		{"a tab", request("GET\t/ping HTTP/1.1"), "400"},
		{"a space at the end", request("GET /ping HTTP/1.1 "), "400"},
		{"junk behind the version", request("GET /ping HTTP/1.1junk"), "400"},
		{"version 0.9", request("GET /ping HTTP/0.9"), "505"},
		{"version 1.2", request("GET /ping HTTP/1.2"), "200"},
		{"version 2.0", request("GET /ping HTTP/2.0"), "505"},
		{"version 9.9", request("GET /ping HTTP/9.9"), "505"},
		{"version of letters", request("GET /ping HTTP/a.b"), "400"},
		{"another protocol", request("GET /ping ICAP/1.1"), "400"},
		{"lower case protocol", request("GET /ping http/1.1"), "400"},
		{"lower case method", request("get /ping HTTP/1.1"), "405"},
		{"unknown method", request("BREW /ping HTTP/1.1"), "405"},
		{"method with a control character", request("G\x01T /ping HTTP/1.1"), "400"},
		{"method of punctuation", request("(GET) /ping HTTP/1.1"), "400"},
		{"long method", request(strings.Repeat("M", 5000) + " /ping HTTP/1.1"), "405"},
		{"control character in the target", request("GET /pi\x01ng HTTP/1.1"), "400"},
		{"NUL in the target", request("GET /get/\x00 HTTP/1.1"), "400"},
		{"DEL in the target", request("GET /get/\x7f HTTP/1.1"), "400"},
		{"carriage return in the target", request("GET /get/\r HTTP/1.1"), "400"},
		{"target without a slash", request("GET ping HTTP/1.1"), "400"},
		{"target of a star", request("GET * HTTP/1.1"), "400"},
		{"empty target", request("GET  HTTP/1.1"), "400"},
		{"target of a question mark", request("GET ? HTTP/1.1"), "400"},
		{"connect", "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n", "405"},
		{"absolute target with a user", request("GET http://user:pass@h/ping HTTP/1.1"), "200"},
		{"absolute target of another scheme", request("GET ftp://h/ping HTTP/1.1"), "200"},
		{"absolute target with a bad port", request("GET http://h:port/ping HTTP/1.1"), "400"},
		{"long target", request("GET /get/" + strings.Repeat("k", long) + " HTTP/1.1"), "431"},
		{"long query", request("GET /ping?" + strings.Repeat("k", long) + " HTTP/1.1"), "431"},
		{"many segments", request("GET /get" + strings.Repeat("/", 50_000) + " HTTP/1.1"), "400"},
		{"many query parameters", request("GET /get/k?" + strings.Repeat("a&", 20_000) + " HTTP/1.1"), "400"},
		{"line feed only", strings.ReplaceAll(request("GET /ping HTTP/1.1"), "\r\n", "\n"), "200"},
		{"carriage return only", strings.ReplaceAll(request("GET /ping HTTP/1.1"), "\r\n", "\r"), "400"},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "405"},
		{"SSH", "SSH-2.0-client\r\n\r\n", "400"},
		{"RESP", "*1\r\n$4\r\nPING\r\n", "400"},
		{"SMTP", "EHLO h\r\n\r\n", "400"},
		{"proxy protocol", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + request("GET /ping HTTP/1.1"), "400"},
		{"NULs", strings.Repeat("\x00", 4096), "-"},
		{"no line end", strings.Repeat("A", 200_000), "431"},
	}
	for _, escape := range []string{"%", "%2", "%zz", "%%20", "%-1", "%u0041"} {
		list = append(list, attack{"escape " + escape + " in the path", request("GET /get/" + escape + " HTTP/1.1"), "400"},
			attack{"escape " + escape + " in the query", request("GET /ping?" + escape + " HTTP/1.1"), "400"})
	}
	return list
}

// headerLines returns malformed headers.
func headerLines() []attack {
	get := func(header ...string) string { return request("GET /ping HTTP/1.1", header...) }
	bare := "GET /ping HTTP/1.1\r\n"
	return []attack{
		{"no host", bare + "\r\n", "400"},
		{"two hosts", get("Host: other"), "400"},
		{"host with a space", bare + "Host: a b\r\n\r\n", "400"},
		{"host with a slash", bare + "Host: a/b\r\n\r\n", "400"},
		{"host with a control character", bare + "Host: a\x01b\r\n\r\n", "400"},
		{"space before the colon", get("X-A : b"), "400"},
		{"no colon", get("X-A"), "400"},
		{"empty name", get(": b"), "400"},
		{"name with a space", get("X A: b"), "400"},
		{"name with a control character", get("X\x01A: b"), "400"},
		{"name with a bracket", get("X(A): b"), "400"},
		{"name that is not ASCII", get("X-\xc3\xa9: b"), "400"},
		{"value with NUL", get("X-A: \x00"), "400"},
		{"value with a control character", get("X-A: \x01"), "400"},
		{"value with a carriage return", get("X-A: a\rb"), "400"},
		{"value that is not UTF-8", get("X-A: \xff\xfe"), "200"},
		{"folded value", get("X-A: a", " b"), "200"},
		{"folded first line", "GET /ping HTTP/1.1\r\n Host: h\r\n\r\n", "400"},
		{"folded length", post("/", `["PING"]`, "Content-Length:", " 8"), "200"},
		{"folded coding", request("POST / HTTP/1.1", "Transfer-Encoding:", " chunked") + "0\r\n\r\n" + smuggled, "400"},
		{"header that is too long", get("X-A: " + strings.Repeat("a", 70_000)), "431"},
		{"name that is too long", get(strings.Repeat("A", 70_000) + ": a"), "431"},
		{"too many headers", get(strings.Repeat("A: b\r\n", 12_000) + "X: y"), "431"},
		{"header without an end", "GET /ping HTTP/1.1\r\nHost: h\r\n", "400"},
		{"header cut within a name", "GET /ping HTTP/1.1\r\nHo", "400"},
		{"unknown expectation", request("POST /echo HTTP/1.1", "Expect: miracles", "Content-Length: 1") + "x", "417"},
		{"upgrade to HTTP/2", get("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"), "200"},
		{"upgrade to a web socket", get("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"), "200"},
		{"hop-by-hop token", get("Connection: Authorization"), "200"},
		{"absurd range", get("Range: bytes=0-0,0-1,0-2,9999999999999999999-"), "200"},
		{"absurd accept", get("Accept: " + strings.Repeat("a/b;q=0.1,", 3000)), "200"},
		{"forwarded addresses", get("X-Forwarded-For: 127.0.0.1", "X-Original-URL: /admin/cluster", "X-HTTP-Method-Override: DELETE"), "200"},
	}
}
