package queue

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold is a text in a form in which two are equal if and only if strings.EqualFold says so of them.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, r := range s {
		least := r
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			least = min(least, o)
		}
		if 'A' <= least && least <= 'Z' {
			least += 'a' - 'A' // as ToLower has it
		}
		b.WriteRune(least)
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// HostIn reports whether a host is one of those in wanted, which are folded and may be without a port.
func HostIn(wanted *Words, host string) bool {
	return slices.ContainsFunc(HostNames(host), wanted.Has)
}

// HostNames are the names by which a host may be asked for: folded, with its port and without.
func HostNames(host string) []string {
	host = Fold(host)
	name, _, hasPort := strings.Cut(host, ":")
	if !hasPort || strings.HasPrefix(host, "[") {
		return []string{host}
	}
	return []string{host, name}
}

// sameName reports whether two names of headers are the same: in any case of letters.
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x != y && (lower(x) != lower(y)) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
