package messages

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/queue"
)

var parser = Parser{Prefixes: []string{"Svc", "Upstash"}, APIs: map[string]string{"llm": "https://llm.example/v1/chat"}}

// headers makes a header of pairs, as net/http would.
func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func parse(t *testing.T, destination, query string, pairs ...string) queue.Publication {
	t.Helper()
	p, _, err := parser.publication(&call{destination: destination, query: query, header: headers(pairs...)})
	if err != nil {
		t.Fatalf("%s %v: %v", destination, pairs, err)
	}
	return p
}

func TestOptions(t *testing.T) {
	const to = "https://example.com/"
	cb := func(given queue.Option, o queue.Options) *queue.Callback {
		o.Given = given
		return &queue.Callback{URL: "https://cb.example/x", Options: o}
	}
	for name, c := range map[string]struct {
		pairs []string
		want  queue.Options
	}{
		"nothing":            {nil, queue.Options{}},
		"method":             {[]string{"Svc-Method", "put"}, queue.Options{Given: queue.GivenMethod, Method: "PUT"}},
		"timeout":            {[]string{"Upstash-Timeout", "1h30m3s"}, queue.Options{Given: queue.GivenTimeout, Timeout: 5_403_000}},
		"retries":            {[]string{"svc-retries", "0"}, queue.Options{Given: queue.GivenRetries}},
		"the last prefix":    {[]string{"Upstash-Retries", "5", "Svc-Retries", "2"}, queue.Options{Given: queue.GivenRetries, Retries: 5}},
		"retry delay":        {[]string{"Svc-Retry-Delay", "pow(2, retried)*1000"}, queue.Options{Given: queue.GivenRetryDelay, RetryDelay: "pow(2, retried)*1000"}},
		"delay":              {[]string{"Svc-Delay", "1d10h30m"}, queue.Options{Given: queue.GivenDelay, Delay: 124_200_000}},
		"delay in seconds":   {[]string{"Svc-Delay", "90"}, queue.Options{Given: queue.GivenDelay, Delay: 90_000}},
		"not before":         {[]string{"Svc-Not-Before", "1763730000"}, queue.Options{Given: queue.GivenNotBefore, NotBefore: 1_763_730_000_000}},
		"labels":             {[]string{"Svc-Label", "a, b,,c"}, queue.Options{Given: queue.GivenLabels, Labels: []string{"a", "b", "c"}}},
		"queue":              {[]string{"Svc-Queue-Name", "q.1"}, queue.Options{Given: queue.GivenQueue, Queue: "q.1"}},
		"flow control":       {[]string{"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "rate=10, parallelism = 2 ,period=1m"}, queue.Options{Given: queue.GivenFlow, Flow: &queue.FlowControl{Key: "k", Parallelism: 2, Rate: 10, Period: 60_000}}},
		"flow control alone": {[]string{"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "parallelism=3"}, queue.Options{Given: queue.GivenFlow, Flow: &queue.FlowControl{Key: "k", Parallelism: 3, Period: 1000}}},
		"redaction": {[]string{"Svc-Redact-Fields", "body, header[authorization], headers[X-Key]"},
			queue.Options{Given: queue.GivenRedact, Redact: &queue.Redaction{Body: true, Names: []string{"Authorization", "X-Key"}}}},
		"redaction of all": {[]string{"Svc-Redact-Fields", "headers"}, queue.Options{Given: queue.GivenRedact, Redact: &queue.Redaction{Header: true}}},
		"forwarded": {[]string{"Content-Type", "text/plain", "Svc-Forward-X-One", "1", "Upstash-Forward-Upstash-Workflow-RunId", "r", "Svc-Forward-bypass-tunnel-reminder", "t", "Authorization", "Bearer x", "User-Agent", "u", "Cookie", "c", "Accept", "a"},
			queue.Options{Given: queue.GivenHeader, Header: []queue.Field{{Name: "Bypass-Tunnel-Reminder", Value: "t"}, {Name: "Content-Type", Value: "text/plain"}, {Name: "Upstash-Workflow-Runid", Value: "r"}, {Name: "X-One", Value: "1"}}}},
		"forwarded twice":             {[]string{"Svc-Forward-X", "1", "Svc-Forward-X", "2"}, queue.Options{Given: queue.GivenHeader, Header: []queue.Field{{Name: "X", Value: "1"}, {Name: "X", Value: "2"}}}},
		"forwarded content type wins": {[]string{"Content-Type", "a/b", "Svc-Forward-Content-Type", "c/d"}, queue.Options{Given: queue.GivenHeader, Header: []queue.Field{{Name: "Content-Type", Value: "c/d"}}}},
		"all forwarded": {[]string{"Svc-Header-Forward", "True", "X-Hook", "1", "Authorization", "Bearer x", "Svc-Label", "l", "Connection", "close"},
			queue.Options{Given: queue.GivenHeader | queue.GivenLabels, Labels: []string{"l"}, Header: []queue.Field{{Name: "X-Hook", Value: "1"}}}},
		"all but what the connection names": {[]string{"Svc-Header-Forward", "true", "X-Hook", "1", "X-Private", "1", "Connection", "close, x-private", "Proxy-Authorization", "x", "Te", "trailers"},
			queue.Options{Given: queue.GivenHeader, Header: []queue.Field{{Name: "X-Hook", Value: "1"}}}},
		"forwarded connection": {[]string{"Svc-Forward-X-Hook", "1", "Svc-Forward-X-Private", "1", "Svc-Forward-Connection", "X-Private", "Svc-Callback", "https://cb.example/x", "Svc-Callback-Forward-Connection", "A", "Svc-Callback-Forward-A", "1", "Svc-Callback-Forward-B", "1"},
			queue.Options{Given: queue.GivenHeader | queue.GivenCallback, Header: []queue.Field{{Name: "X-Hook", Value: "1"}}, Callback: cb(queue.GivenHeader, queue.Options{Header: []queue.Field{{Name: "B", Value: "1"}}})}},
		"callback": {[]string{"Svc-Callback", "https://cb.example/x", "Svc-Callback-Retries", "1", "Svc-Callback-Method", "PUT", "Svc-Callback-Forward-A", "b", "Svc-Callback-X-Unknown", "x", "Svc-Callback-Delay", "5s"},
			queue.Options{Given: queue.GivenCallback, Callback: cb(queue.GivenRetries|queue.GivenMethod|queue.GivenHeader|queue.GivenDelay, queue.Options{Retries: 1, Method: "PUT", Delay: 5000, Header: []queue.Field{{Name: "A", Value: "b"}}})}},
		"failure callback": {[]string{"Svc-Failure-Callback", "https://cb.example/x", "Svc-Failure-Callback-Timeout", "9s", "Svc-Failure-Callback-Forward-A", "b"},
			queue.Options{Given: queue.GivenFailure, Failure: cb(queue.GivenTimeout|queue.GivenHeader, queue.Options{Timeout: 9000, Header: []queue.Field{{Name: "A", Value: "b"}}})}},
		"callback without url": {[]string{"Svc-Callback-Retries", "x"}, queue.Options{}},
		"others":               {[]string{"Svc-Telemetry-Sdk", "x", "Svc-Feature-Set", "y", "Svc-Workflow-Init", "true"}, queue.Options{}},
	} {
		if got := parse(t, to, "", c.pairs...).Options; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestOptionsRefuse(t *testing.T) {
	long := strings.Repeat("x", 20<<10)
	for _, pairs := range [][]string{
		{"Svc-Method", "TRACE"}, {"Svc-Method", "get it"}, {"Svc-Retries", "-1"}, {"Svc-Retries", "many"}, {"Svc-Retries", "99999999999"},
		{"Svc-Retry-Delay", "soon"}, {"Svc-Retry-Delay", "1e3"}, {"Svc-Timeout", "0"}, {"Svc-Timeout", "5 s"}, {"Svc-Delay", "5x"}, {"Svc-Delay", "-5s"}, {"Svc-Delay", "99999999d"},
		{"Svc-Not-Before", "tomorrow"}, {"Svc-Not-Before", "-1"}, {"Svc-Deduplication-Id", "a:b"}, {"Svc-Content-Based-Deduplication", "maybe"}, {"Svc-Header-Forward", "2"},
		{"Svc-Callback", "cb.example"}, {"Svc-Callback", "ftp://cb.example"}, {"Svc-Failure-Callback", "/x"}, {"Svc-Callback", "https://cb.example", "Svc-Callback-Delay", "x"},
		{"Svc-Flow-Control-Key", "k"}, {"Svc-Flow-Control-Value", "rate=1"}, {"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "rate=0"},
		{"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "speed=1"}, {"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "period=1s"},
		{"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "rate=1,period=8d"}, {"Svc-Flow-Control-Key", "k", "Svc-Flow-Control-Value", "rate"},
		{"Svc-Redact-Fields", "everything"}, {"Svc-Redact-Fields", "header[]"}, {"Svc-Forward-X", long},
	} {
		_, _, err := parser.publication(&call{destination: "https://example.com", header: headers(pairs...)})
		var refused *Error
		if !errors.As(err, &refused) || refused.Status != 400 {
			t.Errorf("%.60v: %v", pairs, err)
		}
	}
	evil := http.Header{"Svc-Forward-X": {"a\r\nX-Evil: 1"}}
	if _, _, err := parser.publication(&call{destination: "https://example.com", header: evil}); err == nil {
		t.Error("a line end was taken into a header")
	}
}

func TestDestinations(t *testing.T) {
	for _, c := range []struct{ raw, query, url, group, api, err string }{
		{"https://example.com", "", "https://example.com", "", "", ""},
		{"http://host/a//b%2Fc", "x=1&y=%20", "http://host/a//b%2Fc?x=1&y=%20", "", "", ""},
		{"HTTPS://Example.COM/", "", "HTTPS://Example.COM/", "", "", ""}, {"http://h:80/a/../b", "", "http://h:80/a/../b", "", "", ""},
		{"https%3A%2F%2Fexample.com%2Fx%3Fname%3DAda%20L", "", "https://example.com/x?name=Ada%20L", "", "", ""},
		{"https%3A%2F%2Fexample.com%2Fx%3Fa%3Db%23c d", "e=f", "https://example.com/x?a=b&e=f#c%20d", "", "", ""},
		{` http:\\h\x y `, "", "http://h/x%20y", "", "", ""}, {"http://h/100%/%zz", "", "http://h/100%/%zz", "", "", ""},
		{"http://bücher.example:80/ü?ü='", "", "http://xn--bcher-kva.example:80/%C3%BC?%C3%BC=%27", "", "", ""}, {"http://0x7f.1:8080", "", "http://127.0.0.1:8080", "", "", ""},
		{"https:/example.com/x", "", "https://example.com/x", "", "", ""},
		{"https%3A%2F%2Fexample.com%2Fx", "", "https://example.com/x", "", "", ""},
		{"news-1.a_b", "", "", "news-1.a_b", "", ""},
		{"api/llm", "", "https://llm.example/v1/chat", "", "llm", ""},
		{"", "", "", "", "", "a non-empty destination must be provided"},
		{"example.com/x", "", "", "", "", "invalid destination url: endpoint has invalid scheme, add http:// or https://"},
		{"ftp://example.com", "", "", "", "", "invalid destination url: endpoint has invalid scheme, add http:// or https://"},
		{"a b", "", "", "", "", "invalid destination url: endpoint has invalid scheme, add http:// or https://"},
		{"https://", "", "", "", "", "invalid"}, {"https:///x", "", "", "", "", "invalid"}, {"http://%zz/", "", "", "", "", "invalid"},
		{"api/none", "", "", "", "", "api/none is not configured"},
	} {
		pairs := []string{}
		if c.api == "llm" {
			pairs = []string{"Svc-Callback", "https://cb.example"}
		}
		p, _, err := parser.publication(&call{destination: c.raw, query: c.query, header: headers(pairs...)})
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%q: %v; want %q", c.raw, err, c.err)
			}
			continue
		}
		if err != nil || p.URL != c.url || p.Group != c.group || p.API != c.api {
			t.Errorf("%q: %+v, %v", c.raw, p, err)
		}
	}
	if _, _, err := parser.publication(&call{destination: "api/llm", header: headers()}); err == nil {
		t.Error("api/llm was taken without a callback")
	}
}

func TestQueryConfiguresToo(t *testing.T) {
	p := parse(t, "https://example.com/x", "b=2&upstash-retries=3&a=%2f&Svc-Delay=100s&qstash_token=secret&c", "Upstash-Retries", "1")
	if p.URL != "https://example.com/x?b=2&a=%2f&c" || p.Retries != 1 || p.Delay != 100_000 {
		t.Errorf("%+v", p)
	}
	if p := parse(t, "https://example.com/x", "qstash_token=secret"); p.URL != "https://example.com/x" {
		t.Errorf("%+v", p)
	}
}

// TestWebhookKeepsItsAuthorization: a call authorized by its query leaves the header to
// its sender.
func TestWebhookKeepsItsAuthorization(t *testing.T) {
	c := &call{destination: "https://example.com", header: headers("Authorization", "Bearer hook", "Svc-Header-Forward", "true"), byToken: true}
	p, _, err := parser.publication(c)
	if err != nil || queue.Value(p.Header, "Authorization") != "Bearer hook" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestDeduplication(t *testing.T) {
	p := parse(t, "https://example.com", "", "Svc-Deduplication-Id", "a b", "Svc-Content-Based-Deduplication", "True")
	if p.DedupID != "a b" || !p.ContentDedup {
		t.Errorf("%+v", p)
	}
}

// FuzzPublication: no request makes the parser panic, and a publication that it has read is accepted again by its own
// rules.
func FuzzPublication(f *testing.F) {
	f.Add("https://example.com/x", "upstash-retries=3&a=b", "Retry-Delay", "min(1,retried)")
	f.Add("api/llm", "", "Callback", "https://x")
	f.Add("topic", "%zz", "Flow-Control-Value", "rate=1,period=1d")
	f.Add("https:/a", "svc-delay=1d1d", "Redact-Fields", "header[X]")
	f.Fuzz(func(t *testing.T, destination, query, name, value string) {
		p, _, err := parser.publication(&call{destination: destination, query: query, header: http.Header{"Svc-" + name: {value}}})
		if err != nil {
			var refused *Error
			if !errors.As(err, &refused) || refused.Text == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if (p.URL == "") == (p.Group == "") || p.Delay < 0 || p.Timeout < 0 || p.NotBefore < 0 {
			t.Fatalf("%+v", p)
		}
	})
}

// blanks are values that consist of blanks, and what is left of a list when its blanks are cut off.
var blanks = []string{" ", "\t", "  \u00a0 "}

// TestBlankIsNotLeftOut: every directive that is given and blank is refused: in a header of a batch, in a query, and of a
// callback. An empty one counts as not given.
func TestBlankIsNotLeftOut(t *testing.T) {
	names := []string{"callback", "failure-callback", "workflow-runid"}
	for _, d := range queue.Directives {
		names = append(names, d.Name)
	}
	read := func(name, value string, inQuery bool) error {
		c := &call{destination: "https://example.com", header: headers()}
		if inQuery {
			c.query = "svc-" + name + "=" + url.QueryEscape(value)
		} else {
			c.header = http.Header{canonical("Svc-" + name): {value}}
		}
		_, _, err := parser.publication(c)
		return err
	}
	for _, name := range names {
		for _, inQuery := range []bool{false, true} {
			for _, value := range blanks {
				if err := read(name, value, inQuery); err == nil || !strings.HasPrefix(err.Error(), "invalid "+name) {
					t.Errorf("%s of %q: %v", name, value, err)
				}
			}
			if err := read(name, "", inQuery); err != nil {
				t.Errorf("an empty %s: %v", name, err)
			}
		}
		if d := queue.DirectiveNamed(name); d == nil || d.Scope != queue.OfDelivery || name == "queue-name" {
			continue
		}
		h := headers("Svc-Callback", "https://cb.example")
		h[canonical("Svc-Callback-"+name)] = []string{" "}
		if _, _, err := parser.publication(&call{destination: "https://example.com", header: h}); err == nil {
			t.Errorf("a blank %s of a callback is taken", name)
		}
	}
	for _, pair := range [][2]string{{"label", ","}, {"label", " , ,"}, {"redact-fields", ","}, {"redact-fields", "header[ ]"}, {"flow-control-value", ","}} {
		if err := read(pair[0], pair[1], false); err == nil {
			t.Errorf("%s of %q is taken", pair[0], pair[1])
		}
	}
}

// TestEmptyFilterSelectsNothing: every empty filter, in a request that changes what it selects. An empty variable must
// not mean everything.
func TestEmptyFilterSelectsNothing(t *testing.T) {
	for _, in := range []lists{inCancel, inDead} {
		for _, p := range parameters {
			if p.in&in == 0 || slices.Contains([]string{"api", "count", "async", "cursor", "source"}, p.name) {
				continue
			}
			for _, values := range [][]string{{""}, {" "}, {","}, {}} {
				var c listQuery
				if err := c.read(url.Values{p.name: values}, in); err == nil && !c.none && len(c.filter.URLs) == 0 {
					t.Errorf("%s of %q selects everything", p.name, values)
				}
			}
		}
	}
}
