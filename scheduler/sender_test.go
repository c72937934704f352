package scheduler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

const testKey = "sig_test"

func testSender(t *testing.T, change ...func(*SenderOptions)) *Sender {
	t.Helper()
	tr := egress.NewClient(egress.Options{IdlePerHost: 128, Policy: &egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	t.Cleanup(tr.CloseIdle)
	o := SenderOptions{Transport: tr, Prefixes: []string{"Svc", "Upstash"}, Keys: func(string) queue.Keys { return queue.Keys{Current: testKey, Next: "sig_next"} }}
	for _, f := range change {
		f(&o)
	}
	return NewSender(o)
}

func attempt(c queue.Content) *queue.Attempt {
	return &queue.Attempt{ID: queue.ID{Seq: 7, Salt: 9}, Number: 3, Retried: 2, Timeout: 10_000, Content: &c}
}

func send(t *testing.T, s *Sender, a *queue.Attempt) queue.Result {
	t.Helper()
	n, ok := s.Send(t.Context(), a)
	if !ok || n.AttemptRef != a.Ref() {
		t.Fatalf("%v, %v", n, ok)
	}
	return n.Result
}

// seen is a request as a destination sees it.
type seen struct {
	method, target, host string
	header               http.Header
	body                 string
}

func sinkOf(t *testing.T, answer http.HandlerFunc) (url string, requests chan seen) {
	t.Helper()
	requests = make(chan seen, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.Method, r.RequestURI, r.Host, r.Header, string(body)}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// TestRequest holds every header that a destination gets, under both prefixes.
func TestRequest(t *testing.T) {
	url, requests := sinkOf(t, nil)
	a := attempt(queue.Content{
		URL: url + "/a//b?x=%20&upstash-y=1", Body: []byte("{\"a\":1}\x00"), Group: "news", Schedule: "scd_1", CallerIP: "192.0.2.7",
		Options: queue.Options{Method: "PUT", Header: []queue.Field{
			{Name: "content-type", Value: "text/plain"}, {Name: "X-Two", Value: "1"}, {Name: "x-two", Value: "2"},
			{Name: "Upstash-Workflow-RunId", Value: "wfr_1"}, {Name: "Upstash-Message-Id", Value: "forged"},
			{Name: "Connection", Value: "close"}, {Name: "Host", Value: "other"}, {Name: "Transfer-Encoding", Value: "chunked"}, {Name: "Content-Length", Value: "1"},
			{Name: "Expect", Value: "100-continue"}, {Name: "Te", Value: "trailers"},
		}},
	})
	n := send(t, testSender(t), a)
	if n.Response.Status != 200 || n.Error != "" {
		t.Fatal(n)
	}
	got := <-requests
	if got.method != "PUT" || got.target != "/a//b?x=%20&upstash-y=1" || "http://"+got.host != url || got.body != "{\"a\":1}\x00" {
		t.Errorf("%+v", got)
	}
	for _, prefix := range []string{"Svc-", "Upstash-"} {
		claims := verify(t, testKey, got.header.Get(prefix+"Signature"))
		if claims["sub"] != a.Content.URL || claims["iss"] != "Upstash" {
			t.Error(claims)
		}
		got.header.Del(prefix + "Signature")
	}
	id := []string{a.ID.String()}
	want := http.Header{
		"Content-Type": {"text/plain"}, "X-Two": {"1", "2"}, "Upstash-Workflow-Runid": {"wfr_1"}, "User-Agent": {"Upstash-QStash"}, "Content-Length": {"8"},
		"Svc-Message-Id": id, "Upstash-Message-Id": id, "Svc-Retried": {"2"}, "Upstash-Retried": {"2"},
		"Svc-Caller-Ip": {"192.0.2.7"}, "Upstash-Caller-Ip": {"192.0.2.7"}, "Svc-Topic-Name": {"news"}, "Upstash-Topic-Name": {"news"},
		"Svc-Schedule-Id": {"scd_1"}, "Upstash-Schedule-Id": {"scd_1"},
	}
	if !reflect.DeepEqual(got.header, want) {
		t.Errorf("header %v\n  want %v", got.header, want)
	}
}

func TestRequestOfLittle(t *testing.T) {
	url, requests := sinkOf(t, nil)
	send(t, testSender(t), attempt(queue.Content{URL: url}))
	got := <-requests
	if got.method != "POST" || got.target != "/" || got.body != "" || got.header.Get("Upstash-Caller-Ip") != "" || len(got.header) != 8 {
		t.Errorf("%+v", got)
	}
	send(t, testSender(t), attempt(queue.Content{URL: url, Body: []byte("b"), Options: queue.Options{Method: "GET", Header: []queue.Field{{Name: "User-Agent", Value: "mine"}}}}))
	if got = <-requests; got.method != "GET" || got.body != "b" || got.header.Get("User-Agent") != "mine" {
		t.Errorf("%+v", got)
	}
}

// TestServiceHeadersCannotBeForged: a forwarded header does not pass for one of the service that this
// attempt doesn't have.
func TestServiceHeadersCannotBeForged(t *testing.T) {
	url, requests := sinkOf(t, nil)
	var forged []queue.Field
	for _, name := range []string{"Schedule-Id", "Topic-Name", "Caller-Ip", "Region", "Message-Id", "Retried", "Signature"} {
		forged = append(forged, queue.Field{Name: "Upstash-" + name, Value: "forged"}, queue.Field{Name: "svc-" + name, Value: "forged"})
	}
	send(t, testSender(t), attempt(queue.Content{URL: url, Options: queue.Options{Header: append(forged, queue.Field{Name: "X-Mine", Value: "1"})}}))
	got := <-requests
	for name, values := range got.header {
		if strings.Contains(strings.Join(values, ","), "forged") {
			t.Errorf("%s: %v", name, values)
		}
	}
	if got.header.Get("X-Mine") != "1" || got.header.Get("Svc-Message-Id") == "" {
		t.Error(got.header)
	}
}

func TestCredentialsOfDestinations(t *testing.T) {
	url, requests := sinkOf(t, nil)
	s := testSender(t, func(o *SenderOptions) { o.APITokens = map[string]string{"llm": "secret"} })
	own := []queue.Field{{Name: "authorization", Value: "Bearer mine"}}
	for _, c := range []struct {
		content queue.Content
		want    string
	}{
		{queue.Content{URL: url}, ""},
		{queue.Content{URL: url, API: "llm"}, "Bearer secret"},
		{queue.Content{URL: url, API: "llm", Options: queue.Options{Header: own}}, "Bearer mine"},
		{queue.Content{URL: url, API: "other"}, ""},
		{queue.Content{URL: strings.Replace(url, "//", "//u:p@", 1)}, "Basic dTpw"},
	} {
		send(t, s, attempt(c.content))
		if got := <-requests; got.header.Get("Authorization") != c.want {
			t.Errorf("%+v: %q", c.content, got.header.Get("Authorization"))
		}
	}
	a := attempt(queue.Content{URL: url, API: "llm"}) // the operator's tokens are for default
	a.DB = "shop"
	send(t, s, a)
	if got := <-requests; got.header.Get("Authorization") != "" {
		t.Errorf("an attempt of another database has the operator's token: %q", got.header.Get("Authorization"))
	}
}

// What this server says of an attempt can't be forged by headers that are forwarded, whether
// the server has something to say or not.
func TestForwardedHeadersDontForge(t *testing.T) {
	url, requests := sinkOf(t, nil)
	var header []queue.Field
	for _, prefix := range []string{"Upstash-", "upstash-", "SVC-"} {
		for _, name := range []string{"Schedule-Id", "Region", "Topic-Name", "Caller-Ip", "Retried", "Message-Id", "Signature", "Source-Message-Id", "Endpoint-Name"} {
			header = append(header, queue.Field{Name: prefix + name, Value: "forged"})
		}
	}
	// What configures a message is for a destination that is such a service itself.
	passed := []string{"Upstash-Workflow-Runid", "Upstash-Label", "Upstashed", "Upstash-Forward-X", "Upstash-Callback", "Upstash-Callback-Retries", "Svc-Failure-Callback", "Upstash-Queue-Name"}
	for _, name := range passed {
		header = append(header, queue.Field{Name: name, Value: "passed"})
	}
	send(t, testSender(t), attempt(queue.Content{URL: url, Options: queue.Options{Header: header}}))
	got := <-requests
	for name, values := range got.header {
		if slices.Contains(values, "forged") {
			t.Errorf("%s was forged", name)
		}
	}
	for _, name := range passed {
		if got.header.Get(name) != "passed" {
			t.Errorf("%s was not forwarded", name)
		}
	}
}

func TestRegionOnlyIfConfigured(t *testing.T) {
	url, requests := sinkOf(t, nil)
	send(t, testSender(t, func(o *SenderOptions) { o.Region = "EU-CENTRAL-1" }), attempt(queue.Content{URL: url}))
	if got := <-requests; got.header.Get("Upstash-Region") != "EU-CENTRAL-1" {
		t.Error(got)
	}
}

// TestRecordedPartOfAnswers: bodies that nobody asks for stay out of the log.
func TestRecordedPartOfAnswers(t *testing.T) {
	status := 200
	url, _ := sinkOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Answer", "1")
		w.WriteHeader(status)
		io.WriteString(w, strings.Repeat("x", 600<<10))
	})
	s := testSender(t)
	with := queue.Options{Callback: &queue.Callback{URL: "http://c"}}
	for _, c := range []struct {
		status, body int
		header       bool
		options      queue.Options
	}{
		{200, 0, false, queue.Options{}}, {500, recordedFailure, true, queue.Options{}}, {200, 600 << 10, true, with}, {500, 600 << 10, true, with},
		{302, recordedFailure, true, queue.Options{}},
	} {
		status = c.status
		n := send(t, s, attempt(queue.Content{URL: url, Options: c.options}))
		if n.Response.Status != c.status || len(n.Response.Body) != c.body || (queue.Value(n.Response.Header, "x-answer") == "1") != c.header || n.Error != "" {
			t.Errorf("%+v: %d, %d bytes, %v, %s", c, n.Response.Status, len(n.Response.Body), n.Response.Header, n.Error)
		}
	}
}

// TestHopByHopHeadersStay: what belongs to a connection goes neither to a destination nor, of its answer, into the log, from
// which callbacks, dead letters, events and the results of calls are made. It may still ask this server for something.
func TestHopByHopHeadersStay(t *testing.T) {
	url, requests := sinkOf(t, func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{"Connection": "X-Private, Retry-After", "X-Private": "1", "Keep-Alive": "timeout=5", "Proxy-Connection": "close", "X-Public": "1", "Retry-After": "9"} {
			w.Header().Set(name, value)
		}
		w.WriteHeader(503)
	})
	n := send(t, testSender(t), attempt(queue.Content{URL: url, Options: queue.Options{Header: []queue.Field{
		{Name: "X-Private", Value: "1"}, {Name: "connection", Value: "x-private"}, {Name: "Proxy-Authorization", Value: "x"}, {Name: "X-Public", Value: "1"},
	}}}))
	got := <-requests
	if got.header.Get("X-Public") != "1" || got.header["X-Private"] != nil || got.header["Proxy-Authorization"] != nil {
		t.Errorf("the destination got %v", got.header)
	}
	for _, name := range []string{"Connection", "X-Private", "Keep-Alive", "Proxy-Connection", "Retry-After"} {
		if queue.Value(n.Response.Header, name) != "" {
			t.Errorf("%s is in the log: %v", name, n.Response.Header)
		}
	}
	if queue.Value(n.Response.Header, "X-Public") != "1" || n.RetryDelay != 9000 {
		t.Errorf("%v, a delay of %d", n.Response.Header, n.RetryDelay)
	}
}

