package cron

import (
	"math/bits"
	"time"
)

// horizon is the longest time that Next looks ahead. The rarest expression fires on a 29th of February,
// and from 2096 to 2104 there is none.
const horizon = 9 * 366 * 24 * time.Hour

// Next is the first moment after the given one at which the schedule fires, in the
// schedule's zone. The origin is that of an @every expression, usually the moment the
// schedule was created; others ignore it; @every
// counts in whole milliseconds. It is the zero time if there is no such moment
// within nine years.
func (s *Schedule) Next(after, origin time.Time) time.Time {
	if s.every > 0 {
		return s.nextEvery(after, origin)
	}
	after = after.In(s.zone)
	limit := after.Add(horizon)
	for at := after; !at.After(limit); {
		segment := segmentOf(at)
		if t := s.nextIn(segment, after); !t.IsZero() {
			return t
		}
		if segment.end.IsZero() {
			break
		}
		at = segment.end
	}
	return time.Time{}
}

// Preview are the next n moments after the given one, fewer if there are none.
func (s *Schedule) Preview(after, origin time.Time, n int) []time.Time {
	var all []time.Time
	for range n {
		if after = s.Next(after, origin); after.IsZero() {
			break
		}
		all = append(all, after)
	}
	return all
}

func (s *Schedule) nextEvery(after, origin time.Time) time.Time {
	period, first := s.every.Milliseconds(), origin.UnixMilli()+s.every.Milliseconds()
	next := first
	if passed := after.UnixMilli() - first; passed >= 0 {
		next += (passed/period + 1) * period
	}
	return time.UnixMilli(next).In(s.zone)
}

// segment is a span of time during which a zone's offset does not change, [start, end);
// a zero bound is open. before is the offset that ended with start, in seconds.
type segment struct {
	start, end     time.Time
	offset, before int
}

func segmentOf(t time.Time) segment {
	start, end := t.ZoneBounds()
	_, offset := t.Zone()
	before := offset
	if !start.IsZero() {
		_, before = start.Add(-time.Second).Zone()
	}
	return segment{start, end, offset, before}
}

// nextIn is the first moment of the segment after the given one, or the zero time.
func (s *Schedule) nextIn(g segment, after time.Time) time.Time {
	from := after.Add(time.Nanosecond)
	if !g.start.IsZero() && from.Before(g.start) {
		from = g.start
	}
	to := from.Add(horizon)
	if !g.end.IsZero() && g.end.Before(to) {
		to = g.end
	}
	if g.start.IsZero() || g.offset == g.before {
		return s.scan(from, to, g.offset)
	}
	changed := time.Duration(g.offset-g.before) * time.Second
	if changed < 0 {
		// The first part of the segment repeats what the wall clock showed before.
		if again := g.start.Add(-changed); from.Before(again) && s.hours != allHours {
			from = again
		}
		return s.scan(from, to, g.offset)
	}
	// During the first part of the segment the minutes that were skipped fire late, by
	// the old offset.
	late := g.start.Add(changed)
	if late.After(to) {
		late = to
	}
	return earlier(s.scan(from, to, g.offset), s.scan(from, late, g.before))
}

const allHours = 1<<24 - 1

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// scan is the first minute in [from, to) that matches on a wall clock at a fixed offset
// (seconds east of UTC), or the zero time.
func (s *Schedule) scan(from, to time.Time, offset int) time.Time {
	shift := time.Duration(offset) * time.Second
	wall, end := from.UTC().Add(shift), to.UTC().Add(shift)
	if cut := wall.Truncate(time.Minute); cut.Before(wall) {
		wall = cut.Add(time.Minute)
	}
	for wall.Before(end) {
		year, month, day := wall.Date()
		switch {
		case s.months&(1<<month) == 0:
			wall = time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
		case !s.matchesDay(wall):
			wall = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
		default:
			hour, minute, ok := s.timeOfDay(wall.Hour(), wall.Minute())
			if !ok {
				wall = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
				continue
			}
			wall = time.Date(year, month, day, hour, minute, 0, 0, time.UTC)
			if !wall.Before(end) {
				return time.Time{}
			}
			return wall.Add(-shift).In(s.zone)
		}
	}
	return time.Time{}
}

func (s *Schedule) matchesDay(wall time.Time) bool {
	day := s.days&(1<<wall.Day()) != 0
	weekday := s.weekdays&(1<<wall.Weekday()) != 0
	if s.anyDay || s.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// timeOfDay is the first time that matches from the given one on, in the same day.
func (s *Schedule) timeOfDay(hour, minute int) (h, m int, ok bool) {
	if s.hours&(1<<hour) != 0 {
		if rest := s.minutes >> minute << minute; rest != 0 {
			return hour, bits.TrailingZeros64(rest), true
		}
	}
	rest := s.hours >> (hour + 1) << (hour + 1)
	if rest == 0 {
		return 0, 0, false
	}
	return bits.TrailingZeros64(rest), bits.TrailingZeros64(s.minutes), true
}
