package cron

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"
	_ "time/tzdata" // zones also where the system has none
)

// MaxLength is the largest length of an expression, in bytes.
const MaxLength = 256

// ErrExpression matches every error of Parse, by errors.Is.
var ErrExpression = errors.New("invalid cron expression")

// Schedule is a parsed expression.
type Schedule struct {
	text  string
	zone  *time.Location
	every time.Duration // of @every; 0 for all others

	minutes, hours, days, months, weekdays uint64 // a bit for each value that matches
	anyDay, anyWeekday                     bool
}

// String is the expression as it was given, without the blanks around it.
func (s *Schedule) String() string { return s.text }

// Zone returns the time zone in which the expression is evaluated.
func (s *Schedule) Zone() *time.Location { return s.zone }

// Every is the period of an @every expression and 0 for all others.
func (s *Schedule) Every() time.Duration { return s.every }

// Parse reads an expression. It refuses one that never fires. Every error is an
// ErrExpression.
func Parse(text string) (*Schedule, error) {
	s := &Schedule{text: strings.TrimSpace(text), zone: time.UTC}
	if len(s.text) > MaxLength {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrExpression, MaxLength)
	}
	if err := s.parse(s.text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExpression, err)
	}
	return s, nil
}

func (s *Schedule) parse(text string) (err error) {
	if text, err = s.parseZone(text); err != nil {
		return err
	}
	if period, ok := strings.CutPrefix(text, "@every "); ok {
		s.every, err = parseEvery(strings.TrimSpace(period))
		return err
	}
	if strings.HasPrefix(text, "@") {
		name := text
		if text = named[name]; text == "" {
			return fmt.Errorf("unknown name %q", name)
		}
	}
	if err := s.parseFields(strings.Fields(text)); err != nil {
		return err
	}
	if !s.everMatches() {
		return errors.New("it never fires")
	}
	return nil
}

// named are the expressions that have a name.
var named = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

func (s *Schedule) parseZone(text string) (rest string, err error) {
	name, ok := strings.CutPrefix(text, "CRON_TZ=")
	if !ok {
		if name, ok = strings.CutPrefix(text, "TZ="); !ok {
			return text, nil
		}
	}
	name, rest, _ = strings.Cut(name, " ")
	// "Local" would be another zone on every node.
	if name == "" || name == "Local" {
		return "", fmt.Errorf("unknown time zone %q", name)
	}
	if s.zone, err = time.LoadLocation(name); err != nil {
		return "", fmt.Errorf("unknown time zone %q", name)
	}
	return strings.TrimSpace(rest), nil
}

// The bounds of @every.
const (
	minEvery = time.Second
	maxEvery = 10 * 366 * 24 * time.Hour
)

// units are those of an @every duration.
var units = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}

// parseEvery reads groups of a whole number and a unit: 90s, 1h30m, 1d.
func parseEvery(text string) (time.Duration, error) {
	var sum time.Duration
	for rest := text; rest != "" || text == ""; {
		n, digits := leadingNumber(rest)
		if digits == 0 || digits == len(rest) || units[rest[digits]] == 0 {
			return 0, fmt.Errorf("bad duration %q: numbers with s, m, h or d are wanted", text)
		}
		unit := units[rest[digits]]
		if n > int(maxEvery/unit) {
			return 0, errors.New("the duration is too long")
		}
		if sum += time.Duration(n) * unit; sum > maxEvery {
			return 0, errors.New("the duration is too long")
		}
		rest = rest[digits+1:]
	}
	if sum < minEvery {
		return 0, fmt.Errorf("@every is at least %v", minEvery)
	}
	return sum, nil
}

// leadingNumber reads the digits in front, at most nine of them.
func leadingNumber(s string) (n, digits int) {
	for digits < len(s) && digits < 9 && s[digits] >= '0' && s[digits] <= '9' {
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	return n, digits
}

// everMatches reports whether any date has a day that matches: the thirtieth of
// February has none.
func (s *Schedule) everMatches() bool {
	if !s.anyWeekday || s.anyDay {
		return true // some weekday matches in every month
	}
	for month, days := range [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if s.months&(1<<(month+1)) != 0 && bits.TrailingZeros64(s.days) <= days {
			return true
		}
	}
	return false
}
