package httpsyntax

import (
	"strings"
	"time"
)

// ParseDate reads a date of a header. Beside the three forms of RFC 9110, section 5.6.7, which end with GMT, it takes
// what servers write in their place: UTC, an offset such as +0000, the zones of RFC 822, no weekday, and RFC 3339. A year
// of two digits is the one nearest to now that is at most 50 years ahead.
func ParseDate(text string, now time.Time) (at time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return at.UTC(), true
	}
	fields := strings.Fields(text)
	if len(fields) > 0 && strings.HasSuffix(fields[0], ",") {
		fields = fields[1:]
	}
	offset := time.Duration(0)
	for i := len(fields) - 1; i >= max(len(fields)-2, 0); i-- { // asctime has its year behind the zone
		if d, found := zone(fields[i]); found {
			offset, fields = d, append(fields[:i:i], fields[i+1:]...)
			break
		}
	}
	text = strings.Join(fields, " ")
	for _, layout := range dateLayouts {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if strings.Contains(layout, "-06") {
			for ; at.Year()-now.Year() > 50; at = at.AddDate(-100, 0, 0) {
			}
			for ; at.Year()-now.Year() <= -50; at = at.AddDate(100, 0, 0) {
			}
		}
		return at.Add(-offset), true
	}
	return time.Time{}, false
}

// dateLayouts are the forms of dates without weekdays that a comma ends, and without zones: those of IMF-fixdate, RFC 850
// (and Netscape's with four digits of the year) and asctime.
var dateLayouts = []string{"2 Jan 2006 15:04:05", "2-Jan-06 15:04:05", "2-Jan-2006 15:04:05", "Mon Jan 2 15:04:05 2006"}

// zone returns the offset of a zone from UTC.
func zone(name string) (offset time.Duration, ok bool) {
	if hours, found := zones[strings.ToUpper(name)]; found {
		return time.Duration(hours) * time.Hour, true
	}
	for _, layout := range []string{"-0700", "-07:00"} {
		if at, err := time.Parse(layout, name); err == nil {
			_, seconds := at.Zone()
			return time.Duration(seconds) * time.Second, true
		}
	}
	return 0, false
}

// zones are those of RFC 822, and UTC, in hours.
var zones = map[string]int{
	"GMT": 0, "UTC": 0, "UT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}
