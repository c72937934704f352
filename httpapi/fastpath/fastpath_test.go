package fastpath

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

	"github.com/trireme-dev/trireme/internal/testgate"
)

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	w.Header().Set("Kind", fmt.Sprintf("%T", w))
	fmt.Fprintf(w, "%s %s host=%s auth=%s x=%q length=%d body=%s", r.Method, r.RequestURI, r.Host, r.Header.Get("Authorization"), r.Header["X"], r.ContentLength, b)
}

func start(t *testing.T) (addr string, s *Server) {
	t.Helper()
	return startWith(t, func(*Server) {})
}

func startWith(t *testing.T, adjust func(*Server)) (addr string, s *Server) {
	t.Helper()
	h := http.HandlerFunc(echo)
	s = &Server{Handler: h, HTTP: &http.Server{Handler: h}, Plain: func(b []byte) bool { return !bytes.HasPrefix(b, []byte("/odd")) },
		MaxHead: 8 << 10, MaxBody: 4 << 10, HeadTime: 5 * time.Second, BodyTime: 5 * time.Second, WriteTime: 5 * time.Second, IdleTime: time.Minute}
	adjust(s)
	return serve(t, s, func(l net.Listener) net.Listener { return l }), s
}

// serve runs a server on a loopback socket until the test ends, and returns its address. through may wrap the listener.
func serve(t *testing.T, s *Server, through func(net.Listener) net.Listener) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(through(l)) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// talk sends raw bytes and reads n responses.
func talk(t *testing.T, addr string, n int, parts ...string) (replies []string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
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
		if strings.Contains(a.Header.Get("Kind"), "fastpath.reply") {
			who = "fast path"
		}
		replies = append(replies, fmt.Sprintf("%s %d %s", who, a.StatusCode, b))
	}
	return replies
}

// TestPlainRequestsStay sends requests that belong on the fast path: one by one, in pieces,
// many at once, with heads that repeat and heads that change.
func TestPlainRequestsStay(t *testing.T) {
	addr, _ := start(t)
	post := func(body, more string) string {
		return fmt.Sprintf("POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer t\r\nContent-Length: %d\r\n%s\r\n%s", len(body), more, body)
	}
	got := talk(t, addr, 6, post("one", ""), post("seven77", ""), post("", "X: 1\r\nX: 2\r\n"), post("x", "")[:20], post("x", "")[20:],
		post(strings.Repeat("y", 3000), ""), "GET /%ff/ HTTP/1.1\r\nhost: h:1\r\nConnection: Keep-Alive\r\n\r\n")
	want := []string{
		`fast path 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=3 body=one`,
		`fast path 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=7 body=seven77`,
		`fast path 200 POST /a?b=c host=h:1 auth=Bearer t x=["1" "2"] length=0 body=`,
		`fast path 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=1 body=x`,
		`fast path 200 POST /a?b=c host=h:1 auth=Bearer t x=[] length=3000 body=` + strings.Repeat("y", 3000),
		`fast path 200 GET /%ff/ host=h:1 auth= x=[] length=0 body=`,
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
		"two hosts":   "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
		"other host":  "GET / HTTP/1.1\r\nHost: h/\r\n\r\n",
		"close":       "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"upgrade":     "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: x\r\n\r\n",
		"encoding":    "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: x\r\nContent-Length: 0\r\n\r\n",
		"pragma":      "GET / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n",
		"folded":      "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n",
	} {
		got := talk(t, addr, 2, plain, odd)
		if !strings.HasPrefix(got[0], "fast path 200 ") || !strings.HasPrefix(got[1], "net/http ") {
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
	release := testgate.New(t)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "/slow" {
			release.Wait()
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
	release.Reached(1)
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	idle.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := idle.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Fatalf("the idle connection got %d bytes, %v", n, err)
	}
	release.Open()
	if got := testgate.Receive(t, "the answer", slow); got[0] != "net/http 200 done" { // no Kind header here
		t.Fatal(got)
	}
	if err := testgate.Receive(t, "the end of the server", stopped); err != nil {
		t.Fatal(err)
	}
}

// seenRequest records one request as a handler saw it.
type seenRequest struct {
	method, target, host, proto string
	header                      string
	length                      int64
	body                        string
}

func sawRequest(r *http.Request) seenRequest {
	body, _ := io.ReadAll(r.Body)
	header := r.Header.Clone()
	header.Del("Content-Length") // which a server shows as ContentLength
	return seenRequest{r.Method, r.RequestURI, r.Host, r.Proto, fmt.Sprint(map[string][]string(header)), max(r.ContentLength, 0), string(body)}
}

// scripted is a connection whose input is known beforehand, and comes in pieces.
type scripted struct {
	net.Conn
	in    []byte
	piece int
}

func (s *scripted) Read(b []byte) (int, error) {
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.in[:min(len(s.in), s.piece)])
	s.in = s.in[n:]
	return n, nil
}

func (s *scripted) Write(b []byte) (int, error)      { return len(b), nil }
func (s *scripted) Close() error                     { return nil }
func (s *scripted) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

// throughFastPath returns the requests that the fast path answers of one connection's input.
func throughFastPath(input string, piece int) (all []seenRequest) {
	s := &Server{MaxHead: 4 << 10, MaxBody: 4 << 10, HeadTime: time.Minute, BodyTime: time.Minute, WriteTime: time.Minute, IdleTime: time.Minute,
		HTTP: &http.Server{}, Plain: func([]byte) bool { return true }}
	s.base = *(&http.Request{}).WithContext(context.Background())
	s.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { all = append(all, sawRequest(r)) })
	k := newConn(s, &scripted{in: []byte(input), piece: piece})
	for k.serveOne() == nil {
	}
	return all
}

