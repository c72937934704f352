package load

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/fake"
)

func serveFake(t *testing.T) (*fake.Gateway, string) {
	t.Helper()
	f := &fake.Gateway{Bearer: "secret"}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

func TestClosedLoopCountsGoodReplies(t *testing.T) {
	f, url := serveFake(t)
	r, err := Run(t.Context(), Spec{
		Targets: []string{url + "/"}, Method: "POST", Body: `["SET","k{key}","{val}"]`, Bearer: "secret",
		Conns: 4, Keys: 50, Value: 64, Duration: 200 * time.Millisecond, Check: Check{Prefix: `{"result":"OK"}`, Length: 15},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Failed(); err != nil {
		t.Fatal(err)
	}
	if r.Rate <= 0 || r.P50 <= 0 || r.P50 > r.P99 || r.P99 > r.Max {
		t.Fatalf("figures make no sense: %+v", r)
	}
	for k, v := range f.Keys() {
		if len(k) != 13 || len(v) != 64 {
			t.Fatalf("key %q value %q", k, v)
		}
	}
	// Of 50 keys so many draws leave so many undrawn, on average: a machine that is busy draws few.
	if drawn := 50 * (1 - math.Pow(1-1.0/50, float64(r.Requests))); float64(len(f.Keys())) < 0.75*drawn {
		t.Fatalf("only %d of 50 keys drawn in %d requests, want about %.0f", len(f.Keys()), r.Requests, drawn)
	}
}

func TestFixedNumberOfRequestsWritesEachKeyOnce(t *testing.T) {
	f, url := serveFake(t)
	r, err := Run(t.Context(), Spec{
		Targets: []string{url + "/pipeline"}, Method: "POST", Body: `["SET","k{key}","{val}"]`, Bearer: "secret",
		Conns: 3, Rows: 10, Requests: 37, Value: 7, Check: Check{Repeat: `{"result":"OK"}`},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Failed(); err != nil || r.Requests != 37 {
		t.Fatalf("%d requests, %v", r.Requests, err)
	}
	for i := range 370 {
		if k := fmt.Sprintf("k%012d", i); len(f.Keys()[k]) != 7 {
			t.Fatalf("%s = %q", k, f.Keys()[k])
		}
	}
	if len(f.Keys()) != 370 {
		t.Fatalf("%d keys, want 370", len(f.Keys()))
	}
}

func TestWrongRepliesAreCounted(t *testing.T) {
	_, url := serveFake(t)
	for name, spec := range map[string]Spec{
		"status": {Targets: []string{url}, Body: `["GET","a"]`, Bearer: "wrong"},
		"prefix": {Targets: []string{url}, Body: `["GET","a"]`, Bearer: "secret", Check: Check{Prefix: `{"result":"O`}},
		"length": {Targets: []string{url}, Body: `["GET","a"]`, Bearer: "secret", Check: Check{Length: 3}},
		"lacks":  {Targets: []string{url}, Body: `["GET","a"]`, Bearer: "secret", Check: Check{Contains: `count`}},
		"repeat": {Targets: []string{url + "/pipeline"}, Body: `["GET","a"]`, Rows: 3, Bearer: "secret", Check: Check{Repeat: `{"result":"OK"}`}},
	} {
		spec.Method, spec.Conns, spec.Requests = "POST", 2, 5
		r, err := Run(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bad != 5 || r.Failed() == nil || r.FirstFail == "" {
			t.Errorf("%s: %d bad of %d, %q", name, r.Bad, r.Requests, r.FirstFail)
		}
	}
}

func TestDeadServerIsAnError(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	r, err := Run(t.Context(), Spec{Targets: []string{s.URL}, Method: "GET", Conns: 1, Duration: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Errors == 0 || r.Failed() == nil {
		t.Fatalf("a dead server counted as good: %+v", r)
	}
}

func TestReplyReader(t *testing.T) {
	for _, c := range []struct {
		name, in, body string
		status         int
		err            string
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", 200, ""},
		{"any case", "HTTP/1.1 404 Not Found\r\ncontent-length:2\r\n\r\nno", "no", 404, ""},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: t\r\n\r\n", "abcd", 200, ""},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "", 204, ""},
		{"closes", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", "x", 200, "closes"},
		{"no length", "HTTP/1.1 200 OK\r\n\r\n", "", 0, "without a length"},
		{"not http", "-ERR unknown command\r\n", "", 0, "status line"},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "", 0, "bad length"},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "", 0, "chunk size"},
		{"cut short", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "", 0, "EOF"},
	} {
		p := replyReader{r: bufio.NewReader(strings.NewReader(c.in))}
		status, body, err := p.next()
		if status != c.status || string(body) != c.body || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %d %q %v", c.name, status, body, err)
		}
	}
}

// FuzzReplyReader: no input makes the reader panic or take more than it may.
func FuzzReplyReader(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		p := replyReader{r: bufio.NewReader(strings.NewReader(in))}
		for range 3 {
			if _, body, err := p.next(); err != nil {
				return
			} else if len(body) > maxReply {
				t.Fatalf("body of %d bytes", len(body))
			}
		}
	})
}
