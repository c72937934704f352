package spectest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sink is the destination. The first segment of the path selects its answer: ok is 200, N that status, failN refuses N
// requests with 503 first, never is 489 with the header that forbids a retry, plain489 is 489 without it, binary is 500
// with bytes that are no text, after answers Retry-After: 0 with 503, hang answers nothing.
type sink struct {
	url string

	mu   sync.Mutex
	got  map[string][]delivered // by path
	news chan struct{}          // closed by the next request
	end  chan struct{}
}

// delivered is a request that the sink got.
type delivered struct {
	at     time.Time
	method string
	target string // with the query
	header http.Header
	body   string
}

func startSink(t *testing.T) *sink {
	s := &sink{got: map[string][]delivered{}, news: make(chan struct{}), end: make(chan struct{})}
	server := httptest.NewServer(s)
	s.url = server.URL
	t.Cleanup(func() {
		close(s.end)
		server.Close()
	})
	return s
}

// ServeHTTP answers as the path says.
func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a request cut short has the body that came
	s.mu.Lock()
	s.got[r.URL.Path] = append(s.got[r.URL.Path], delivered{time.Now(), r.Method, r.RequestURI, r.Header, string(body)})
	times := len(s.got[r.URL.Path])
	close(s.news)
	s.news = make(chan struct{})
	s.mu.Unlock()
	w.Header()["X-Answer"] = []string{"one", "two"}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	refusals, counted := strings.CutPrefix(first, "fail")
	switch {
	case counted:
		if n, _ := strconv.Atoi(refusals); times <= n {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	case first == "never":
		w.Header().Set("Upstash-NonRetryable-Error", "true")
		w.WriteHeader(489)
	case first == "plain489":
		w.WriteHeader(489)
	case first == "after":
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
	case first == "hang":
		select {
		case <-s.end:
		case <-r.Context().Done():
		}
		return
	case first == "binary":
		w.WriteHeader(http.StatusInternalServerError)
		w.Write([]byte{0xff, 0xfe, 0})
		return
	default:
		if n, err := strconv.Atoi(first); err == nil {
			w.WriteHeader(n)
		}
	}
	io.WriteString(w, "answer")
}

// arrived waits until a URL was asked n times and returns the requests.
func (s *sink) arrived(t testing.TB, target string, n int) []delivered {
	t.Helper()
	path, _, _ := strings.Cut(strings.TrimPrefix(target, s.url), "?")
	late := time.After(time.Minute)
	for {
		s.mu.Lock()
		got, news := s.got[path], s.news
		s.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("%s was asked %d times, want %d", path, len(got), n)
		}
	}
}

// times returns how often a URL was asked so far.
func (s *sink) times(target string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got[strings.TrimPrefix(target, s.url)])
}
