package cron

import (
	"fmt"
	"strings"
)

// field describes the values that a field of an expression may hold.
type field struct {
	name  string
	low   int
	high  int
	names []string // of the values from low on, in lower case
}

var (
	minuteField  = field{"minute", 0, 59, nil}
	hourField    = field{"hour", 0, 23, nil}
	dayField     = field{"day of month", 1, 31, nil}
	monthField   = field{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}}
	weekdayField = field{"day of week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}
)

func (s *Schedule) parseFields(fields []string) error {
	if len(fields) != 5 {
		return fmt.Errorf("five fields are wanted, got %d", len(fields))
	}
	var err error
	parse := func(f field, text string) (set uint64, free bool) {
		if err == nil {
			set, free, err = f.parse(text)
		}
		return set, free
	}
	s.minutes, _ = parse(minuteField, fields[0])
	s.hours, _ = parse(hourField, fields[1])
	s.days, s.anyDay = parse(dayField, fields[2])
	s.months, _ = parse(monthField, fields[3])
	s.weekdays, s.anyWeekday = parse(weekdayField, fields[4])
	s.weekdays |= s.weekdays >> 7 & 1 // 7 is Sunday too
	return err
}

// parse reads the list of a field. free reports that the field restricts nothing.
func (f field) parse(text string) (set uint64, free bool, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, step, err := f.cutStep(part)
		if err != nil {
			return 0, false, err
		}
		low, high, err := f.span(span, step > 0)
		if err != nil {
			return 0, false, err
		}
		free = free || (span == "*" || span == "?") && step <= 1
		for v := low; v <= high; v += max(step, 1) {
			set |= 1 << v
		}
	}
	return set, free, nil
}

// last is the highest value of a span that has no end of its own: a week ends on
// Saturday, though Sunday may be written as 7.
func (f field) last() int {
	if f.low == 0 && f.high == 7 {
		return 6
	}
	return f.high
}

// cutStep parts a step from what it applies to; it is 0 if there is none.
func (f field) cutStep(part string) (span string, step int, err error) {
	span, text, ok := strings.Cut(part, "/")
	if !ok {
		return span, 0, nil
	}
	n, digits := leadingNumber(text)
	if digits == 0 || digits != len(text) || n == 0 || n > f.high {
		return "", 0, fmt.Errorf("%s: bad step in %q", f.name, part)
	}
	return span, n, nil
}

// span reads *, ?, a value, or a range. A value with a step has no end of its own.
func (f field) span(text string, stepped bool) (low, high int, err error) {
	if text == "*" || text == "?" {
		return f.low, f.last(), nil
	}
	from, to, isRange := strings.Cut(text, "-")
	if low, err = f.value(from); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		if high, err = f.value(to); err != nil {
			return 0, 0, err
		}
	case stepped:
		high = max(low, f.last())
	default:
		high = low
	}
	if high < low {
		return 0, 0, fmt.Errorf("%s: the range %q ends before it begins", f.name, text)
	}
	return low, high, nil
}

func (f field) value(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.low + i, nil
		}
	}
	n, digits := leadingNumber(text)
	if digits == 0 || digits != len(text) || n < f.low || n > f.high {
		return 0, fmt.Errorf("%s: %q is not a value from %d to %d", f.name, text, f.low, f.high)
	}
	return n, nil
}
