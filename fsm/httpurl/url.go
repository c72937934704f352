package httpurl

import (
	"errors"
	"strconv"
	"strings"
)

// URL is an absolute http or https URL. Its parts are escaped, and otherwise as they were given.
type URL struct {
	// Scheme is http or https, in any case of letters.
	Scheme string
	// User is NAME, NAME:PASSWORD or :PASSWORD, empty if there is none.
	User string
	// Host is a name in ASCII, an IPv4 address of four decimal numbers, or an IPv6 address in brackets.
	Host string
	// Port is empty if there is none.
	Port string
	// Path is empty or begins with a slash.
	Path string
	// Query and Fragment begin with ? and #; they are empty if there is none.
	Query, Fragment string
}

// ToASCII turns a host's name, which is valid UTF-8 and has no escapes, into its form for DNS.
type ToASCII func(host string) (string, error)

// The refusals.
var (
	errScheme  = errors.New("an absolute URL that begins with http:// or https:// is wanted")
	errNoHost  = errors.New("it has no host")
	errPort    = errors.New("its port is not a number from 1 to 65535")
	errHost    = errors.New("its host has a character that no host may have, or is not UTF-8")
	errName    = errors.New("its host is not a name of letters, digits, hyphens and underscores in labels of 1 to 63 characters, 253 in all")
	errIPv4    = errors.New("its host ends with a number but is not an IPv4 address")
	errIPv6    = errors.New("its host is not an IPv6 address (zones are not allowed)")
	errUnicode = errors.New("its host is not in ASCII: commands take international names in their xn-- form, the HTTP API converts them")
	errXN      = errors.New("its host is not a valid international name")
)

// Read reads a URL and escapes what it may not hold. Blanks and controls around it are cut off, tabs and line ends in it
// dropped. toASCII may be nil.
func Read(text string, toASCII ToASCII) (URL, error) {
	var u URL
	rest := clean(text)
	i := strings.IndexByte(rest, ':')
	if i < 0 {
		return u, errScheme
	}
	if u.Scheme = rest[:i]; lower(u.Scheme) != "http" && lower(u.Scheme) != "https" {
		return u, errScheme
	}
	if rest = rest[i+1:]; len(rest) < 2 || !isSlash(rest[0]) || !isSlash(rest[1]) {
		return u, errScheme
	}
	rest = rest[2:]
	end := strings.IndexAny(rest, "/\\?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		u.Fragment = "#" + escape(rest[i+1:], inFragment)
		rest = rest[:i]
	}
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		u.Query = "?" + escape(rest[i+1:], inQuery)
		rest = rest[:i]
	}
	u.Path = escape(strings.ReplaceAll(rest, "\\", "/"), inPath)
	return u, u.readAuthority(authority, toASCII)
}

// String returns the URL.
func (u *URL) String() string {
	var b strings.Builder
	b.Grow(len(u.Scheme) + len(u.User) + len(u.Host) + len(u.Port) + len(u.Path) + len(u.Query) + len(u.Fragment) + 5)
	b.WriteString(u.Scheme)
	b.WriteString("://")
	if u.User != "" {
		b.WriteString(u.User)
		b.WriteByte('@')
	}
	b.WriteString(u.Address())
	b.WriteString(u.Path)
	b.WriteString(u.Query)
	b.WriteString(u.Fragment)
	return b.String()
}

// Hostname is the host without brackets.
func (u *URL) Hostname() string {
	return strings.TrimSuffix(strings.TrimPrefix(u.Host, "["), "]")
}

// Target returns the target of a request line for the URL: the path, / if it is empty, and the query.
func (u *URL) Target() string {
	path := u.Path
	if path == "" {
		path = "/"
	}
	return path + u.Query
}

// Address is the host with its port, if there is one.
func (u *URL) Address() string {
	if u.Port == "" {
		return u.Host
	}
	return u.Host + ":" + u.Port
}

// Credentials are the name and the password before the host, without escapes; has reports whether there are any.
func (u *URL) Credentials() (name, password string, has bool) {
	name, password, _ = strings.Cut(u.User, ":")
	return unescape(name), unescape(password), u.User != ""
}

// EscapedPath is the path with escapes also for what strict parsers refuse in one: a vertical bar, and a percent sign
// without two hexadecimal digits.
func (u *URL) EscapedPath() string {
	var b strings.Builder
	for i := range len(u.Path) {
		switch c := u.Path[i]; {
		case c == '|':
			b.WriteString("%7C")
		case c == '%' && (i+2 >= len(u.Path) || digit(u.Path[i+1]) == 16 || digit(u.Path[i+2]) == 16):
			b.WriteString("%25")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// readAuthority reads what stands between the slashes and the path: user@host:port.
func (u *URL) readAuthority(text string, toASCII ToASCII) error {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		name, password, _ := strings.Cut(text[:i], ":")
		if u.User = escape(name, inUser); password != "" {
			u.User += ":" + escape(password, inUser)
		}
		text = text[i+1:]
	}
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.Contains(text[i:], "]") {
		host, port = text[:i], text[i+1:]
	}
	if host == "" {
		return errNoHost
	}
	if err := u.readPort(port); err != nil {
		return err
	}
	var err error
	u.Host, err = readHost(host, toASCII)
	return err
}

// readPort reads a port, which may be empty.
func (u *URL) readPort(text string) error {
	if text == "" {
		return nil
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return errPort
		}
	}
	if n, err := strconv.ParseUint(strings.TrimLeft(text, "0"), 10, 16); err != nil || n == 0 {
		return errPort
	}
	u.Port = text
	return nil
}

// clean cuts off blanks and controls around a text, and drops tabs and line ends in it.
func clean(text string) string {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if !strings.ContainsAny(text, "\t\r\n") {
		return text
	}
	return strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(text)
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }
