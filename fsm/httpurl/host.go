package httpurl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxName and maxLabel are the most characters of a name in DNS, without the dot at its end, and of one label.
const (
	maxName  = 253
	maxLabel = 63
)

// readHost reads a host that is not empty. One that needs no other form stays as it is, with the case of its letters.
func readHost(text string, toASCII ToASCII) (string, error) {
	if text[0] == '[' {
		if text[len(text)-1] != ']' || !isIPv6(strings.TrimSuffix(text[1:], "]")) {
			return "", errIPv6
		}
		return text, nil
	}
	name := unescape(text)
	if !utf8.ValidString(name) {
		return "", errHost
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte("#%/:<>?@[\\]^|", c) >= 0 {
			return "", errHost
		}
	}
	if name = lower(name); isInternational(name) {
		ascii, err := international(name, toASCII)
		if err != nil {
			return "", err
		}
		name = ascii
	}
	if endsInNumber(name) {
		n, ok := parseIPv4(name)
		if !ok {
			return "", errIPv4
		}
		name = formatIPv4(n)
	} else if !isName(name) {
		return "", errName
	}
	if lower(text) == name {
		return text, nil
	}
	return name, nil
}

// isInternational reports whether a name, in lower case, needs what only the tables of Unicode can say.
func isInternational(name string) bool {
	if strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") {
		return true
	}
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// international returns the form of an international name for DNS. Without toASCII it takes a name that is in that form.
func international(name string, toASCII ToASCII) (string, error) {
	if toASCII == nil {
		for i := range len(name) {
			if name[i] >= utf8.RuneSelf {
				return "", errUnicode
			}
		}
		return name, nil
	}
	ascii, err := toASCII(name)
	if err != nil {
		return "", errXN
	}
	return ascii, nil
}

// lower turns ASCII letters into lower case.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

// isName reports whether a resolver would ask for a name: the rule of Go's net package, which answers "no such host" to
// any other without asking.
func isName(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if len(name) > maxName {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			switch c := label[i]; {
			case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_':
			default:
				return false
			}
		}
	}
	return true
}

// endsInNumber reports whether a host is to be an IPv4 address: its last label is a number.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := number(last)
	return ok
}

// parseIPv4 reads an address of one to four numbers, each decimal, octal (0…) or hexadecimal (0x…), of which the last one
// fills what is left.
func parseIPv4(host string) (addr uint32, ok bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return 0, false
	}
	for i, p := range parts {
		n, ok := number(p)
		if !ok {
			return 0, false
		}
		if i < len(parts)-1 {
			if n > 0xff {
				return 0, false
			}
			addr |= uint32(n) << (24 - 8*i)
			continue
		}
		if n >= 1<<(8*(4-i)) {
			return 0, false
		}
		addr |= uint32(n)
	}
	return addr, true
}

// number reads a number of an IPv4 address. One that is too large for any address is 1<<40.
func number(s string) (n uint64, ok bool) {
	base := uint64(10)
	switch {
	case s == "":
		return 0, false
	case len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x':
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, s = 8, s[1:]
	}
	for i := range len(s) {
		d := digit(s[i])
		if d >= base {
			return 0, false
		}
		n = min(n*base+d, 1<<40)
	}
	return n, true
}

func formatIPv4(a uint32) string {
	b := make([]byte, 0, 15)
	for shift := 24; shift >= 0; shift -= 8 {
		if b = strconv.AppendUint(b, uint64(a>>shift&0xff), 10); shift > 0 {
			b = append(b, '.')
		}
	}
	return string(b)
}
