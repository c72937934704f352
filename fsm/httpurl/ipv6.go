package httpurl

import (
	"strconv"
	"strings"
)

// parseIPv6 reads an IPv6 address, of which the last two groups may be an IPv4 address in decimal.
func parseIPv6(s string) (groups [8]uint16, ok bool) {
	head, tail, gap := strings.Cut(s, "::")
	front, ok1 := parseGroups(head, !gap)
	back, ok2 := parseGroups(tail, true)
	n := len(front) + len(back)
	if !ok1 || !ok2 || n > 8 || gap && n > 7 || !gap && n != 8 {
		return groups, false
	}
	copy(groups[:], front)
	copy(groups[8-len(back):], back)
	return groups, true
}

// parseGroups reads groups that are parted by colons; v4 allows an IPv4 address at the end.
func parseGroups(s string, v4 bool) (list []uint16, ok bool) {
	if s == "" {
		return nil, true
	}
	for s != "" || len(list) > 0 {
		one, rest, more := strings.Cut(s, ":")
		if v4 && !more && strings.Contains(one, ".") {
			a, ok := parseDecimal(one)
			return append(list, uint16(a>>16), uint16(a)), ok
		}
		if one == "" || len(one) > 4 || len(list) == 8 {
			return nil, false
		}
		var n uint64
		for i := range len(one) {
			d := digit(one[i])
			if d == 16 {
				return nil, false
			}
			n = n<<4 | d
		}
		if list = append(list, uint16(n)); !more {
			break
		}
		s = rest
	}
	return list, true
}

// parseDecimal reads four decimal numbers without leading zeros.
func parseDecimal(s string) (addr uint32, ok bool) {
	parts := strings.Split(s, ".")
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || p[0] == '+' || len(p) > 1 && p[0] == '0' {
			return 0, false
		}
		addr = addr<<8 | uint32(n)
	}
	return addr, len(parts) == 4
}

// formatIPv6 writes an address in brackets, with the first longest run of at least two zeros left out.
func formatIPv6(groups [8]uint16) string {
	from, length := -1, 1
	for i := 0; i < 8; i++ {
		n := 0
		for i+n < 8 && groups[i+n] == 0 {
			n++
		}
		if n > length {
			from, length = i, n
		}
	}
	b := append(make([]byte, 0, 41), '[')
	for i := 0; i < 8; i++ {
		if i == from {
			b = append(b, "::"...)
			i += length - 1
			continue
		}
		if i > 0 && b[len(b)-1] != ':' {
			b = append(b, ':')
		}
		b = strconv.AppendUint(b, uint64(groups[i]), 16)
	}
	return string(append(b, ']'))
}
