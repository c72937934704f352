package cron

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func mustParse(t *testing.T, text string) *Schedule {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNext holds one row for every rule of doc.go.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		text, after string
		want        []string
	}{
		{"* * * * *", "2026-11-21T13:05:30Z", []string{"2026-11-21T13:06:00Z", "2026-11-21T13:07:00Z"}},
		{"* * * * *", "2026-11-21T13:05:00Z", []string{"2026-11-21T13:06:00Z"}},
		{"0 12 * * 7", "2026-11-21T13:05:00Z", []string{"2026-11-22T12:00:00Z", "2026-11-29T12:00:00Z"}},
		{"0 0 13 * 5", "2026-11-01T00:00:00Z", []string{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"}},
		{"0 0 */2 * 5", "2026-11-01T00:00:00Z", []string{"2026-11-03T00:00:00Z", "2026-11-05T00:00:00Z", "2026-11-06T00:00:00Z"}},
		{"0 0 29 2 *", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z", "2108-02-29T00:00:00Z"}},
		{"@yearly", "2026-11-21T13:05:00Z", []string{"2027-01-01T00:00:00Z"}},
		{"CRON_TZ=Asia/Kolkata 0 9 * * *", "2026-11-21T13:05:00Z", []string{"2026-11-22T03:30:00Z"}},
		// New York: 02:00 becomes 03:00 (07:00 UTC) on 8 March 2026, 02:00 becomes 01:00 (06:00 UTC) on 1 November.
		{"CRON_TZ=America/New_York 30 2 * * *", "2026-03-07T08:00:00Z", []string{"2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"}},
		{"CRON_TZ=America/New_York 30 2,3 * * *", "2026-03-08T06:00:00Z", []string{"2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"}},
		{"CRON_TZ=America/New_York */30 * * * *", "2026-03-08T06:00:00Z", []string{"2026-03-08T06:30:00Z", "2026-03-08T07:00:00Z", "2026-03-08T07:30:00Z", "2026-03-08T08:00:00Z"}},
		{"CRON_TZ=America/New_York 30 1 * * *", "2026-10-31T06:00:00Z", []string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
		{"CRON_TZ=America/New_York */30 * * * *", "2026-11-01T05:00:00Z", []string{"2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:00:00Z"}},
		{"CRON_TZ=America/New_York */30 0-3 * * *", "2026-11-01T05:00:00Z", []string{"2026-11-01T05:30:00Z", "2026-11-01T07:00:00Z"}},
		// Lord Howe: half an hour is skipped, 02:00 becomes 02:30, on 4 October 2026.
		{"CRON_TZ=Australia/Lord_Howe 15 2 * * *", "2026-10-03T15:00:00Z", []string{"2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"}},
		// Apia: 30 December 2011 did not exist.
		{"CRON_TZ=Pacific/Apia 0 8 30 12 *", "2011-12-29T00:00:00Z", []string{"2011-12-30T18:00:00Z", "2012-12-29T18:00:00Z"}},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range mustParse(t, c.text).Preview(after, after, len(c.want)) {
			got = append(got, at.UTC().Format(time.RFC3339))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q after %s: %v; want %v", c.text, c.after, got, c.want)
		}
	}
}

func TestEveryCountsFromItsOrigin(t *testing.T) {
	s := mustParse(t, "@every 7s")
	origin := time.UnixMilli(1_000_500)
	for after, want := range map[int64]int64{
		0: 1_007_500, 1_000_500: 1_007_500, 1_007_499: 1_007_500, 1_007_500: 1_014_500, 1_014_499: 1_014_500, 1_000_500 + 7_000_000: 1_000_500 + 7_007_000,
	} {
		if got := s.Next(time.UnixMilli(after), origin).UnixMilli(); got != want {
			t.Errorf("after %d: %d; want %d", after, got, want)
		}
	}
}

// changes are days around which a zone's clocks change, by an hour, half an hour and a
// day, at different times of day.
var changes = []struct{ zone, day string }{
	{"America/New_York", "2026-03-08"}, {"America/New_York", "2026-11-01"},
	{"Europe/Berlin", "2026-03-29"}, {"Europe/Berlin", "2026-10-25"},
	{"America/Sao_Paulo", "2018-11-04"}, {"America/Sao_Paulo", "2018-02-18"},
	{"Australia/Lord_Howe", "2026-10-04"}, {"Australia/Lord_Howe", "2026-04-05"},
	{"America/Scoresbysund", "2024-03-31"}, {"Asia/Gaza", "2023-04-29"},
	{"Pacific/Apia", "2011-12-30"}, {"UTC", "2026-03-08"},
}

// list draws a field: *, or a few values in range.
func list(low, high int) *rapid.Generator[[]int] {
	return rapid.Custom(func(t *rapid.T) []int {
		if rapid.Bool().Draw(t, "star") {
			return nil
		}
		return rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, 8, rapid.ID).Draw(t, "values")
	})
}

func fieldText(values []int) string {
	if values == nil {
		return "*"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ",")
}

// TestNextAgainstTheCalendar compares Next with a walk over every minute of five days,
// which applies the rules of doc.go one minute at a time.
func TestNextAgainstTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		change := rapid.SampledFrom(changes).Draw(t, "change")
		minutes, hours := list(0, 59).Draw(t, "minutes"), list(0, 23).Draw(t, "hours")
		days, weekdays := list(1, 31).Draw(t, "days"), list(0, 6).Draw(t, "weekdays")
		text := fmt.Sprintf("CRON_TZ=%s %s %s %s * %s", change.zone, fieldText(minutes), fieldText(hours), fieldText(days), fieldText(weekdays))
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		middle, _ := time.Parse(time.DateOnly, change.day)
		from, to := middle.Add(-48*time.Hour), middle.Add(72*time.Hour)
		in := func(list []int, v int) bool { return list == nil || slices.Contains(list, v) }
		matches := func(wall time.Time) bool {
			day, weekday := in(days, wall.Day()), in(weekdays, int(wall.Weekday()))
			if days != nil && weekdays != nil {
				day = day || weekday
				weekday = day
			}
			return in(minutes, wall.Minute()) && in(hours, wall.Hour()) && day && weekday
		}
		want := ticks(from, to, s.Zone(), len(hours) == 0 || len(hours) == 24, matches)
		var got []int64
		for at := s.Next(from.Add(-time.Second), from); at.Before(to) && !at.IsZero(); at = s.Next(at, from) {
			got = append(got, at.Unix())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s\n got %v\nwant %v", text, got, want)
		}
	})
}

// ticks are the moments in [from, to) at which the rules say that an expression fires.
func ticks(from, to time.Time, zone *time.Location, everyHour bool, matches func(wall time.Time) bool) []int64 {
	wallOf := func(at time.Time) time.Time {
		_, offset := at.In(zone).Zone()
		return at.UTC().Add(time.Duration(offset) * time.Second)
	}
	fires := map[int64]bool{}
	begin := from.Add(-48 * time.Hour)
	shown := map[time.Time]time.Time{} // a wall minute and when it was shown last
	latest := wallOf(begin)
	for at := begin; at.Before(to); at = at.Add(time.Minute) {
		wall := wallOf(at)
		_, again := shown[wall]
		shown[wall] = at
		if matches(wall) && (!again || everyHour) {
			fires[at.Unix()] = true
		}
		for late := latest.Add(time.Minute); late.Before(wall); late = late.Add(time.Minute) { // skipped
			if matches(late) {
				fires[shown[latest].Add(late.Sub(latest)).Unix()] = true
			}
		}
		if wall.After(latest) {
			latest = wall
		}
	}
	var all []int64
	for at := range fires {
		if at >= from.Unix() && at < to.Unix() {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all
}
