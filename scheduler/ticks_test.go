package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

const second, minute = int64(1000), int64(60_000)

// base is a full minute.
const base = int64(1_763_730_000_000)

func TestTimesOfSchedules(t *testing.T) {
	every := func(misfire queue.Misfire) queue.Schedule {
		return queue.Schedule{Cron: "@every 2s", Every: 2 * second, Created: base, Last: base, Next: base + 2*second, Misfire: misfire}
	}
	for name, c := range map[string]struct {
		schedule queue.Schedule
		now      int64
		want     []int64
		next     int64
	}{
		"not yet":              {every(queue.FireOnce), base + second, nil, base + 2*second},
		"on time":              {every(queue.FireOnce), base + 2*second, []int64{base + 2*second}, base + 4*second},
		"within the window":    {every(queue.FireOnce), base + 7*second, []int64{base + 2*second, base + 4*second, base + 6*second}, base + 8*second},
		"the newest late one":  {every(queue.FireOnce), base + 16*second + 1, []int64{base + 6*second, base + 8*second, base + 10*second, base + 12*second, base + 14*second, base + 16*second}, base + 18*second},
		"all":                  {every(queue.FireAll), base + 9*second, []int64{base + 2*second, base + 4*second, base + 6*second, base + 8*second}, base + 10*second},
		"next is not known":    {queue.Schedule{Cron: "*/5 * * * *", Created: base, Last: base}, base + second, nil, base + 5*minute},
		"not known and late":   {queue.Schedule{Cron: "* * * * *", Created: base, Last: base}, base + 3*minute + second, []int64{base + 2*minute, base + 3*minute}, base + 4*minute},
		"not to be read":       {queue.Schedule{Cron: "CRON_TZ=Gone/Town * * * * *", Created: base, Last: base}, base, nil, base + recheckAfter},
		"a day late, by clock": {queue.Schedule{Cron: "0 * * * *", Created: base - 86_400_000, Last: base - 86_400_000, Next: base - 82_800_000}, base + 5*second, []int64{base - 60*minute, base}, base + 60*minute},
	} {
		var k ticker
		got, next := k.nominalTimes(&c.schedule, c.now)
		if !slices.Equal(got, c.want) || next != c.next {
			t.Errorf("%s: %v, then %d; want %v, then %d", name, got, next, c.want, c.next)
		}
	}
}

func TestFireAllOfALongOutageComesInParts(t *testing.T) {
	c := queue.Schedule{Cron: "@every 1s", Every: second, Created: base, Last: base, Next: base + second, Misfire: queue.FireAll}
	var k ticker
	got, next := k.nominalTimes(&c, base+1000*second)
	if len(got) != queue.MaxTicks || got[0] != base+second || next != got[queue.MaxTicks-1]+second {
		t.Errorf("%d, then %d", len(got), next)
	}
}

// TestTicksAreWhatTheStoreTakes drives a store through outages of any length: with each
// policy the messages are those that a tick at every nominal time would have made.
func TestTicksAreWhatTheStoreTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, index := queue.New(), uint64(0)
		at := func(now int64) *env.Env { index++; return env.New(index, now, env.Latest, [16]byte{1}, 0) }
		period := rapid.Int64Range(1, 20).Draw(t, "period") * second
		misfire := queue.Misfire(rapid.IntRange(0, 2).Draw(t, "misfire"))
		put := queue.SchedulePut{
			ID: "s", Cron: fmt.Sprintf("@every %ds", period/second), Every: period, Misfire: misfire, Publish: queue.Publication{URL: "http://x.test/"},
		}
		now, fired := base, int64(0)
		if _, err := s.PutSchedule(at(now), put); err != nil {
			t.Fatal(err)
		}
		var k ticker
		var want int64
		for range rapid.IntRange(1, 8).Draw(t, "looks") {
			before := now
			now += rapid.Int64Range(1, 90*second).Draw(t, "gap")
			for {
				due := s.DueSchedules(env.At(now), 10)
				if len(due) == 0 {
					break
				}
				s.Advance(at(now), queue.Demand{Ticks: k.ticks(due, env.At(now))})
			}
			want += expected(before, now, period, misfire)
			fired = int64(s.Counts().Messages)
			if fired != want {
				t.Fatalf("at %d: %d messages; want %d", now-base, fired, want)
			}
		}
	})
}

// expected counts the ticks in (before, now] that fire when they are found at now.
func expected(before, now, period int64, misfire queue.Misfire) (n int64) {
	var late int64
	for at := base + period; at <= now; at += period {
		switch {
		case at <= before:
		case now-at >= queue.MisfireWindow:
			late++
		default:
			n++
		}
	}
	switch misfire {
	case queue.FireAll:
		return n + late
	case queue.FireOnce:
		return n + min(late, 1)
	}
	return n
}
