package httpurl

import (
	"strconv"
	"strings"
)

// isIPv6 reports whether s is an IPv6 address, of which the last two groups may be an IPv4 address in decimal.
func isIPv6(s string) bool {
	head, tail, gap := strings.Cut(s, "::")
	front, ok1 := countGroups(head, !gap)
	back, ok2 := countGroups(tail, true)
	if gap { // which stands for one group at least
		return ok1 && ok2 && front+back <= 7
	}
	return ok1 && front == 8
}

// countGroups counts groups that are parted by colons; v4 allows an IPv4 address at the end, which is two.
func countGroups(s string, v4 bool) (n int, ok bool) {
	if s == "" {
		return 0, true
	}
	for more := true; more; n++ {
		var one string
		one, s, more = strings.Cut(s, ":")
		if v4 && !more && strings.Contains(one, ".") {
			return n + 2, isDecimal(one)
		}
		if one == "" || len(one) > 4 {
			return 0, false
		}
		for i := range len(one) {
			if digit(one[i]) == 16 {
				return 0, false
			}
		}
	}
	return n, true
}

// isDecimal reports whether s are four decimal numbers without leading zeros.
func isDecimal(s string) bool {
	parts := strings.Split(s, ".")
	for _, p := range parts {
		if n, err := strconv.ParseUint(p, 10, 8); err != nil || strconv.FormatUint(n, 10) != p {
			return false
		}
	}
	return len(parts) == 4
}
