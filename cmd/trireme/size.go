package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is the value of a flag in bytes, with an optional unit such as 10MiB or 2GB.
type byteSize int64

var units = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// String returns the shortest exact form.
func (s *byteSize) String() string {
	for _, u := range []int{3, 2, 1, 0} {
		if n := units[u]; *s != 0 && int64(*s)%n.bytes == 0 {
			return strconv.FormatInt(int64(*s)/n.bytes, 10) + n.suffix
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set parses a number of bytes, with or without a unit.
func (s *byteSize) Set(text string) error {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, u := range units {
		if rest, ok := cutSuffixFold(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size: give bytes, or a number with a unit such as 10MiB", text)
	}
	*s = byteSize(n * unit)
	return nil
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if at := len(s) - len(suffix); at >= 0 && strings.EqualFold(s[at:], suffix) {
		return s[:at], true
	}
	return s, false
}

// Type names the value in usage texts.
func (*byteSize) Type() string { return "size" }
