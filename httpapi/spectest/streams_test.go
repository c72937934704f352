package spectest

import (
	"bufio"
	"context"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// stream is an open event stream.
type stream struct {
	res   *http.Response
	lines chan string
}

// open starts a stream at a random node; it ends with the test.
func (w *world) open(t testing.TB, target string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+w.addrs[rand.IntN(len(w.addrs))]+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	r.Header.Set("Accept", "text/event-stream")
	res, err := (&http.Client{Transport: w.client.Transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 {
		t.Fatalf("%s: status %d", target, res.StatusCode)
	}
	s := &stream{res: res, lines: make(chan string, 64)}
	go func() { // ends with the context
		defer res.Body.Close()
		defer close(s.lines)
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				s.lines <- data
			}
		}
	}()
	return s
}

// next returns the payload of the next data line.
func (s *stream) next(t testing.TB) string {
	t.Helper()
	select {
	case line, ok := <-s.lines:
		if !ok {
			t.Fatal("the stream has ended")
		}
		return line
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	return ""
}

func (s *stream) expect(t testing.TB, want string) {
	t.Helper()
	if got := s.next(t); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func (s *stream) isEvents(t testing.TB) {
	t.Helper()
	if got := s.res.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("content type %s", got)
	}
}

var monitored = regexp.MustCompile(`^\d+\.\d{6} \[\d+ [^\]]+\] "`)

var streams = []claim{
	{"KV-6.1", func(t *testing.T, w *world) { w.open(t, "/monitor").next(t) }},
	{"KV-6.2", func(t *testing.T, w *world) { w.open(t, "/monitor").isEvents(t) }},
	{"KV-6.3", func(t *testing.T, w *world) { w.open(t, "/monitor").expect(t, `"OK"`) }},
	{"KV-6.4", func(t *testing.T, w *world) {
		s, k := w.open(t, "/monitor"), w.key()
		s.next(t)
		w.array(t, "SET", k, "v").result(t, `"OK"`)
		for {
			line := s.next(t)
			if !monitored.MatchString(line) {
				t.Fatalf("%s", line)
			}
			if strings.Contains(line, k) {
				if !strings.HasSuffix(line, ` "SET" "`+k+`" "v"`) {
					t.Errorf("%s", line)
				}
				return
			}
		}
	}},
	{"KV-7.1", func(t *testing.T, w *world) { w.open(t, "/subscribe/"+w.key()).next(t) }},
	{"KV-7.2", func(t *testing.T, w *world) { w.open(t, "/subscribe/"+w.key()).isEvents(t) }},
	{"KV-7.3", func(t *testing.T, w *world) {
		c := w.key()
		w.open(t, "/subscribe/"+c).expect(t, "subscribe,"+c+",1")
	}},
	{"KV-7.4", func(t *testing.T, w *world) {
		c := w.key()
		s := w.open(t, "/subscribe/"+c)
		s.next(t)
		for _, m := range []string{"one", "two, with commas"} {
			w.array(t, "PUBLISH", c, m).result(t, "1")
			s.expect(t, "message,"+c+","+m)
		}
	}},
}
