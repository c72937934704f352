package triremetest_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
)

var fullLength = flag.Bool("full", false, "advance a thousand hours")

// TestHourlySchedules: of a hundred hourly schedules, each fires exactly once in each hour, before the request that moves time by
// an hour is answered. An hour of them is seven log entries, all ticks in one: what takes time are its hundred requests, a hundred
// thousand in full length (make accept RUN=hourly-schedules).
func TestHourlySchedules(t *testing.T) {
	const schedules = 100
	hours := 25
	if *fullLength {
		hours = 1000
	}
	k := &ticks{}
	endpoint := httptest.NewServer(k)
	t.Cleanup(endpoint.Close)
	s := triremetest.Start(t)
	s.AdvanceTo(t, s.Now(t).Truncate(time.Hour).Add(time.Hour))
	want := make([]string, schedules)
	for i := range want {
		want[i] = fmt.Sprintf("/%03d", i)
		publish(t, s, "/v2/schedules/"+endpoint.URL+want[i], "", map[string]string{"Upstash-Cron": "0 * * * *", "Upstash-Schedule-Id": fmt.Sprint("hourly-", i)})
	}
	for hour := range hours {
		s.Advance(t, time.Hour)
		if got := slices.Sorted(slices.Values(k.take())); !slices.Equal(got, want) {
			t.Fatalf("in hour %d: %v", hour, got)
		}
	}
}
