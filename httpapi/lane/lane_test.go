package lane

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	w.Header().Set("Kind", fmt.Sprintf("%T", w))
	fmt.Fprintf(w, "%s %s host=%s auth=%s x=%q length=%d body=%s", r.Method, r.RequestURI, r.Host, r.Header.Get("Authorization"), r.Header["X"], r.ContentLength, b)
}

func start(t *testing.T) (addr string, s *Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := http.HandlerFunc(echo)
	s = &Server{Handler: h, HTTP: &http.Server{Handler: h}, Plain: func(b []byte) bool { return !bytes.HasPrefix(b, []byte("/odd")) },
		MaxHead: 8 << 10, MaxBody: 4 << 10, HeadTime: 5 * time.Second, BodyTime: 5 * time.Second, WriteTime: 5 * time.Second, IdleTime: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return l.Addr().String(), s
}

// talk sends raw bytes and reads n responses.
func talk(t *testing.T, addr string, n int, parts ...string) (replies []string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	for _, p := range parts {
		if _, err := io.WriteString(c, p); err != nil {
			t.Fatal(err)
		}
	}
	r := bufio.NewReader(c)
	for range n {
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		who := "net/http"
		if strings.Contains(a.Header.Get("Kind"), "lane.reply") {
			who = "lane"
		}
		replies = append(replies, fmt.Sprintf("%s %d %s", who, a.StatusCode, b))
	}
	return replies
}

// TestPlainRequestsStay sends requests that belong in the lane: one by one, in pieces,
// many at once, with heads that repeat and heads that change.
func TestPlainRequestsStay(t *testing.T) {
	addr, _ := start(t)
	post := func(body, more string) string {
		return fmt.Sprintf("POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer t\r\nContent-Length: %d\r\n%s\r\n%s", len(body), more, body)
	}
	got := talk(t, addr, 6, post("one", ""), post("seven77", ""), post("", "X: 1\r\nX: 2\r\n"), post("x", "")[:20], post("x", "")[20:],
		post(strings.Repeat("y", 3000), ""), "GET /%ff/ HTTP/1.1\r\nhost: h:1\r\nConnection: Keep-Alive\r\n\r\n")
	want := []string{
		`lane 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=3 body=one`,
		`lane 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=7 body=seven77`,
		`lane 200 POST /a?b=c host=h:1 auth=Bearer t x=["1" "2"] length=0 body=`,
		`lane 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=1 body=x`,
		`lane 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=3000 body=` + strings.Repeat("y", 3000),
		`lane 200 GET /%ff/ host=h:1 auth= x=[] length=0 body=`,
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %s\nwant %s", i, got[i], want[i])
		}
	}
}

// TestOddRequestsLeave sends a plain request and then an odd one on the same
// connection: net/http answers it with all its bytes, and everything after it.
func TestOddRequestsLeave(t *testing.T) {
	addr, _ := start(t)
	plain := "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok"
	for name, odd := range map[string]string{
		"method":      "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n",
		"version":     "GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
		"chunked":     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
		"large body":  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("z", 5000),
		"expectation": "POST / HTTP/1.1\r\nHost: h\r\nX-Y: z\r\nContent-Length: 0\r\nTE: trailers\r\n\r\n",
		"target":      "GET /odd HTTP/1.1\r\nHost: h\r\n\r\n",
		"absolute":    "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n",
		"bare feed":   "GET / HTTP/1.1\nHost: h\r\n\r\n",
		"bad escape":  "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",
		"two lengths": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"no host":     "GET / HTTP/1.1\r\n\r\n",
		"pragma":      "GET / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n",
		"folded":      "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n",
	} {
		got := talk(t, addr, 2, plain, odd)
		if !strings.HasPrefix(got[0], "lane 200 ") || !strings.HasPrefix(got[1], "net/http ") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestShutdownAnswersWhatIsUnderWay stops the server while a connection is idle and
// another waits for its reply.
func TestShutdownAnswersWhatIsUnderWay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	inside, release := make(chan bool), make(chan bool)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "/slow" {
			inside <- true
			<-release
		}
		io.WriteString(w, "done")
	})
	s := &Server{Handler: h, HTTP: &http.Server{Handler: h}, Plain: func([]byte) bool { return true }, MaxHead: 4096, MaxBody: 4096,
		HeadTime: time.Minute, BodyTime: time.Minute, WriteTime: time.Minute, IdleTime: time.Minute}
	go s.Serve(l)
	idle, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	io.WriteString(idle, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil {
		t.Fatal(err)
	}
	slow := make(chan []string, 1)
	go func() { slow <- talk(t, l.Addr().String(), 1, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n") }()
	<-inside
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	idle.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := idle.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Fatalf("the idle connection got %d bytes, %v", n, err)
	}
	close(release)
	if got := <-slow; got[0] != "net/http 200 done" { // no Kind header here
		t.Fatal(got)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

// FuzzHead compares what the lane takes with net/http: the same method, target, host,
// headers and length, or not plain. A second head on the same connection must not
// inherit anything from the first.
func FuzzHead(f *testing.F) {
	f.Add("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n")
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Length: 10\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Length: 7\r\n\r\n")
	f.Add("PUT /%20 HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n", "PUT /%20 HTTP/1.1\r\nHost: h\r\nA: c\r\n\r\n")
	f.Add("DELETE / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n", "PATCH / HTTP/1.1\r\nHost: h\r\nCache-Control: x\r\n\r\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		var h head
		for _, raw := range []string{first, second} {
			if strings.Index(raw, "\r\n\r\n") != len(raw)-4 || !h.read([]byte(raw), func([]byte) bool { return true }) {
				return
			}
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
			if err != nil {
				t.Fatalf("the lane takes %q, net/http says %v", raw, err)
			}
			r.Header.Del("Content-Length")
			if r.Method != h.method || r.RequestURI != h.target || r.Host != h.host || max(r.ContentLength, 0) != int64(h.length) || len(r.TransferEncoding) > 0 {
				t.Fatalf("%q: %+v, net/http %+v", raw, h, r)
			}
			if fmt.Sprint(map[string][]string(r.Header)) != fmt.Sprint(map[string][]string(h.header)) {
				t.Fatalf("%q: %v, net/http %v", raw, h.header, r.Header)
			}
		}
	})
}

func BenchmarkLane(b *testing.B) {
	s := &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "{}") }), Plain: func([]byte) bool { return true }}
	var h head
	raw := []byte("POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer abcdefghijklmnop\r\nContent-Type: application/json\r\nContent-Length: 33\r\n\r\n")
	b.ReportAllocs()
	for b.Loop() {
		if !h.read(raw, s.Plain) {
			b.Fatal("not plain")
		}
	}
}
