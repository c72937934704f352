package scheduler

import (
	"net/http"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/backoff"
)

func TestRequestedDelay(t *testing.T) {
	now := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header []string
		ms     int64
		ok     bool
	}{
		{nil, 0, false},
		{[]string{"Retry-After", "7"}, 7000, true}, {[]string{"Retry-After", "0"}, 0, true}, {[]string{"Retry-After", " 1.5 "}, 1500, true},
		{[]string{"Retry-After", "86400"}, 86_400_000, true}, {[]string{"Retry-After", "86401"}, 0, false}, {[]string{"Retry-After", "-1"}, 0, false},
		{[]string{"Retry-After", "Sat, 21 Nov 2026 13:00:42 GMT"}, 42_000, true}, {[]string{"Retry-After", "Sat, 21 Nov 2026 12:00:00 GMT"}, 0, true},
		{[]string{"Retry-After", "Mon, 23 Nov 2026 13:00:00 GMT"}, 0, false}, {[]string{"Retry-After", "Sat, 21 Nov 2026 13:00:42 UTC"}, 42_000, true},
		{[]string{"Retry-After", "Sat, 21 Nov 2026 13:00:42 +0000"}, 42_000, true}, {[]string{"Retry-After", "Saturday, 21-Nov-26 14:00:42 +0100"}, 42_000, true},
		{[]string{"X-RateLimit-Reset", "2026-11-21T13:00:42Z"}, 42_000, true},
		{[]string{"Retry-After", "6m5s"}, 365_000, true}, {[]string{"Retry-After", "250ms"}, 250, true}, {[]string{"Retry-After", "90µs"}, 0, true}, {[]string{"Retry-After", "25h"}, 0, false},
		{[]string{"Retry-After", "soon"}, 0, false}, {[]string{"Retry-After", ""}, 0, false}, {[]string{"Retry-After", "NaN"}, 0, false}, {[]string{"Retry-After", "Inf"}, 0, false}, {[]string{"Retry-After", "1e300"}, 0, false},
		{[]string{"X-RateLimit-Reset", "3"}, 3000, true}, {[]string{"X-RateLimit-Reset", "1763730000"}, 0, false},
		{[]string{"X-RateLimit-Reset-Requests", "1s"}, 1000, true}, {[]string{"X-RateLimit-Reset-Tokens", "6m0s"}, 360_000, true},
		{[]string{"X-RateLimit-Reset-Tokens", "9s", "X-RateLimit-Reset-Requests", "8s", "X-RateLimit-Reset", "7", "Retry-After", "6"}, 6000, true},
		{[]string{"X-RateLimit-Reset-Tokens", "9s", "X-RateLimit-Reset-Requests", "8s"}, 8000, true},
		{[]string{"Retry-After", "soon", "X-RateLimit-Reset", "7"}, 0, false},
	} {
		h := http.Header{}
		for i := 0; i < len(c.header); i += 2 {
			h.Set(c.header[i], c.header[i+1])
		}
		if ms, ok := requestedDelay(h, now); ok != c.ok || ok && ms != c.ms {
			t.Errorf("%v: %d, %v; want %d, %v", c.header, ms, ok, c.ms, c.ok)
		}
	}
}

func TestRetryDelayPrecedence(t *testing.T) {
	fixed, err := backoff.Parse("7")
	if err != nil {
		t.Fatal(err)
	}
	s, own := NewSender(SenderOptions{}), NewSender(SenderOptions{DefaultDelay: fixed})
	header := http.Header{"Retry-After": {"2"}}
	for _, c := range []struct {
		sender     *Sender
		header     http.Header
		expression string
		retried    int
		want       int64
	}{
		{s, header, "1000*retried", 3, 2000}, {s, nil, "1000*retried", 3, 3000}, {s, nil, "", 0, 1000}, {s, nil, "", 6, 86_400_000},
		{own, nil, "", 6, 7}, {own, nil, "0/0", 6, 7}, {own, nil, "no expression", 6, 7},
	} {
		if got := c.sender.retryDelay(c.header, c.expression, c.retried, time.Now()); got != c.want {
			t.Errorf("%v %q %d: %d; want %d", c.header, c.expression, c.retried, got, c.want)
		}
	}
}

// FuzzAsked: whatever a destination asks for, the delay is between 0 and a day.
func FuzzAsked(f *testing.F) {
	for _, seed := range []string{"7", "6m5s", "Sat, 21 Nov 2026 13:00:42 GMT", "-1", "1e308", "9223372036854775807h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ms, ok := requestedDelay(http.Header{"Retry-After": {text}}, time.Now()); ok && (ms < 0 || ms > backoff.MaxDelay) {
			t.Fatalf("%q: %d", text, ms)
		}
	})
}
