package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// listener reads a stream line by line, exactly as it comes.
type listener struct {
	t    testing.TB
	res  *http.Response
	r    *bufio.Reader
	stop context.CancelFunc
}

// listen opens a stream and checks its head.
func (g *gateway) listen(t testing.TB, method, target string, header ...string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r := httpapitest.NewRequest(t, method, g.URL+target, "[]", append([]string{"Accept: text/event-stream"}, header...)...)
	res, err := g.client.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{t: t, res: res, r: bufio.NewReader(res.Body), stop: cancel}
	t.Cleanup(l.close)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Cache-Control") != "no-cache" {
		body, _ := io.ReadAll(res.Body)
		t.Fatalf("%s: %d %v %s", target, res.StatusCode, res.Header, body)
	}
	return l
}

func (l *listener) close() { l.stop(); l.res.Body.Close() }

// want reads events and compares them byte for byte.
func (l *listener) want(events ...string) {
	l.t.Helper()
	for _, e := range events {
		got := make([]byte, len(e)+2)
		if n, err := io.ReadFull(l.r, got); err != nil || string(got) != e+"\n\n" {
			l.t.Fatalf("got %q (%v), want %q", got[:n], err, e)
		}
	}
}

// publish sends a message and returns the number of receivers.
func (g *gateway) publish(t testing.TB, channel, message string) string {
	t.Helper()
	a := g.ask(t, "POST", "/publish/"+channel, message)
	if a.status != 200 {
		t.Fatalf("%+v", a)
	}
	return strings.TrimSuffix(strings.TrimPrefix(a.body, `{"result":`), "}")
}

func TestSubscribe(t *testing.T) {
	g := newGateway(t)
	one := g.listen(t, "POST", "/subscribe/news/other", "Svc-Encoding: base64", "Content-Type: application/json")
	one.want("data: subscribe,news,1", "data: subscribe,other,2")
	two := g.listen(t, "GET", "/subscribe/news?_token="+httpapitest.Token, "Authorization:")
	two.want("data: subscribe,news,1")
	wide := g.listen(t, "POST", "/psubscribe/n*/x%3F")
	wide.want("data: psubscribe,n*,1", "data: psubscribe,x?,2")
	if n := g.publish(t, "news", "a,b"); n != "3" {
		t.Errorf("%s receivers", n)
	}
	if n := g.publish(t, "xy", "bytes \xff\xfe é"); n != "1" {
		t.Errorf("%s receivers", n)
	}
	if n := g.publish(t, "nobody", "x"); n != "1" { // n*
		t.Errorf("%s receivers", n)
	}
	if n := g.publish(t, "silence", "x"); n != "0" {
		t.Errorf("%s receivers", n)
	}
	g.publish(t, "other", "two\nlines\r\nand\rmore\n")
	one.want("data: message,news,a,b", "data: message,other,two\ndata: lines\ndata: and\ndata: more\ndata: ")
	two.want("data: message,news,a,b")
	wide.want("data: pmessage,n*,news,a,b", "data: pmessage,x?,xy,bytes \ufffd\ufffd é", "data: pmessage,n*,nobody,x")
}

// A subscription twice in one path is one; channels are decoded one by one.
func TestSubscribeNames(t *testing.T) {
	g := newGateway(t)
	l := g.listen(t, "POST", "/subscribe/a%2Fb/c%20d/a%2Fb/%7Be%7D/")
	l.want("data: subscribe,a/b,1", "data: subscribe,c d,2", "data: subscribe,{e},3")
	if n := g.publish(t, "a%2Fb", "m"); n != "1" {
		t.Errorf("%s receivers", n)
	}
	l.want("data: message,a/b,m")
}

// What PUBSUB says follows the streams, also when they end.
func TestSubscriberCounts(t *testing.T) {
	g := newGateway(t)
	one := g.listen(t, "POST", "/subscribe/a/b")
	one.want("data: subscribe,a,1", "data: subscribe,b,2")
	g.listen(t, "POST", "/subscribe/b").want("data: subscribe,b,1")
	g.listen(t, "POST", "/psubscribe/b*").want("data: psubscribe,b*,1")
	for command, want := range map[string]string{
		"/pubsub/channels":                 `{"result":["a","b"]}`,
		"/pubsub/channels/%5Bb-z%5D":       `{"result":["b"]}`,
		"/pubsub/numsub/a/b/none":          `{"result":["a",1,"b",2,"none",0]}`,
		"/pubsub/numpat":                   `{"result":1}`,
		"/pubsub/shardchannels":            `{"result":[]}`,
		"/pubsub/shardnumsub/a":            `{"result":["a",0]}`,
		"/pubsub/NUMSUB/a?_token=" + "abc": `{"error":"WRONGPASS invalid or missing auth token"}`,
	} {
		if a := g.ask(t, "GET", command, ""); a.body != want {
			t.Errorf("%s: %s", command, a.body)
		}
	}
	one.close()
	g.eventually(t, "/pubsub/numsub/a/b", `{"result":["a",0,"b",1]}`)
	if a := g.ask(t, "GET", "/pubsub/channels", ""); a.body != `{"result":["b"]}` {
		t.Error(a.body)
	}
}

