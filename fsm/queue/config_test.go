package queue

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func configure(pairs ...string) (Publication, error) {
	var c Config
	for i := 0; i < len(pairs); i += 2 {
		if err := c.Set(pairs[i], pairs[i+1]); err != nil {
			return Publication{}, err
		}
	}
	return c.Done()
}

// TestConfig reads every header of a publish.
func TestConfig(t *testing.T) {
	p, err := configure(
		"Method", "put", "Timeout", "90s", "Retries", "7", "Retry-Delay", "1000 * (1 + retried)", "delay", "1d10h30m",
		"Not-Before", "1700000000", "Deduplication-Id", "x", "Content-Based-Deduplication", "True", "Forward-X-A", "1", "forward-Upstash-B", "2",
		"Flow-Control-Key", "k", "Flow-Control-Value", "rate=5 , parallelism = 2,period=1m", "Label", "a, b,,c ",
		"Redact-Fields", "body,headers[Authorization], header[X]", "Queue-Name", "q.1",
		"Callback", "https://c/cb", "Callback-Retries", "2", "Callback-Forward-A", "b", "Callback-Unknown", "x", "Callback-Method", "GET",
		"Failure-Callback", "http://c/f", "Failure-Callback-Forward-X", "y", "Failure-Callback-Delay", "5",
		"Telemetry-Sdk", "ignored", "Feature-Set", "ignored",
	)
	if err != nil {
		t.Fatal(err)
	}
	want := Publication{DedupID: "x", ContentDedup: true, Options: Options{
		Given: GivenMethod | GivenHeader | GivenTimeout | GivenRetries | GivenRetryDelay | GivenDelay | GivenNotBefore | GivenCallback |
			GivenFailure | GivenFlow | GivenLabels | GivenRedact | GivenQueue,
		Method: "PUT", Header: []Field{{"X-A", "1"}, {"Upstash-B", "2"}}, Timeout: 90_000, Retries: 7, RetryDelay: "1000 * (1 + retried)",
		Delay: day + 10*60*minute + 30*minute, NotBefore: 1_700_000_000_000,
		Callback: &Callback{"https://c/cb", Options{Given: GivenRetries | GivenHeader | GivenMethod, Retries: 2, Header: []Field{{"A", "b"}}, Method: "GET"}},
		Failure:  &Callback{"http://c/f", Options{Given: GivenHeader | GivenDelay, Header: []Field{{"X", "y"}}, Delay: 5000}},
		Flow:     &FlowControl{Key: "k", Parallelism: 2, Rate: 5, Period: minute}, Labels: []string{"a", "b", "c"},
		Redact: &Redaction{Body: true, Names: []string{"Authorization", "X"}}, Queue: "q.1",
	}}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("have %+v\nwant %+v", p, want)
	}
}

// TestForwardedHopByHop: what belongs to a connection is not forwarded, nor what a forwarded Connection names, whichever
// stands first.
func TestForwardedHopByHop(t *testing.T) {
	var c Config
	for _, f := range []Field{
		{"Forward-X-Private", "1"}, {"Forward-Connection", "close, x-private, Content-Type"}, {"Forward-X-A", "1"}, {"Forward-Proxy-Authorization", "1"}, {"Forward-Content-Type", "a/b"},
		{"Forward-X-Private", "2"}, {"Forward-TE", "1"}, {"Forward-Trailer", "1"}, {"Forward-Upgrade", "1"}, {"Forward-Keep-Alive", "1"}, {"Forward-Transfer-Encoding", "1"}, {"Forward-Proxy-Connection", "1"},
		{"Forward-Host", "1"}, {"Forward-Expect", "1"}, {"Forward-Content-Length", "1"},
	} {
		if err := c.Set(f.Name, f.Value); err != nil {
			t.Fatal(err)
		}
	}
	want := []Field{{"X-A", "1"}, {"Content-Type", "a/b"}}
	if p, err := c.Done(); err != nil || !reflect.DeepEqual(p.Header, want) {
		t.Errorf("got %v, %v, want %v", p.Header, err, want)
	}
}

