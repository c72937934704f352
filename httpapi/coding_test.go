package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

func gzipOf(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func withMessages(o *httpapi.Options) {
	o.Messages = &messages.Parser{Prefixes: []string{"Svc", "Upstash"}}
}

// as returns the header of a token.
func as(token string) string { return "Authorization: Bearer " + token }

// A body in gzip is read as its unpacked content, wherever bodies are read and however they arrive.
func TestPackedBodies(t *testing.T) {
	g := newGateway(t, withMessages)
	long := strings.Repeat("ab", 20_000)
	for _, c := range []struct{ method, target, body, reply, token string }{
		{"POST", "/", `["ECHO","` + long + `"]`, `{"result":"` + long + `"}`, httpapitest.Token},
		{"POST", "/set/path", "a body\x00", `{"result":"OK"}`, httpapitest.Token},
		{"PUT", "/set/path", "a body\x01", `{"result":"OK"}`, httpapitest.Token},
		{"POST", "/pipeline", `[["ECHO","a"],["ECHO","b"]]`, `[{"result":"a"},{"result":"b"}]`, httpapitest.Token},
		{"POST", "/multi-exec", `[["ECHO","a"],["ECHO","b"]]`, `[{"result":"a"},{"result":"b"}]`, httpapitest.Token},
		{"POST", "/", "", `{"error":"ERR empty command"}`, httpapitest.Token},
		{"POST", "/v2/queues", `{"queueName":"q","parallelism":3}`, "", httpapitest.MessagesToken},
	} {
		plain := g.ask(t, c.method, c.target, c.body, as(c.token))
		if c.reply != "" && plain.body != c.reply && c.body != "" {
			t.Fatalf("%s %s: %d %.100q", c.method, c.target, plain.status, plain.body)
		}
		for _, coding := range []string{"gzip", "GZIP", "x-gzip", "identity", ""} {
			body := c.body
			if strings.Contains(strings.ToLower(coding), "gzip") {
				body = gzipOf(t, body)
			}
			a := g.ask(t, c.method, c.target, body, as(c.token), "Content-Encoding: "+coding)
			chunked := g.raw(t, c.method+" "+c.target+" HTTP/1.1\r\nHost: h\r\n"+as(c.token)+"\r\nTransfer-Encoding: chunked\r\nContent-Encoding: "+coding+
				"\r\n\r\n"+chunksOf(body))
			for name, a := range map[string]answer{"": a, "chunked ": chunked} {
				if a.status != plain.status || a.body != plain.body {
					t.Errorf("%s%s %s in %q: %d %.100q, want %d %.100q", name, c.method, c.target, coding, a.status, a.body, plain.status, plain.body)
				}
			}
		}
	}
	if a := g.ask(t, "GET", "/get/path", ""); a.body != "{\"result\":\"a body\\u0001\"}" {
		t.Errorf("stored %q", a.body)
	}
}

func chunksOf(body string) string {
	out := ""
	for len(body) > 0 {
		n := min(len(body), 10_000)
		out += fmt.Sprintf("%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return out + "0\r\n\r\n"
}

// Any other coding is refused, on all paths, and the reply says what is taken.
func TestUnknownCodings(t *testing.T) {
	g := newGateway(t, withMessages)
	for _, coding := range []string{"br", "deflate", "zstd", "gzip, gzip", "gzip, br", "identity, gzip", "x"} {
		for target, token := range map[string]string{"/": httpapitest.Token, "/set/k": httpapitest.Token, "/pipeline": httpapitest.Token,
			"/v2/publish/https://example.com": httpapitest.MessagesToken, "/admin/settings/limits": httpapitest.AdminToken} {
			a := g.raw(t, "POST "+target+" HTTP/1.1\r\nHost: h\r\n"+as(token)+"\r\nContent-Length: 4\r\nContent-Encoding: "+coding+"\r\n\r\n[\"A\"")
			want := fmt.Sprintf(`{"error":"ERR Content-Encoding must be gzip or identity, got \"%s\""}`, coding)
			if a.status != http.StatusUnsupportedMediaType || a.body != want || a.header.Get("Accept-Encoding") != "gzip, identity" || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s to %s: %d %v %s", coding, target, a.status, a.header, a.body)
			}
		}
	}
}

// A body that is no gzip, or not all of it, runs nothing.
func TestDamagedPackedBodies(t *testing.T) {
	g := newGateway(t, withMessages)
	whole := gzipOf(t, `["SET","damaged","`+strings.Repeat("v", 5000)+`"]`)
	flipped := []byte(whole)
	flipped[len(flipped)-6] ^= 1 // in the sum
	for name, body := range map[string]string{"plain": `["SET","damaged","v"]`, "cut": whole[:len(whole)-9], "without its sum": whole[:len(whole)-3], "head only": whole[:5],
		"wrong sum": string(flipped), "more after it": whole + "rest of something"} {
		for target, token := range map[string]string{"/": httpapitest.Token, "/v2/publish/https://example.com": httpapitest.MessagesToken} {
			a := g.ask(t, "POST", target, body, as(token), "Content-Encoding: gzip")
			if a.status != http.StatusBadRequest || !strings.Contains(a.body, `the body is not gzip, as its Content-Encoding says: `) {
				t.Errorf("%s to %s: %d %s", name, target, a.status, a.body)
			}
		}
	}
	if a := g.ask(t, "GET", "/exists/damaged", ""); a.body != `{"result":0}` {
		t.Errorf("it ran: %s", a.body)
	}
}

// The size limit counts what a body unpacks to, and no more than that is unpacked.
func TestPackedBodiesKeepTheLimit(t *testing.T) {
	const limit = 64 << 10
	g := newGateway(t, withMessages, func(o *httpapi.Options) { o.MaxRequestSize = limit; o.Limits.BufferedBytes = 1 << 20 })
	if a := g.ask(t, "POST", "/set/k", gzipOf(t, strings.Repeat("v", limit)), "Content-Encoding: gzip"); a.status != 200 {
		t.Errorf("at the limit: %d %s", a.status, a.body)
	}
	tooLarge := `{"error":"ERR max request size exceeded. Limit: 65536 bytes, Actual: more than that after decoding. Setting: max-request-size"}`
	for name, n := range map[string]int{"one above": limit + 1, "a bomb": 4 << 20} {
		body := gzipOf(t, strings.Repeat("v", n))
		if a := g.ask(t, "POST", "/set/k", body, "Content-Encoding: gzip"); a.status != http.StatusBadRequest || a.body != tooLarge {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if a := g.ask(t, "POST", "/v2/publish/https://example.com", body, as(httpapitest.MessagesToken), "Content-Encoding: gzip"); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := g.ask(t, "GET", "/strlen/k", ""); a.body != `{"result":65536}` {
		t.Errorf("after it: %s", a.body)
	}
}

// Replies of a kilobyte and more are compressed for clients that ask for it, on every path, and unpack to the reply
// that others get.
func TestPackedReplies(t *testing.T) {
	g := newGateway(t, withMessages)
	g.ask(t, "POST", "/set/text", strings.Repeat("text ", 2000))
	g.ask(t, "POST", "/set/small", "v")
	g.ask(t, "POST", "/set/large", strings.Repeat("large ", 200_000))
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(rand.N(256))
	}
	g.ask(t, "POST", "/set/noise", string(noise))
	rows, _ := json.Marshal([][]string{{"GET", "text"}, {"GET", "large"}, {"GET", "small"}, {"NOSUCH"}})
	standard, resp2 := as(httpapitest.Token), "Svc-Response-Format: resp2"
	for _, c := range []struct {
		method, target, body string
		packed               bool
		header               []string
	}{
		{"GET", "/get/text", "", true, []string{standard}},
		{"GET", "/get/small", "", false, []string{standard}},
		{"GET", "/get/large", "", true, []string{standard}},
		{"GET", "/get/text", "", true, []string{standard, resp2}},
		{"GET", "/get/noise", "", false, []string{standard, resp2}},
		{"GET", "/get/text", "", true, []string{standard, "Svc-Encoding: base64"}},
		{"GET", "/get/text", "", true, []string{standard, "Origin: http://page"}},
		{"HEAD", "/get/text", "", false, []string{standard}},
		{"POST", "/pipeline", string(rows), true, []string{standard}},
		{"POST", "/echo", strings.Repeat("e", 1007), false, []string{standard}}, // {"result":""} around it: 1,020 bytes
		{"POST", "/echo", strings.Repeat("e", 1011), true, []string{standard}},
		{"POST", "/x", strings.Repeat("e", 2000), false, []string{standard}},
		{"GET", "/v2/openapi.yaml", "", true, []string{as(httpapitest.MessagesToken)}},
		{"GET", "/v2/queues", "", false, []string{as(httpapitest.MessagesToken)}},
		{"GET", "/openapi.json", "", false, []string{as(httpapitest.AdminToken)}}, // no such path
		{"GET", "/admin/openapi.json", "", true, []string{as(httpapitest.AdminToken)}},
		{"GET", "/livez", "", false, nil},
	} {
		plain := g.coded(t, c.method, c.target, c.body, append(c.header, "Accept-Encoding: identity")...)
		if plain.header.Get("Content-Encoding") != "" {
			t.Errorf("%s %s is packed for nobody who asked", c.method, c.target)
		}
		accepts := map[string]bool{"gzip": true, "deflate, GZIP;q=0.5, br": true, "*": true, "gzip;q=0, *": false, "gzip; q=0.000": false, "br": false}
		if len(plain.body) > 100<<10 {
			accepts = map[string]bool{"gzip": true}
		}
		for accept, takes := range accepts {
			for _, more := range []string{"X: y", "TE: trailers"} { // on the fast path, and not
				a := g.coded(t, c.method, c.target, c.body, append(c.header, "Accept-Encoding: "+accept, more)...)
				packed := a.header.Get("Content-Encoding") == "gzip"
				if packed != (takes && c.packed) || packed != strings.Contains(a.header.Get("Vary"), "Accept-Encoding") {
					t.Errorf("%s %s for %q: %d %v", c.method, c.target, accept, a.status, a.header)
					continue
				}
				if packed {
					if len(a.body) >= len(plain.body) {
						t.Errorf("%s %s: %d bytes of %d", c.method, c.target, len(a.body), len(plain.body))
					}
					a.body = unpacked(t, a.body)
				}
				if a.status != plain.status || a.body != plain.body || a.header.Get("Content-Type") != plain.header.Get("Content-Type") {
					t.Errorf("%s %s for %q: %d %.200q, want %d %.200q", c.method, c.target, accept, a.status, a.body, plain.status, plain.body)
				}
			}
		}
	}
}

// coded asks and leaves the reply as it came.
func (g *gateway) coded(t testing.TB, method, target, body string, header ...string) answer {
	t.Helper()
	r := httpapitest.NewRequest(t, method, g.URL+target, body)
	r.Header.Del("Authorization")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	res, err := g.client.Do(r)
	return read(t, res, err)
}

func unpacked(t testing.TB, body string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