// eventually asks until the answer is the one wanted.
func (g *gateway) eventually(t testing.TB, target, want string) {
	t.Helper()
	var got string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if got = g.ask(t, "GET", target, "").body; got == want {
			return
		}
	}
	t.Fatalf("%s: %s, want %s", target, got, want)
}

// Whatever is wrong before a stream begins is an error in JSON.
func TestStreamRefusals(t *testing.T) {
	g := newGateway(t)
	noperm := `{"error":"NOPERM this user has no permissions to run the '%s' command or its subcommand"}`
	for _, c := range []struct {
		method, target, header string
		status                 int
		body                   string
	}{
		{"POST", "/subscribe/c", "Authorization:", 401, `{"error":"WRONGPASS invalid or missing auth token"}`},
		{"POST", "/monitor", "Authorization: Bearer x", 401, `{"error":"WRONGPASS invalid or missing auth token"}`},
		{"POST", "/subscribe/c", "Authorization: Bearer " + httpapitest.ReadOnlyToken, 400, fmt.Sprintf(noperm, "subscribe")},
		{"POST", "/psubscribe/c", "Authorization: Bearer " + httpapitest.ReadOnlyToken, 400, fmt.Sprintf(noperm, "psubscribe")},
		{"POST", "/monitor", "Authorization: Bearer " + httpapitest.ReadOnlyToken, 400, fmt.Sprintf(noperm, "monitor")},
		{"POST", "/subscribe", "X-A: b", 400, `{"error":"ERR wrong number of arguments for 'subscribe' command"}`},
		{"POST", "/psubscribe/", "X-A: b", 400, `{"error":"ERR wrong number of arguments for 'psubscribe' command"}`},
		{"POST", "/monitor/x", "X-A: b", 400, `{"error":"ERR wrong number of arguments for 'monitor' command"}`},
		{"POST", "/subscribe/c", "Svc-Response-Format: xml", 400, `{"error":"ERR unknown response format, it is json or resp2"}`},
		{"HEAD", "/subscribe/c", "X-A: b", 200, ""},
		{"HEAD", "/monitor", "Authorization: Bearer " + httpapitest.ReadOnlyToken, 400, ""},
		{"PUT", "/monitor", "Authorization: Bearer x", 401, `{"error":"WRONGPASS invalid or missing auth token"}`},
		{"DELETE", "/monitor", "X-A: b", 405, ""},
		{"POST", "/", "X-A: b", 400, `{"error":"ERR Command \"SUBSCRIBE\" is not allowed in REST or it has a special context path"}`},
	} {
		a := g.ask(t, c.method, c.target, `["SUBSCRIBE","c"]`, c.header)
		if a.status != c.status || a.body != c.body {
			t.Errorf("%s %s %s: %d %s", c.method, c.target, c.header, a.status, a.body)
		}
	}
	g.listen(t, "PUT", "/subscribe/c").want("data: subscribe,c,1")
	if a := g.ask(t, "HEAD", "/subscribe/c", ""); a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %v", a.header)
	}
}

func TestHeartbeat(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Heartbeat = 20 * time.Millisecond })
	l := g.listen(t, "POST", "/subscribe/c")
	l.want("data: subscribe,c,1", ": keep-alive", ": keep-alive")
}

// A server that stops ends its streams, in order.
func TestShutdownEndsStreams(t *testing.T) {
	engine := httpapitest.New()
	s, err := httpapi.New(httpapi.Options{Engine: engine, Hub: engine.NewHub(t)})
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(socket) }() // ends with Shutdown
	g := &gateway{URL: "http://" + socket.Addr().String(), client: &http.Client{}}
	l := g.listen(t, "POST", "/subscribe/c")
	l.want("data: subscribe,c,1")
	m := g.listen(t, "POST", "/monitor")
	m.want(`data: "OK"`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*listener{l, m} {
		if rest, err := io.ReadAll(l.r); err != nil || !strings.HasPrefix(string(rest), ": closed") {
			t.Errorf("%q %v", rest, err)
		}
	}
}

