package triremetest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
)

// ticks are the paths of the deliveries that have come to an endpoint of the test, in order.
type ticks struct {
	mu    sync.Mutex
	paths []string
}

func (t *ticks) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paths = append(t.paths, r.URL.Path)
}

// take returns what has come since the last call.
func (t *ticks) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.paths = nil }()
	return t.paths
}

// TestThousandAdvances: of a hundred weekly schedules, each at a minute of its own, each fires exactly once at each of its times and in
// the order of these, before the request that moves time is answered.
func TestThousandAdvances(t *testing.T) {
	t.Parallel()
	const schedules, hours = 100, 1000
	k := &ticks{}
	endpoint := httptest.NewServer(k)
	t.Cleanup(endpoint.Close)
	s := triremetest.Start(t)
	now := s.Now(t).Truncate(time.Hour).Add(time.Hour).UTC()
	s.AdvanceTo(t, now)
	type minute struct {
		day          time.Weekday
		hour, minute int
	}
	due := map[minute]string{}
	for i := range schedules {
		at := minute{time.Weekday(i % 7), 7 * i % 24, i % 60}
		due[at] = fmt.Sprintf("/%d", i)
		publish(t, s, "/v2/schedules/"+endpoint.URL+due[at], "", map[string]string{"Upstash-Cron": fmt.Sprintf("%d %d * * %d", at.minute, at.hour, at.day)})
	}
	if len(due) != schedules {
		t.Fatalf("%d different times", len(due))
	}
	fired := 0
	for hour := range hours {
		s.Advance(t, time.Hour)
		var want []string
		for range 60 {
			now = now.Add(time.Minute)
			if path, is := due[minute{now.Weekday(), now.Hour(), now.Minute()}]; is {
				want = append(want, path)
			}
		}
		got := k.take()
		if !slices.Equal(got, want) {
			t.Fatalf("in hour %d: %v, want %v", hour, got, want)
		}
		fired += len(got)
	}
	if fired < 5*schedules {
		t.Errorf("%d ticks in six weeks", fired)
	}
}