// throughNetHTTP returns the first n requests of one connection's input as net/http's server
// would read them.
func throughNetHTTP(input string, n int) (all []seenRequest, err error) {
	in := bufio.NewReader(strings.NewReader(input))
	for len(all) < n {
		r, err := http.ReadRequest(in)
		if err != nil {
			return all, err
		}
		if r.ProtoAtLeast(1, 1) && r.Host == "" {
			return all, fmt.Errorf("request %d has no host", len(all))
		}
		all = append(all, sawRequest(r))
	}
	return all, nil
}

// sameAsNetHTTP fails if the fast path has answered a request that net/http reads
// differently, or refuses.
func sameAsNetHTTP(t *testing.T, input string, piece int) (answered int) {
	t.Helper()
	got := throughFastPath(input, piece)
	want, err := throughNetHTTP(input, len(got))
	if err != nil {
		t.Fatalf("%q\nthe fast path answers %d requests, net/http %d: %v", input, len(got), len(want), err)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%q\nrequest %d: %+v\nnet/http:  %+v", input, i, got[i], want[i])
		}
	}
	return len(got)
}

// Requests of which each leaves something that the next must not have.
var sequences = []string{
	// The head of the third has no line at all, once the second has changed the length only.
	"POST /a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nContent-Length: 3\r\n\r\nabc" +
		"POST /a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nContent-Length: 0\r\n\r\n" + "GET /b HTTP/1.1\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\n\r\n" + "GET /b HTTP/1.1\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n12345" + "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n12" +
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n12345" + "POST / HTTP/1.1\r\nHost: h\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Length: 2\r\n\r\n12" + "POST / HTTP/1.1\r\nHost: h\r\nX: 2\r\nContent-Length: 1\r\n\r\n1" +
		"POST / HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Length: 2\r\n\r\n12",
	"PUT /%20 HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n" + "PUT /%20 HTTP/1.1\r\nHost: h\r\nA: c\r\n\r\n" + "PUT /%20 HTTP/1.1\r\nHost: i\r\nA: c\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nA: b\r\nA: c\r\n\r\n" + "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n" + "GET / HTTP/1.1\r\nA: b\r\nHost: h\r\n\r\n",
	"DELETE / HTTP/1.1\r\nHost: h\r\n\r\n" + "DELETE / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n" + "PATCH / HTTP/1.1\r\nHost: h\r\nCache-Control: x\r\n\r\n",
}

func TestNothingOfARequestIsLeftForTheNext(t *testing.T) {
	for i, input := range sequences {
		for _, piece := range []int{1, 7, 1 << 20} {
			if sameAsNetHTTP(t, input, piece) == 0 {
				t.Errorf("sequence %d: the fast path has answered nothing", i)
			}
		}
	}
	// Of the first sequence only the complete requests.
	if n := len(throughFastPath(sequences[0], 1<<20)); n != 2 {
		t.Errorf("%d requests were answered, the third has no Host", n)
	}
}

// FuzzConnection gives the fast path and net/http the same bytes of one connection: of each request that the fast path
// answers, both see the same method, target, host, headers, length and body, whatever requests came before it.
func FuzzConnection(f *testing.F) {
	for _, input := range sequences {
		f.Add(input, 1<<10)
	}
	f.Add("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", 3)
	f.Add("GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\nHost: h\r\n\r\n", 1)
	f.Fuzz(func(t *testing.T, input string, piece int) { sameAsNetHTTP(t, input, min(max(piece, 1), 1<<10)) })
}

// FuzzRepeatedRequest repeats and varies requests on one connection: the lines of the heads
// are drawn from a few, so that the fast path takes them for known again and again.
func FuzzRepeatedRequest(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 1, 2, 3, 0, 0, 1, 2})
	f.Add([]byte{1, 4, 0, 1, 5, 0, 0})
	lines := []string{"", "Host: h", "Authorization: Bearer a", "Content-Length: 1", "Content-Length: 2", "Content-Length: 0", "Authorization: Bearer b",
		"X: 1", "X:", "host: i", "content-length: 01", "Connection: keep-alive", "x: 1", "Content-Type: a"}
	f.Fuzz(func(t *testing.T, drawn []byte) {
		var input strings.Builder
		head, length := "", 0
		for _, d := range drawn {
			line := lines[int(d)%len(lines)]
			if line != "" {
				head += line + "\r\n"
				if name, value, _ := strings.Cut(line, ": "); strings.EqualFold(name, "Content-Length") {
					length = int(value[len(value)-1] - '0')
				}
				continue
			}
			input.WriteString("POST / HTTP/1.1\r\n" + head + "\r\n" + strings.Repeat("b", length))
			if head, length = "", 0; d >= 128 {
				input.WriteString("POST / HTTP/1.1\r\n\r\n")
			}
		}
		sameAsNetHTTP(t, input.String(), 1<<10)
	})
}

func BenchmarkHead(b *testing.B) {
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
