package queue

import (
	"strconv"
	"strings"
)

func isURL(s string) bool {
	lower := strings.ToLower(strings.TrimSpace(s))
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// isControl reports whether no header's value may have a character.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// ControlRule refuses a value that is sent in a header and can't be.
const ControlRule = "it has a control character, which no header may have"

// FitsHeader reports whether a value can be sent in a header.
func FitsHeader(v string) bool { return !strings.ContainsFunc(v, isControl) }

// isToken reports whether s may be a header's name.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

func boolean(to *bool, v string) string {
	yes, ok := ParseBool(v)
	if !ok {
		return "use true or false"
	}
	*to = yes
	return ""
}

// ParseBool reads true or false in any case of letters, or 1 or 0; nothing is false.
func ParseBool(v string) (yes, ok bool) {
	switch strings.ToLower(v) {
	case "true", "1":
		return true, true
	case "false", "0", "":
		return false, true
	}
	return false, false
}

// split returns the parts of a comma-separated list, without empty ones.
func split(v string) (list []string) {
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// parseFlow reads the value of a flow-control key: parallelism, rate, period and burst, comma-separated, in any order.
func parseFlow(key, value string) (*FlowControl, error) {
	wrong := invalid("invalid flow control value %q: use parallelism=N, rate=N, period=D with a flow control key", value)
	if key == "" || value == "" {
		return nil, wrong
	}
	f := &FlowControl{Key: key, Period: DefaultPeriod}
	for _, part := range split(value) {
		name, v, _ := strings.Cut(part, "=")
		v = strings.TrimSpace(v)
		n, err := strconv.Atoi(v)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "parallelism":
			f.Parallelism = n
		case "rate":
			f.Rate = n
		case "burst":
			if f.Burst = n; n > MaxBurst {
				return nil, wrong
			}
		case "period":
			d, ok := ParseDuration(v)
			if !ok || d <= 0 || d > MaxPeriod {
				return nil, wrong
			}
			f.Period, n, err = d, 1, nil
		default:
			return nil, wrong
		}
		if err != nil || n < 1 {
			return nil, wrong
		}
	}
	if f.Parallelism == 0 && f.Rate == 0 || f.Burst > 0 && f.Rate == 0 {
		return nil, wrong
	}
	return f, nil
}

// ParseDuration reads a duration of the API, in milliseconds: groups of an integer and a unit s, m, h or d, as in
// 1d10h30m; a bare integer is in seconds.
func ParseDuration(s string) (millis int64, ok bool) {
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return int64(n) * 1000, true
	}
	for rest := s; rest != ""; {
		i := 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		n, err := strconv.ParseUint(rest[:i], 10, 32)
		if err != nil || i == len(rest) {
			return 0, false
		}
		unit, known := map[byte]int64{'s': 1000, 'm': minute, 'h': 60 * minute, 'd': day}[rest[i]|0x20]
		if !known {
			return 0, false
		}
		millis, rest = millis+int64(n)*unit, rest[i+1:]
		if millis > maxDuration {
			return 0, false
		}
	}
	return millis, s != ""
}