// A stream whose token is revoked sends nothing more.
func TestRevokedTokenEndsStreams(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Heartbeat = 20 * time.Millisecond })
	l := g.listen(t, "POST", "/subscribe/c")
	l.want("data: subscribe,c,1")
	tokens := httpapitest.Tokens()
	tokens[acl.Standard] = acl.DigestOf("another")
	g.engine.Found(tokens)
	rest, err := io.ReadAll(l.r)
	if err != nil || !strings.Contains(string(rest), ": closed, WRONGPASS") || strings.Contains(string(rest), "data:") {
		t.Errorf("%q %v", rest, err)
	}
}

// A client that reads nothing is disconnected, and what it did get has no hole.
func TestSlowSubscriber(t *testing.T) {
	engine := httpapitest.New()
	h := engine.NewHub(t, func(o *pubsub.Options) { o.MaxBytes = 1 << 20 })
	g := newGateway(t, func(o *httpapi.Options) { o.Engine, o.Hub = engine, h })
	slow, fast := g.listen(t, "POST", "/subscribe/c"), g.listen(t, "POST", "/subscribe/c")
	slow.want("data: subscribe,c,1")
	fast.want("data: subscribe,c,1")
	pad := strings.Repeat("x", 64<<10)
	sent := 0
	for ; sent < 2000; sent++ {
		message := fmt.Sprintf("%d %s", sent, pad)
		receivers := g.publish(t, "c", message)
		fast.want("data: message,c," + message) // so that it is never the slow one
		if receivers == "1" {
			break
		}
	}
	if sent == 2000 {
		t.Fatal("a subscriber that reads nothing was never given up")
	}
	g.publish(t, "c", "end")
	fast.want("data: message,c,end")
	for i := 0; ; i++ {
		line, err := slow.r.ReadString('\n')
		if err != nil || strings.HasPrefix(line, ":") {
			t.Logf("%d messages, then %q %v", i, line, err)
			break
		}
		if !strings.HasPrefix(line, fmt.Sprintf("data: message,c,%d ", i)) && strings.HasSuffix(line, "\n") {
			t.Fatalf("message %d is %.40q", i, line)
		}
		_, _ = slow.r.ReadString('\n')
	}
}

func TestMonitor(t *testing.T) {
	g := newGateway(t)
	l := g.listen(t, "POST", "/monitor")
	l.want(`data: "OK"`)
	g.ask(t, "POST", "/", `["set","k","a \"b\"\n\u00e9"]`)
	g.ask(t, "GET", "/get/k", "")
	g.ask(t, "POST", "/", `["NOSUCH","x"]`)
	g.ask(t, "POST", "/", `["GET"]`)
	g.ask(t, "POST", "/", `["SET","k","v"]`, "Authorization: Bearer "+httpapitest.ReadOnlyToken)
	g.ask(t, "POST", "/pipeline", `[["INCR","n"],["INCR"],["nosuch"],["GET","n"]]`)
	g.ask(t, "POST", "/multi-exec", `[["SET","a","1"],["INCR","a"]]`)
	g.ask(t, "POST", "/multi-exec", `[["SET","a","1"],["INCR"]]`)
	g.publish(t, "c", "m")
	g.listen(t, "POST", "/subscribe/c")
	for _, want := range []string{`"SET" "k" "a \"b\"\n\xc3\xa9"`, `"GET" "k"`, `"INCR" "n"`, `"GET" "n"`, `"SET" "a" "1"`, `"INCR" "a"`, `"PUBLISH" "c" "m"`, `"SUBSCRIBE" "c"`} {
		line, err := l.r.ReadString('\n')
		var at float64
		var rest string
		if n, _ := fmt.Sscanf(line, "data: %f [0 0.0.0.0:0] ", &at); n == 1 {
			_, rest, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "[0 0.0.0.0:0] ")
		}
		if err != nil || rest != want || time.Since(time.UnixMicro(int64(at*1e6))).Abs() > time.Minute {
			t.Fatalf("%q %v, want %s", line, err, want)
		}
		if blank, err := l.r.ReadString('\n'); blank != "\n" {
			t.Fatalf("%q %v", blank, err)
		}
	}
}
