package httpclient

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// seeds are answers of every kind, each with how many bytes of it come at first.
var seeds = []string{
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
	"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: Keep-Alive\r\nX-A: 1\r\nx-a:2 \r\n\r\nok",
	"HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n", "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 304 Not Modified\r\n\r\n",
	"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n2\r\nok\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
	"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
	"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\n\r\nuntil the end", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok",
	"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nother", "HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nPragma: no-cache\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", "HTTP/1.1 200 OK\r\nContent-Le", "", "\r\n\r\n",
	"HTTP/1.1 200 caf\xc3\xa9\r\nX-\xc3: 1\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nok", "HTTP/1.1 200  OK\r\nContent-Length: 0\r\n\r\n",
}

// pieces serves one answer, cut in two.
func pieces(answer string, cut int) (client *Client, end func()) {
	near, far := net.Pipe()
	go func() {
		_, _ = http.ReadRequest(bufio.NewReader(far)) // the client may have gone
		for _, part := range []string{answer[:cut], answer[cut:]} {
			if part != "" {
				_, _ = io.WriteString(far, part)
			}
		}
		far.Close()
	}()
	c := &Client{MaxHead: 64 << 10, MaxIdle: 1, MaxIdlePerHost: 1, IdleTime: 1 << 40,
		Dial: func(context.Context, string, string) (net.Conn, error) { return near, nil }}
	return c, func() { near.Close(); c.CloseIdle() }
}

// told is all that a caller learns of an answer.
func told(a *http.Response, err error) string {
	if err != nil {
		return "error"
	}
	body, err := io.ReadAll(a.Body)
	a.Body.Close()
	return fmt.Sprintf("%q %d %v %d %v %v %q %v %v", a.Status, a.StatusCode, a.Header, a.ContentLength, a.TransferEncoding, a.Close, body, err != nil, a.Trailer)
}

// expected returns net/http's reading of a response.
func expected(answer string, r *http.Request) string {
	b := bufio.NewReader(strings.NewReader(answer))
	for {
		a, err := http.ReadResponse(b, r)
		if err != nil || a.StatusCode >= 200 || a.StatusCode == http.StatusSwitchingProtocols {
			return told(a, err)
		}
	}
}

// FuzzAnswer: of every answer, however it is cut, the caller learns what net/http would have told, and the connection is
// kept only after a whole answer with nothing behind it.
func FuzzAnswer(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, uint(i*7))
	}
	f.Fuzz(func(t *testing.T, answer string, at uint) {
		if len(answer) > 32<<10 {
			return
		}
		r := httptest.NewRequest(http.MethodPost, "http://h/", nil)
		r.Header, r.ContentLength, r.Body = http.Header{}, 0, http.NoBody
		cut := int(at % uint(len(answer)+1))
		client, end := pieces(answer, cut)
		defer end()
		got, want := told(client.RoundTrip(r)), expected(answer, r)
		if got != want {
			t.Fatalf("%q\ngot  %s\nwant %s", answer, got, want)
		}
		atOnce := (cut == 0 || cut == len(answer)) && len(answer) < firstRead/2 // what comes later is found before the next request
		if client.count > 0 && atOnce && !endsExactly(answer) {
			t.Fatalf("%q: its connection is kept", answer)
		}
	})
}

// endsExactly reports whether an answer is whole, keeps the connection, and nothing follows it, by net/http.
func endsExactly(answer string) bool {
	b := bufio.NewReader(strings.NewReader(answer))
	a, err := http.ReadResponse(b, &http.Request{Method: http.MethodPost})
	if err != nil || a.Close {
		return false
	}
	_, err = io.Copy(io.Discard, a.Body)
	return err == nil && b.Buffered() == 0 && a.StatusCode >= 200
}

// TestSeedsArePlainOrOdd: the cheap way is taken for what common servers send.
func TestSeedsArePlainOrOdd(t *testing.T) {
	for i, plain := range map[int]bool{0: true, 1: false, 2: true, 3: true, 4: false, 6: true, 9: true, 10: false, 14: false, 15: false, 19: false, 23: false} {
		end := strings.Index(seeds[i], "\r\n\r\n") + 4
		if got := (&head{}).read([]byte(seeds[i][:end])); got != plain {
			t.Errorf("%q: plain is %v", seeds[i], got)
		}
	}
}

