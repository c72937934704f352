package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Pages in browsers may use the keyspace with a token in a header. Requests to other
// paths never get these headers.

// allowOrigin lets the page that asked read the reply.
func (c *call) allowOrigin(origin []string) {
	h := c.w.Header()
	h["Access-Control-Allow-Origin"] = origin
	h["Access-Control-Allow-Credentials"] = trueValue
	h["Access-Control-Expose-Headers"] = c.s.names.exposed
	h["Vary"] = varyOrigin
}

// preflight answers a browser's question whether a page may send a request; it carries
// no token.
func (c *call) preflight() {
	c.kind = kindPreflight
	h := c.w.Header()
	h["Access-Control-Allow-Methods"] = methods
	if asked := c.r.Header["Access-Control-Request-Headers"]; len(asked) > 0 {
		h["Access-Control-Allow-Headers"] = asked
	}
	h["Access-Control-Max-Age"] = []string{"600"}
	c.send(http.StatusOK, nil)
}

// isLoopback reports whether a Host header names this machine by a name that no other
// site can have. A request without Host comes from no browser.
func isLoopback(host string) bool {
	if host == "" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" {
		return true // names below it may be anybody's: what they resolve to is up to the machine's resolver
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}
