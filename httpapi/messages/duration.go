package messages

import (
	"strconv"
	"strings"
)

// maxDuration is the longest time that a header may name, in milliseconds: a hundred
// years.
const maxDuration = 100 * 366 * 86_400_000

var unitMillis = map[byte]int64{'s': 1000, 'm': 60_000, 'h': 3_600_000, 'd': 86_400_000}

// parseDuration reads groups of a whole number and a unit, as 1d10h30m, or a bare number
// of seconds. The value is in milliseconds.
func parseDuration(text string) (ms int64, ok bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return int64(n) * 1000, int64(n)*1000 <= maxDuration
	}
	for rest := text; rest != ""; {
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		n, err := strconv.ParseUint(rest[:digits], 10, 32)
		if err != nil || digits == len(rest) || unitMillis[rest[digits]] == 0 {
			return 0, false
		}
		if ms += int64(n) * unitMillis[rest[digits]]; ms > maxDuration {
			return 0, false
		}
		rest = rest[digits+1:]
	}
	return ms, text != ""
}
