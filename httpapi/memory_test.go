package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// gaugeOf returns the value of a gauge.
func gaugeOf(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == name {
			return f.Metric[0].GetGauge().GetValue()
		}
	}
	t.Fatal("there is no " + name)
	return 0
}

// rowsOf returns a batch of n times the same command.
func rowsOf(n int, row string) string { return "[" + strings.Repeat(row+",", n-1) + row + "]" }

// Replies to one request are bounded: rows beyond the limit reply an error that names the setting.
func TestReplySizeIsLimited(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Limits.ReplyBytes = 100_000 })
	g.ask(t, "POST", "/set/k", strings.Repeat("x", 30_000))
	var rows []struct{ Result, Error string }
	a := g.ask(t, "POST", "/pipeline", rowsOf(5, `["GET","k"]`))
	if err := json.Unmarshal([]byte(a.body), &rows); err != nil || a.status != 200 || len(rows) != 5 {
		t.Fatalf("%d %.200s", a.status, a.body)
	}
	for i, row := range rows {
		if i < 3 != (len(row.Result) == 30_000) || i >= 3 != strings.HasPrefix(row.Error, "ERR max reply size of a request exceeded. Limit: 100000 bytes, Actual: 120") {
			t.Errorf("row %d: %d bytes, %s", i, len(row.Result), row.Error)
		}
	}
	g.ask(t, "POST", "/set/large", strings.Repeat("x", 200_000))
	if a := g.ask(t, "GET", "/get/large", ""); a.status != 400 || !strings.Contains(a.body, "Setting: max-reply-size") {
		t.Errorf("%d %.200s", a.status, a.body)
	}
	if a := g.ask(t, "GET", "/strlen/large", ""); a.body != `{"result":200000}` {
		t.Errorf("%+v", a)
	}
}

// The count equals the bytes that are written: control characters take six bytes of JSON, bytes that are no text three,
// and in the binary form one.
func TestReplySizeCountsEscapes(t *testing.T) {
	const limit = 100_000
	g := newGateway(t, func(o *httpapi.Options) { o.Limits.ReplyBytes = limit })
	for name, c := range map[string]struct {
		value  string
		header string
		rows   int // of 10,000 bytes each that fit
	}{
		"text":               {"x", "X: y", 9},
		"control characters": {"\x01", "X: y", 1},
		"lines":              {"\n", "X: y", 4},
		"no text":            {"\xff", "X: y", 3},
		"base64":             {"\x01", "Svc-Encoding: base64", 7},
		"resp2":              {"\x01", "Svc-Response-Format: resp2", 9},
	} {
		if a := g.ask(t, "POST", "/set/k", strings.Repeat(c.value, 10_000)); a.status != 200 {
			t.Fatal(a)
		}
		a := g.ask(t, "POST", "/pipeline", rowsOf(12, `["GET","k"]`), c.header)
		if refused := strings.Count(a.body, "Setting: max-reply-size"); a.status != 200 || 12-refused != c.rows {
			t.Errorf("%s: status %d, %d of 12 rows refused, want %d", name, a.status, refused, 12-c.rows)
		}
		if most := limit + 12*200; len(a.body) > most {
			t.Errorf("%s: a reply of %d bytes", name, len(a.body))
		}
	}
}

// A database other than default may hold half of what all requests may: requests beyond that are refused, others are
// served, and requests that have ended no longer count.
func TestDatabasesShareTheBuffers(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Limits.BufferedBytes = 6 << 20 })
	shop := g.database(t, "POST", "/admin/databases", `{"name":"shop"}`, 201)
	value := strings.Repeat("x", 1<<20)
	asShop := "Authorization: Bearer " + shop.Token
	for _, c := range []struct {
		prefix, auth string
		status       int
	}{{"/db/shop", asShop, 503}, {"", "X: y", 200}} {
		if a := g.ask(t, "POST", c.prefix+"/set/k", value, c.auth); a.status != 200 {
			t.Fatalf("%s: %+v", c.prefix, a)
		}
		a := g.ask(t, "POST", c.prefix+"/pipeline", rowsOf(4, `["GET","k"]`), c.auth)
		if a.status != c.status || (c.status == 503) != strings.Contains(a.body, "of a database exceeded. Limit: 3145728") {
			t.Errorf("%s: four replies of 1 MiB at a limit of 6: status %d, %.200s", c.prefix, a.status, a.body)
		}
		for range 4 {
			if a := g.ask(t, "POST", c.prefix+"/pipeline", rowsOf(2, `["GET","k"]`), c.auth); a.status != 200 {
				t.Errorf("%s: two of them afterwards: status %d, %.200s", c.prefix, a.status, a.body)
			}
		}
	}
}

