package workflow

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// splitURL returns the origin of a URL in one spelling, and its path and query.
func splitURL(url string) (origin, rest string) {
	scheme, rest, _ := strings.Cut(url, "://")
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	rest, _, _ = strings.Cut(rest, "#")
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	scheme, host := queue.Fold(scheme), queue.Fold(authority[strings.LastIndexByte(authority, '@')+1:])
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + host, rest
}

// ReadOrigin reads the URL of a deployment, which has a host and nothing else, and returns it in one spelling.
func ReadOrigin(url string) (origin string, ok bool) {
	origin, rest := splitURL(url)
	host, isHTTP := strings.CutPrefix(origin, "http://")
	if !isHTTP {
		host, isHTTP = strings.CutPrefix(origin, "https://")
	}
	ok = isHTTP && host != "" && !strings.HasPrefix(host, ":") && rest == "/" && len(url) <= maxOrigin && !strings.ContainsAny(url, "@#? \\") && queue.FitsHeader(url)
	return origin, ok
}