// TestConfigRefuses names the header that is wrong.
func TestConfigRefuses(t *testing.T) {
	for _, pair := range [][2]string{
		{"Method", "CONNECT"}, {"Timeout", "soon"}, {"Timeout", "5"[:0] + "x"}, {"Retries", "-1"}, {"Retries", "1.5"}, {"Delay", "1w"}, {"Delay", "10"[:0] + "h"},
		{"Delay", "999999999d999999999d"}, {"Not-Before", "tomorrow"}, {"Not-Before", "1790000000000"}, {"Failure-Callback-Not-Before", "1790000000000"}, {"Deduplication-Id", "a:b"}, {"Content-Based-Deduplication", "maybe"}, {"Redact-Fields", "all"},
		{"Queue-Name", "a b"}, {"Callback", "ftp://x"}, {"Callback", "c/cb"}, {"Callback-Retries", "x"}, {"Failure-Callback-Method", "BREW"},
		{"Forward-A", "a\r\nb: c"}, {"Forward-A b", "c"}, {"Misfire", "twice"}, {"Schedule-Id", "a/b"},
	} {
		_, err := configure(pair[0], pair[1])
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %q: %v", pair[0], pair[1], err)
		}
	}
	for _, flow := range [][2]string{{"k", ""}, {"", "rate=1"}, {"k", "rate"}, {"k", "rate=0"}, {"k", "period=1s"}, {"k", "speed=1"}, {"k", "rate=1,period=8d"}, {"k", "rate=1,period=0"}} {
		if _, err := configure("Flow-Control-Key", flow[0], "Flow-Control-Value", flow[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%v: %v", flow, err)
		}
	}
}

// TestForwardedHeadersAreLimitedByBytes: proxies add more than 64, and no number of short ones passes the limit.
func TestForwardedHeadersAreLimitedByBytes(t *testing.T) {
	for _, value := range []string{"", "v", strings.Repeat("v", 100)} {
		var c Config
		size := len("X") + len(value) + 4
		for range maxForwardedBytes / size {
			if err := c.Set("Forward-X", value); err != nil {
				t.Fatalf("value of %d bytes: %v", len(value), err)
			}
		}
		if err := c.Set("Forward-X", value); !errors.Is(err, ErrInvalid) {
			t.Errorf("value of %d bytes: one more: %v", len(value), err)
		}
	}
}

// TestConnectionHeadersAreNotForwarded: they would let one request pass for two.
func TestConnectionHeadersAreNotForwarded(t *testing.T) {
	p, err := configure("Forward-Host", "a", "Forward-Content-Length", "1", "Forward-transfer-encoding", "chunked", "Forward-Expect", "x")
	if err != nil || len(p.Header) != 0 {
		t.Error(p.Header, err)
	}
}

// TestDurations are those of the messages sheet.
func TestDurations(t *testing.T) {
	for s, want := range map[string]int64{"50s": 50_000, "10d": 10 * day, "1d10h30m": day + 630*minute, "1h30m3s": 5_403_000, "7": 7000, "0": 0, "1H": 60 * minute} { // unordered: independent cases
		if got, ok := ParseDuration(s); !ok || got != want {
			t.Errorf("%q: %d %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "s", "1x", "1h30", "-1s", "1.5s", " 1s"} {
		if got, ok := ParseDuration(s); ok {
			t.Errorf("%q: %d", s, got)
		}
	}
}

// FuzzConfig: whatever the headers say, what is accepted can be published.
func FuzzConfig(f *testing.F) {
	f.Add("Flow-Control-Value", "rate=1,period=2d")
	f.Add("Redact-Fields", "body,header[x]")
	f.Add("Failure-Callback-Forward-X", "y")
	f.Fuzz(func(t *testing.T, name, value string) {
		p, err := configure("Flow-Control-Key", "k", "Flow-Control-Value", "rate=1", name, value)
		if err != nil {
			return
		}
		w := newWorld(t)
		p.URL = "http://example.com"
		w.publish(p)
		checkStore(t, w.s)
	})
}

// TestBlankOptionIsRefused, whichever it is.
func TestBlankOptionIsRefused(t *testing.T) {
	names := []string{"Callback", "Failure-Callback"}
	for _, d := range Directives {
		names = append(names, d.Name)
		if d.Scope == OfDelivery {
			names = append(names, "Callback-"+d.Name, "Failure-Callback-"+d.Name)
		}
	}
	for _, name := range names {
		for _, value := range []string{" ", "\t \t"} {
			if _, err := configure(name, value); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s of %q: %v", name, value, err)
			}
		}
	}
	for _, pair := range [][2]string{{"Flow-Control-Key", " "}, {"Deduplication-Id", " "}, {"Label", " "}, {"Label", ","}, {"Redact-Fields", " "}, {"Redact-Fields", "header[ ]"}} {
		if _, err := configure(pair[0], pair[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s of %q: %v", pair[0], pair[1], err)
		}
	}
}