func TestRetryDelayTravelsWithAFailure(t *testing.T) {
	url, _ := sinkOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/asks" {
			w.Header().Set("Retry-After", "9")
		}
		w.WriteHeader(503)
	})
	s := testSender(t)
	for path, want := range map[string]int64{"/asks": 9000, "/": 54_598} {
		if n := send(t, s, attempt(queue.Content{URL: url + path})); n.RetryDelay != want {
			t.Errorf("%s: %d", path, n.RetryDelay)
		}
	}
}

// raw is a destination that answers with bytes, not HTTP.
func raw(t *testing.T, serve func(net.Conn)) (url string) {
	t.Helper()
	return connections(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			serve(c)
		}
	})
}

// connections is a destination that serves each connection in its own way.
func connections(t *testing.T, serve func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func forever(c net.Conn, text string) {
	for {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
}

func slowly(c net.Conn, text string) {
	for {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond) // the slowness is under test
	}
}

// TestHostileDestinations: each ends within the attempt's time, is told in words, and
// keeps no more than the limits.
func TestHostileDestinations(t *testing.T) {
	const fine = "HTTP/1.1 200 OK\r\n"
	inside := raw(t, func(c net.Conn) { t.Error("the inside was reached") })
	s := testSender(t)
	callback := queue.Options{Callback: &queue.Callback{URL: "http://c"}}
	for name, c := range map[string]struct {
		serve   func(net.Conn)
		options queue.Options
		status  int
		err     string
	}{
		"silence":             {func(c net.Conn) { io.Copy(io.Discard, c) }, queue.Options{}, 0, "timeout"},
		"slow status":         {func(c net.Conn) { slowly(c, "H") }, queue.Options{}, 0, ""},
		"slow header":         {func(c net.Conn) { io.WriteString(c, fine); slowly(c, "X-A: b\r\n") }, queue.Options{}, 0, "timeout"},
		"endless header":      {func(c net.Conn) { io.WriteString(c, fine); forever(c, "X-A: bbbbbbbbbbbbbbbbbbbb\r\n") }, queue.Options{}, 0, "header"},
		"endless header line": {func(c net.Conn) { io.WriteString(c, fine+"X-A: "); forever(c, "bbbbbbbbbbbbbbbbbbbb") }, queue.Options{}, 0, "header"},
		"endless 1xx":         {func(c net.Conn) { forever(c, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") }, queue.Options{}, 0, "header"},
		"endless body":        {func(c net.Conn) { io.WriteString(c, fine+"\r\n"); forever(c, strings.Repeat("b", 4096)) }, queue.Options{}, 200, ""},
		"endless body kept":   {func(c net.Conn) { io.WriteString(c, fine+"\r\n"); forever(c, strings.Repeat("b", 4096)) }, callback, 200, ""},
		"endless chunks": {func(c net.Conn) {
			io.WriteString(c, fine+"Transfer-Encoding: chunked\r\n\r\n")
			forever(c, "1000\r\n"+strings.Repeat("b", 4096)+"\r\n")
		}, callback, 200, ""},
		"100 MB": {func(c net.Conn) {
			io.WriteString(c, fine+"Content-Length: 104857600\r\n\r\n")
			forever(c, strings.Repeat("b", 4096))
		}, callback, 200, ""},
		"slow body":  {func(c net.Conn) { io.WriteString(c, fine+"Content-Length: 1000000\r\n\r\n"); slowly(c, "b") }, queue.Options{}, 0, "answered 200, but the body broke off: timeout"},
		"short body": {func(c net.Conn) { io.WriteString(c, fine+"Content-Length: 100\r\n\r\nbbb") }, queue.Options{}, 0, "answered 200, but the body broke off: the connection ended"},
		"reset":      {func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }, queue.Options{}, 0, "reset"},
		"reset in the body": {func(c net.Conn) {
			io.WriteString(c, fine+"Content-Length: 100\r\n\r\nbbb")
			c.(*net.TCPConn).SetLinger(0)
		}, queue.Options{}, 0, "answered 200"},
		"nothing":     {func(c net.Conn) {}, queue.Options{}, 0, "the connection ended"},
		"no HTTP":     {func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n\r\n") }, queue.Options{}, 0, "malformed"},
		"bad status":  {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 2000 Huge\r\n\r\n") }, queue.Options{}, 0, "malformed"},
		"bad chunks":  {func(c net.Conn) { io.WriteString(c, fine+"Transfer-Encoding: chunked\r\n\r\nzz\r\n") }, queue.Options{}, 0, "answered 200"},
		"two lengths": {func(c net.Conn) { io.WriteString(c, fine+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nbb") }, queue.Options{}, 0, ""},
		"upgrade":     {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n\r\n"); slowly(c, "b") }, queue.Options{}, 101, ""},
		"redirect inside": {func(c net.Conn) {
			fmt.Fprintf(c, "HTTP/1.1 307 Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", inside)
		}, queue.Options{}, 307, ""},
		"redirect to metadata": {func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 302 Moved\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nContent-Length: 0\r\n\r\n")
		}, queue.Options{}, 302, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := attempt(queue.Content{URL: raw(t, c.serve), Options: c.options})
			a.Timeout = 60_000
			if strings.HasPrefix(name, "slow ") || name == "silence" {
				a.Timeout = 700 // what ends these
			}
			n := send(t, s, a)
			if n.Response.Status != c.status || (n.Error == "") != (c.status != 0) || !strings.Contains(n.Error, c.err) || len(n.Error) > maxError {
				t.Errorf("status %d, error %q", n.Response.Status, n.Error)
			}
			if len(n.Response.Body) > DefaultResponse {
				t.Errorf("%d bytes are kept", len(n.Response.Body))
			}
			if n.Response.Status != 200 && n.RetryDelay <= 0 {
				t.Errorf("retry after %d", n.RetryDelay)
			}
		})
	}
}

func TestDestinationsThatCannotBeAsked(t *testing.T) {
	s := testSender(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for url, want := range map[string]string{
		"http://" + closed.Addr().String(): "refused",
		"http://10.0.0.1/":                 "destination not allowed: 10.0.0.1 is a private address",
		"http://169.254.169.254/":          "destination not allowed: 169.254.169.254 is a cloud metadata address",
		"http://[::1]/":                    "destination not allowed: ::1 is a loopback address",
		"http://nowhere.invalid/":          "could not be resolved",
		"http://a b/":                      "its host has a character that no host may have",
		"http://%zz/":                      "its host has a character that no host may have",
		"ftp://example.com/":               "an absolute URL that begins with http:// or https:// is wanted",
		"http://":                          "it has no host",
	} {
		n := send(t, s, attempt(queue.Content{URL: url}))
		if n.Response.Status != 0 || !strings.Contains(n.Error, want) {
			t.Errorf("%s: %d, %q", url, n.Response.Status, n.Error)
		}
	}
	bad := attempt(queue.Content{URL: "http://127.0.0.1/", Options: queue.Options{Header: []queue.Field{{Name: "X-A", Value: "b\r\nX-Evil: 1"}}}})
	if n := send(t, s, bad); !strings.Contains(n.Error, "invalid header") {
		t.Error(n)
	}
}

// TestEndedAttemptHasNoOutcome: what was broken off from this side is not told as the
// destination's failure.
func TestEndedAttemptHasNoOutcome(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := raw(t, func(c net.Conn) { cancel(); io.Copy(io.Discard, c) })
	if n, ok := testSender(t).Send(ctx, attempt(queue.Content{URL: url})); ok {
		t.Errorf("%+v", n)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	remotes := make(chan string, 10)
	url, _ := sinkOf(t, func(w http.ResponseWriter, r *http.Request) {
		remotes <- r.RemoteAddr
		io.WriteString(w, strings.Repeat("x", 100<<10))
	})
	s := testSender(t)
	for range 3 {
		send(t, s, attempt(queue.Content{URL: url, Body: []byte("x")}))
	}
	if a, b, c := <-remotes, <-remotes, <-remotes; a != b || b != c {
		t.Error(a, b, c)
	}
}

// keepAndDrop is a destination that answers the first request of each connection and keeps it
// open, then takes a second one and closes without an answer.
func keepAndDrop(t *testing.T) (url string, requests chan seen) {
	requests = make(chan seen, 1000)
	return connections(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for i := range 2 {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(r.Body)
			requests <- seen{r.Method, r.RequestURI, r.Host, r.Header, string(body)}
			if i == 0 {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}
	}), requests
}

// TestOneAttemptIsOneRequest: a destination that keeps connections and drops them with the next
// request gets each attempt once, whatever the method and headers of the message are.
func TestOneAttemptIsOneRequest(t *testing.T) {
	key := func(name string) []queue.Field { return []queue.Field{{Name: name, Value: "a"}} }
	for _, c := range []queue.Content{
		{Body: []byte("x")},
		{},
		{Options: queue.Options{Header: key("Idempotency-Key")}},
		{Options: queue.Options{Header: key("X-Idempotency-Key")}, Body: []byte("x")},
		{Options: queue.Options{Method: "GET"}},
		{Options: queue.Options{Method: "GET", Header: key("Idempotency-Key")}},
		{Options: queue.Options{Method: "DELETE"}},
		{Options: queue.Options{Method: "PUT"}, Body: []byte("x")},
	} {
		url, requests := keepAndDrop(t)
		c.URL = url
		s := testSender(t)
		answered := 0
		for range 6 {
			if n := send(t, s, attempt(c)); n.Response.Status == 200 {
				answered++
			} else if n.Error == "" {
				t.Errorf("%+v: %+v", c, n)
			}
		}
		if len(requests) != 6 || answered != 3 {
			t.Errorf("%s %v: 6 attempts were %d requests, %d were answered", c.Method, c.Header, len(requests), answered)
		}
		for range len(requests) {
			if got := <-requests; got.body != string(c.Body) || len(c.Header) > 0 && got.header.Get(c.Header[0].Name) != "a" || got.header["Transfer-Encoding"] != nil {
				t.Errorf("%+v", got)
			}
		}
	}
}

// TestCutAnswersAreMarked: an answer above the limit is recorded up to it, with a header that says
// so; one of exactly the limit is whole, whatever it says of itself.
func TestCutAnswersAreMarked(t *testing.T) {
	size := 0
	url, _ := sinkOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Svc-Response-Truncated", "7")
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, strings.Repeat("x", size))
	})
	limit := int64(5 << 20)
	s := testSender(t, func(o *SenderOptions) { o.MaxResponse = func() int64 { return limit } })
	for _, c := range []struct {
		size, kept int
		mark       string
		options    queue.Options
	}{
		{recordedFailure, recordedFailure, "", queue.Options{}},
		{recordedFailure + 1, recordedFailure, "262144", queue.Options{}},
		{5 << 20, 5 << 20, "", queue.Options{Callback: &queue.Callback{URL: "http://c"}}},
		{5<<20 + 1, 5 << 20, "5242880", queue.Options{Callback: &queue.Callback{URL: "http://c"}}},
		{9 << 20, 5 << 20, "5242880", queue.Options{Failure: &queue.Callback{URL: "http://c"}}},
	} {
		size = c.size
		p := send(t, s, attempt(queue.Content{URL: url, Options: c.options})).Response
		if len(p.Body) != c.kept || queue.Value(p.Header, "Svc-Response-Truncated") != c.mark || queue.Value(p.Header, "Upstash-Response-Truncated") != c.mark {
			t.Errorf("%d bytes: %d kept, marked %v", c.size, len(p.Body), p.Header)
		}
	}
	limit = 100
	if p := send(t, s, attempt(queue.Content{URL: url})).Response; len(p.Body) != 100 || queue.Value(p.Header, "Svc-Response-Truncated") != "100" {
		t.Errorf("the limit was not asked for anew: %d bytes, %v", len(p.Body), p.Header)
	}
}

// starved is a transport of a node that can open no connection so many times.
type starved struct {
	times int
	then  http.RoundTripper
}

func (s *starved) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.times == 0 {
		return s.then.RoundTrip(r)
	}
	s.times--
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
}

// A node without a free file is no failure of the destination: the attempt waits. If that
// takes as long as the attempt may, its error says whose fault it is.
func TestSendWaitsForFileDescriptors(t *testing.T) {
	url, requests := sinkOf(t, nil)
	for _, c := range []struct {
		times    int
		timeout  int64
		arrivals int
		want     string
	}{{3, 10_000, 1, ""}, {1 << 30, 120, 0, "the node that delivers could open no connection"}} {
		s := testSender(t, func(o *SenderOptions) { o.Transport = &starved{c.times, o.Transport} })
		a := attempt(queue.Content{URL: url, Body: []byte("x")})
		a.Timeout = c.timeout
		n := send(t, s, a)
		if !strings.HasPrefix(n.Error, c.want) || (n.Error == "") != (c.want == "") || len(requests) != c.arrivals {
			t.Errorf("%d times: %q, %d requests, want %d", c.times, n.Error, len(requests), c.arrivals)
		}
		for len(requests) > 0 {
			<-requests
		}
	}
}
