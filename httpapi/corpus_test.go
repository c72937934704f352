package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// attack is a request that no client should send, and the statuses of all replies that it gets on its connection: "200
// 400" is two, "-" none. The documented answers are in docs/api.md.
type attack struct {
	name, bytes, want string
}

// send writes all bytes, ends its half of the connection, and returns the statuses of the
// replies and the body of the last.
func (a *attack) send(addr string) (statuses, body string, err error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return "", "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(corpusLimit)); err != nil {
		return "", "", err
	}
	go func() { // ends with the connection
		_, _ = io.WriteString(c, a.bytes)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	var list []string
	in := bufio.NewReader(c)
	method, _, _ := strings.Cut(a.bytes, " ")
	for {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() {
			return "", "", err
		}
		if err != nil {
			break // the end, or a reset of a server that stopped reading
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		list, body = append(list, fmt.Sprint(res.StatusCode)), string(b)
	}
	if len(list) == 0 {
		list = []string{"-"}
	}
	return strings.Join(list, " "), body, nil
}

// Bounds of a corpus request: the time of one, and the heap that all may leave behind.
const (
	corpusLimit = time.Minute
	corpusHeap  = 64 << 20
)

// TestMalformedRequests sends the corpus over raw sockets: every request gets its
// documented answer, no smuggled one runs, and the node lives.
func TestMalformedRequests(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.MaxRequestSize = 2 << 20 })
	var all []attack
	for _, part := range [][]attack{requestLines(), headerLines(), framings(), bodies(), words(), credentials()} {
		all = append(all, part...)
	}
	if len(all) < 150 {
		t.Errorf("the corpus has %d requests", len(all))
	}
	before := heap()
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			got, body, err := a.send(g.addr)
			if err != nil {
				t.Fatalf("%.80q: %v", a.bytes, err)
			}
			if got != a.want {
				t.Errorf("%.80q: %s, want %s; %.120q", a.bytes, got, a.want, body)
			}
			if strings.Contains(body, httpapitest.Token) || strings.Contains(body, "panic") {
				t.Errorf("%.80q: %.200q", a.bytes, body)
			}
		})
	}
	if after := heap(); after > before+corpusHeap {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	if a := g.ask(t, "GET", "/exists/smuggled", ""); a.status != 200 || a.body != `{"result":0}` {
		t.Errorf("after the corpus: %+v", a)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMalformedRequestsSideBySide keeps many malformed requests and good ones under way
// together: the good ones are answered.
func TestMalformedRequestsSideBySide(t *testing.T) {
	g := newGateway(t)
	deep := attack{bytes: post("/", strings.Repeat("[", 100_000)), want: "400"}
	done := make(chan string, 32)
	for range cap(done) {
		go func() {
			got, _, err := deep.send(g.addr)
			done <- fmt.Sprint(got, err)
		}()
	}
	for range 50 {
		if a := g.ask(t, "GET", "/ping", ""); a.status != 200 {
			t.Errorf("%+v", a)
		}
	}
	for range cap(done) {
		if got := <-done; got != "400<nil>" {
			t.Error(got)
		}
	}
}
