package httpsyntax

import (
	"net/http"
	"testing"
	"time"
)

// TestParseDate reads each form of a date with each zone: all name one moment.
func TestParseDate(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	want := time.Date(2026, 11, 6, 8, 49, 37, 0, time.UTC)
	zones := map[string]time.Duration{ // unordered: independent cases
		"GMT": 0, "UTC": 0, "UT": 0, "Z": 0, "gmt": 0, "+0000": 0, "-0000": 0, "+00:00": 0, "+0200": 2 * time.Hour, "-0730": -7*time.Hour - 30*time.Minute, "EST": -5 * time.Hour, "PDT": -7 * time.Hour,
	}
	for zone, offset := range zones {
		at := want.Add(offset)
		for _, layout := range []string{
			"Mon, 02 Jan 2006 15:04:05 ", "Mon, 2 Jan 2006 15:04:05 ", "02 Jan 2006 15:04:05 ", "Monday, 02-Jan-06 15:04:05 ", "Mon, 02-Jan-2006 15:04:05 ",
		} {
			text := at.Format(layout) + zone
			if got, ok := ParseDate(text, now); !ok || !got.Equal(want) {
				t.Errorf("%q is %v, %v", text, got, ok)
			}
		}
		if text := at.Format("Mon Jan _2 15:04:05 ") + zone + at.Format(" 2006"); true {
			if got, ok := ParseDate(text, now); !ok || !got.Equal(want) {
				t.Errorf("%q is %v, %v", text, got, ok)
			}
		}
	}
	for _, text := range []string{want.Format(time.ANSIC), want.Format(http.TimeFormat), want.Format(time.RFC850), want.Format(time.RFC1123Z), want.Format(time.RFC3339), "2026-11-06T10:49:37+02:00", " 2026-11-06t08:49:37z "} {
		if got, ok := ParseDate(text, now); !ok || !got.Equal(want) {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for text, year := range map[string]int{"01-Jan-76 00:00:00 GMT": 2076, "01-Jan-77 00:00:00 GMT": 1977, "01-Jan-00 00:00:00 GMT": 2000} { // unordered: independent cases
		if got, ok := ParseDate(text, now); !ok || got.Year() != year {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", " ", "soon", "GMT", "7", "Fri, 06 Nov 2026", "Fri, 06 Nov 2026 08:49:37 XYZ", "Fri, 31 Feb 2026 08:49:37 GMT", "Fri, 06 Nov 2026 08:49:37 +9999", "Fri, 06 Nov 2026 25:49:37 GMT"} {
		if got, ok := ParseDate(text, now); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
