package cron

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *",
		"* * * * 8", "*/0 * * * *", "*/60 * * * *", "*/ * * * *", "/5 * * * *", "5- * * * *", "-5 * * * *", "9-5 * * * *", "1,,2 * * * *",
		", * * * *", "a * * * *", "* * * foo *", "* * L * *", "* * 15W * *", "* * * * 5#2", "+5 * * * *", "0x5 * * * *", "١ * * * *",
		"0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "@", "@reboot", "@every", "@every ", "@every 5", "@every 0s", "@every -5s",
		"@every 500ms", "@every 1.5s", "@every 1s 2s", "@every 99999999999s", "@every 9999d", "@every 3000d3000d", "@every s",
		"TZ=0", "CRON_TZ=UTC", "CRON_TZ=", "CRON_TZ= * * * * *", "CRON_TZ=Nowhere/Town * * * * *", "CRON_TZ=../UTC * * * * *",
		"CRON_TZ=Local * * * * *", "CRON_TZ=/etc/localtime * * * * *", "cron_tz=UTC * * * * *", "CRON_TZ=UTC TZ=UTC * * * * *",
		"* * * * *" + strings.Repeat(",*", MaxLength),
	} {
		if s, err := Parse(text); !errors.Is(err, ErrExpression) {
			t.Errorf("Parse(%q) = %v, %v", text, s, err)
		}
	}
}

func TestParseKeepsTheTextWithoutBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"*/10 * * * * ": "*/10 * * * *",
		"\t CRON_TZ=Europe/Berlin 0  9 * * mon-fri ": "CRON_TZ=Europe/Berlin 0  9 * * mon-fri",
		" @daily":      "@daily",
		"@every 1m ":   "@every 1m",
		"0 0 29 2 *":   "0 0 29 2 *",
		"0 0 31 2 1":   "0 0 31 2 1",
		"0 0 30 2 */2": "0 0 30 2 */2",
	} {
		if s, err := Parse(text); err != nil || s.String() != want {
			t.Errorf("Parse(%q) = %v, %v; want %q", text, s, err, want)
		}
	}
}

func TestParseReadsFields(t *testing.T) {
	for text, want := range map[string]Schedule{
		"5 4 3 2 1":                     {minutes: 1 << 5, hours: 1 << 4, days: 1 << 3, months: 1 << 2, weekdays: 1 << 1},
		"*/20 */8 ? * ?":                {minutes: 1 | 1<<20 | 1<<40, hours: 1 | 1<<8 | 1<<16, anyDay: true, anyWeekday: true},
		"50/5 20/2 30/1 11/1 5/1":       {minutes: 1<<50 | 1<<55, hours: 1<<20 | 1<<22, days: 1<<30 | 1<<31, months: 1<<11 | 1<<12, weekdays: 1<<5 | 1<<6},
		"1-5/2,7 1-1/5 1 Jan,DEC Sat-7": {minutes: 1<<1 | 1<<3 | 1<<5 | 1<<7, hours: 1 << 1, days: 1 << 1, months: 1<<1 | 1<<12, weekdays: 1 | 1<<6 | 1<<7},
		"0 0 1,* * 1":                   {minutes: 1, hours: 1, anyDay: true, weekdays: 1 << 1},
		"0 0 */2 6 7":                   {minutes: 1, hours: 1, days: 0xAAAAAAAA, months: 1 << 6, weekdays: 1 | 1<<7},
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
			continue
		}
		if want.anyDay {
			want.days = 0xFFFFFFFE
		}
		if want.months == 0 {
			want.months = 0x1FFE
		}
		if want.anyWeekday {
			want.weekdays = 0x7F
		}
		want.text, want.zone = text, time.UTC
		if *s != want {
			t.Errorf("Parse(%q) = %+v; want %+v", text, *s, want)
		}
	}
}

func TestParseReadsEvery(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"@every 1s": time.Second, "@every 90s": 90 * time.Second, "@every 1h30m": 90 * time.Minute, "@every 1d10h30m": 34*time.Hour + 30*time.Minute,
		"CRON_TZ=Asia/Tokyo @every 7s": 7 * time.Second,
	} {
		if s, err := Parse(text); err != nil || s.Every() != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", text, s, err, want)
		}
	}
}

// FuzzParse: no text makes Parse or Next panic, and what Parse takes fires.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"* * * * *", "CRON_TZ=America/New_York 30 2 29 2 *", "@every 1h", "*/7 1-5,9 L * mon#2", "TZ=0", "0 0 31 4-6/2 ?"} {
		f.Add(seed, int64(1772962200000))
	}
	f.Fuzz(func(t *testing.T, text string, at int64) {
		s, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrExpression) {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			return
		}
		after := time.UnixMilli(at % (200 * 366 * 24 * 3600 * 1000))
		if next := s.Next(after, time.UnixMilli(0)); !next.After(after) {
			t.Fatalf("%q after %v fires at %v", text, after, next)
		}
	})
}