// TestRequestIsThatOfNetHTTP: the bytes are those that net/http's Transport sends.
func TestRequestIsThatOfNetHTTP(t *testing.T) {
	got := make(chan string, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var raw strings.Builder
			r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &raw)))
			if err == nil {
				_, err = io.Copy(io.Discard, r.Body)
			}
			got <- raw.String() + fmt.Sprint(err)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			c.Close()
		}
	}()
	proxy := &url.URL{Scheme: "http", User: url.UserPassword("me", "a secret"), Host: l.Addr().String()}
	for _, by := range []*url.URL{nil, proxy} {
		ours := &Client{MaxHead: 64 << 10, Dial: new(net.Dialer).DialContext, Proxy: by}
		theirs := &http.Transport{DisableCompression: true, Proxy: http.ProxyURL(by)}
		sameRequests(t, "http://"+l.Addr().String(), got, theirs, ours)
	}
}

// sameRequests sends requests both ways and compares what a server got.
func sameRequests(t *testing.T, server string, got <-chan string, theirs, ours http.RoundTripper) {
	for _, c := range []struct {
		method, path, body string
		header             http.Header
	}{
		{"POST", "/a%20b?x=%zz&y=a+b", "hello", http.Header{"X-B": {"2", " 3\t"}, "x-lower": {"1"}, "A": {""}}}, {"POST", "", "", nil}, {"PUT", "/", "", http.Header{"User-Agent": {"one", "two"}}},
		{"DELETE", "/x", "", http.Header{"User-Agent": {""}}}, {"GET", "/x", "", http.Header{"User-Agent": {}}}, {"GET", "/x", "body", nil}, {"HEAD", "/x", "", nil}, {"OPTIONS", "/x", "", nil}, {"POST", "/x", "closes", nil}, {"POST", "/x", "of unknown length", nil},
		{"PUT", "/x", strings.Repeat("x", 2*maxBody), nil}, {"PATCH", "/?", strings.Repeat("long", 10_000), http.Header{"X": {"caf\xc3\xa9"}}},
	} {
		var sent [2]string
		for i, way := range []http.RoundTripper{theirs, ours} {
			r, err := http.NewRequest(c.method, server+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			switch c.body {
			case "closes":
				r.Close = true
			case "of unknown length":
				r.ContentLength = -1
			}
			if c.header != nil {
				r.Header = c.header
			}
			a, err := way.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			a.Body.Close()
			sent[i] = <-got
		}
		if sent[0] != sent[1] {
			t.Errorf("net/http: %.500q\nours:     %.500q", sent[0], sent[1])
		}
	}
}

// TestRefusedRequests: what a Client can't send as it is, it does not send.
func TestRefusedRequests(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"scheme": func(r *http.Request) { r.URL.Scheme = "ftp" }, "CONNECT": func(r *http.Request) { r.Method = "CONNECT" }, "method": func(r *http.Request) { r.Method = "a b" },
		"name in Unicode": func(r *http.Request) { r.URL.Host = "bücher.example" }, "host": func(r *http.Request) { r.Host = "a b" }, "no host": func(r *http.Request) { r.URL.Host = ":80" },
		"no body": func(r *http.Request) { r.Body = nil }, "coding": func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
		"trailer": func(r *http.Request) { r.Trailer = http.Header{"X": nil} }, "name": func(r *http.Request) { r.Header["a b"] = []string{"x"} },
		"value": func(r *http.Request) { r.Header["X"] = []string{"a\r\nb: c"} }, "empty name": func(r *http.Request) { r.Header[""] = []string{"x"} },
		"expect": func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, "upgrade": func(r *http.Request) { r.Header["upgrade"] = []string{"x"} },
		"connection": func(r *http.Request) { r.Header.Set("Connection", "close") },
	} {
		r, err := http.NewRequest(http.MethodPost, "http://h.example/x", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		if r.Header["X-Fine"] = []string{"v"}; check(r) != nil {
			t.Fatalf("a plain request is refused: %v", check(r))
		}
		if change(r); check(r) == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