// A large batch of replies is sent as it is encoded: in all forms, on the fast path and off it, the bytes equal those
// of a small batch, and memory does not grow by the reply.
func TestLargeRepliesAreStreamed(t *testing.T) {
	g := newGateway(t)
	value := strings.Repeat("v\"\n", 200_000)
	if a := g.ask(t, "POST", "/set/k", value); a.status != 200 {
		t.Fatal(a)
	}
	const rows = 20
	for name, c := range map[string]struct{ target, header, one, open, close, between string }{ // unordered: each by itself
		"json":   {"/pipeline", "X: y", `{"result":"` + strings.Repeat(`v\"\n`, 200_000) + `"}`, "[", "]", ","},
		"multi":  {"/multi-exec", "X: y", `{"result":"` + strings.Repeat(`v\"\n`, 200_000) + `"}`, "[", "]", ","},
		"resp2":  {"/pipeline", "Svc-Response-Format: resp2", fmt.Sprintf("$%d\r\n%s\r\n", len(value), value), "", "", ""},
		"chunks": {"/pipeline?x", "TE: trailers", `{"result":"` + strings.Repeat(`v\"\n`, 200_000) + `"}`, "[", "]", ","}, // by net/http
	} {
		a := g.ask(t, "POST", c.target, rowsOf(rows, `["GET","k"]`), c.header)
		want := c.open + strings.Repeat(c.one+c.between, rows-1) + c.one + c.close
		if a.status != 200 || a.body != want {
			t.Errorf("%s: %d, %d bytes, want %d", name, a.status, len(a.body), len(want))
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := http.NewRequest("POST", "http://"+g.addr+"/pipeline", strings.NewReader(rowsOf(rows, `["GET","k"]`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	r.Header.Set("Accept-Encoding", "identity") // or the memory of unpacking counts
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); err != nil || n < rows*800_000 || grown > n/2 {
		t.Errorf("a reply of %d bytes took %d bytes of memory, %v", n, grown, err)
	}
}

// All bodies and replies under way are bounded: beyond the bound requests get 503 with Retry-After, until there is room
// again.
func TestBuffersAreLimited(t *testing.T) {
	metrics := prometheus.NewRegistry()
	g := newGateway(t, func(o *httpapi.Options) { o.Limits.BufferedBytes, o.Metrics = 6<<20, metrics })
	body := bytes.Repeat([]byte("x"), 3<<20)
	in, out := io.Pipe()
	r, err := http.NewRequest("POST", "http://"+g.addr+"/set/k", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	var under sync.WaitGroup
	under.Go(func() {
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.StatusCode != 200 {
			t.Errorf("the request under way: %v %v", res, err)
		}
		if err == nil {
			res.Body.Close()
		}
	})
	if _, err := out.Write(body); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); gaugeOf(t, metrics, "trireme_http_buffered_bytes") < 3<<20; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the body has not come")
		}
	}
	a := g.ask(t, "POST", "/set/other", string(body))
	if a.status != 503 || a.header.Get("Retry-After") == "" || a.header.Get("Svc-Outcome") != "not-applied" || !strings.Contains(a.body, "Setting: max-buffered-bytes") {
		t.Errorf("two bodies of 3 MiB at a limit of 6: %+v", a)
	}
	publish := g.ask(t, "POST", "/v2/publish/https://example.com", string(body), "Authorization: Bearer "+httpapitest.MessagesToken)
	if publish.status != 503 && publish.status != 404 { // 404: this server has no messages
		t.Errorf("a message meanwhile: %+v", publish)
	}
	if a := g.ask(t, "GET", "/ping", ""); a.status != 200 {
		t.Errorf("a small request meanwhile: %+v", a)
	}
	out.Close()
	under.Wait()
	if a := g.ask(t, "POST", "/set/other", string(body)); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}
