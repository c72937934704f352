package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// discard is a ResponseWriter that costs nothing, so that only the server is measured.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// direct runs one request again and again through the handler, without a socket.
type direct struct {
	s    *httpapi.Server
	r    *http.Request
	body *strings.Reader
	text string
	w    discard

	batch [1]fastpath.Request
}

func newDirect(t testing.TB, method, target, body string) *direct {
	t.Helper()
	s, err := httpapi.New(httpapi.Options{Engine: httpapitest.New(), Messages: &messages.Parser{Prefixes: []string{"Svc", "Upstash"}}})
	if err != nil {
		t.Fatal(err)
	}
	d := &direct{s: s, text: body, body: strings.NewReader(body), w: discard{header: http.Header{}}}
	d.r = httptest.NewRequest(method, target, nil)
	d.r.ContentLength, d.r.Body = int64(len(body)), io.NopCloser(d.body)
	d.r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	d.r.Header.Set("Upstash-Encoding", "base64")
	if strings.HasPrefix(target, "/v2/") {
		d.r.Header.Set("Authorization", "Bearer "+httpapitest.MessagesToken)
		d.r.Header.Set("Upstash-Delay", "1h")
	}
	return d
}

func (d *direct) run() {
	d.body.Reset(d.text)
	clear(d.w.header)
	d.w.status = 200
	d.s.ServeHTTP(&d.w, d.r)
}

// runInBatch runs the request as the event loop does: alone, as a batch of one.
func (d *direct) runInBatch() {
	d.body.Reset(d.text)
	clear(d.w.header)
	d.w.status = 0
	one := d.s.Prepare(&d.w, d.r)
	if one == nil {
		return
	}
	d.w.status = 200
	d.batch[0] = one
	d.s.Run(d.r.Context(), d.batch[:])
	one.Reply()
}

var benchmarks = []struct {
	name, method, target, body string
	// allocations bounds the allocations of a request: two of the edge, for the sync token, and those of the test's
	// engine and the state machine. batched is the same for a request that the event loop runs, 0 if it runs no such
	// request.
	allocations, batched float64
}{
	{"GET", "POST", "/", `["GET","key:1"]`, 5, 9},
	{"GET path", "GET", "/get/key:1", "", 5, 9},
	{"SET", "POST", "/", `["SET","key:1","` + strings.Repeat("v", 64) + `"]`, 20, 20},
	{"pipeline of 100 GET", "POST", "/pipeline", "[" + strings.Repeat(`["GET","key:1"],`, 99) + `["GET","key:1"]]`, 105, 0},
	{"publish", "POST", "/v2/publish/https://example.com/hook", "hello", 100, 100},
}

func TestAllocationsOfARequest(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	for _, b := range benchmarks {
		d := newDirect(t, b.method, b.target, b.body)
		d.run()
		if d.w.status != 200 {
			t.Fatalf("%s: status %d", b.name, d.w.status)
		}
		if n := testing.AllocsPerRun(200, d.run); n > b.allocations {
			t.Errorf("%s: %v allocations, %v are allowed", b.name, n, b.allocations)
		}
		d.runInBatch()
		if runs := d.w.status == 200; runs != (b.batched > 0) {
			t.Fatalf("%s: runs in a batch: %v", b.name, runs)
		}
		if b.batched == 0 {
			continue
		}
		if n := testing.AllocsPerRun(200, d.runInBatch); n > b.batched {
			t.Errorf("%s in a batch: %v allocations, %v are allowed", b.name, n, b.batched)
		}
	}
}

func BenchmarkRequest(b *testing.B) { benchmarkEach(b, false, (*direct).run) }

func BenchmarkBatchOfOne(b *testing.B) { benchmarkEach(b, true, (*direct).runInBatch) }

// benchmarkEach measures run for each of the requests, or for each that the event loop runs.
func benchmarkEach(b *testing.B, batched bool, run func(*direct)) {
	for _, c := range benchmarks {
		if batched && c.batched == 0 {
			continue
		}
		b.Run(c.name, func(b *testing.B) {
			d := newDirect(b, c.method, c.target, c.body)
			b.ReportAllocs()
			for b.Loop() {
				run(d)
			}
		})
	}
}

// BenchmarkSocket includes net/http and a client on loopback.
func BenchmarkSocket(b *testing.B) {
	g := newGateway(b)
	b.ReportAllocs()
	for b.Loop() {
		g.ask(b, "POST", "/", `["GET","key:1"]`)
	}
}
