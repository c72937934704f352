package messages

import (
	"net/url"
	"strings"

	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/idn"
)

// target is the destination of a message.
type target struct{ url, group, api string }

// readDestination reads a destination as a path or a batch item has it (raw), and
// the query string that follows it in a path.
func (p *Parser) readDestination(raw, query string) (target, error) {
	if raw == "" {
		return target{}, errNoDestination
	}
	text, ok := repairURL(raw)
	if !ok {
		if plain, err := url.PathUnescape(raw); err == nil && plain != raw {
			text, ok = repairURL(plain)
		}
	}
	if ok {
		to, err := p.ReadPlainURL(withQuery(text, query))
		return target{url: to}, err
	}
	if name, ok := strings.CutPrefix(raw, "api/"); ok {
		return p.readAPI(name)
	}
	if plain, err := url.PathUnescape(raw); err == nil && queue.ValidName(plain) {
		return target{group: plain}, nil
	}
	return target{}, errScheme
}

// withQuery appends a query to a URL, after the one that it has and before its fragment.
func withQuery(text, query string) string {
	if query == "" {
		return text
	}
	text, fragment, has := strings.Cut(text, "#")
	if strings.Contains(text, "?") {
		text += "&" + query
	} else {
		text += "?" + query
	}
	if has {
		text += "#" + fragment
	}
	return text
}

// repairURL reports whether a text is an http or https URL, and restores the slash that a proxy on the way has removed.
func repairURL(text string) (string, bool) {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	for _, scheme := range []string{"http:", "https:"} {
		if n := len(scheme); len(text) > n+1 && strings.EqualFold(text[:n], scheme) && isSlash(text[n]) {
			if !isSlash(text[n+1]) {
				return text[:n] + "//" + text[n+1:], true
			}
			return text, true
		}
	}
	return "", false
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func (p *Parser) readAPI(name string) (target, error) {
	u := p.APIs[name]
	if u == "" {
		return target{}, Invalid("api/%s is not configured: start the nodes with --api %s=URL", name, name)
	}
	return target{url: u, api: name}, nil
}

// ReadPlainURL reads the URL of any destination, without a query that follows it in a path. It judges the host, and returns
// the URL in the form in which it is stored.
func (p *Parser) ReadPlainURL(text string) (string, error) {
	u, err := httpurl.Read(text, idn.ToASCII)
	if err != nil {
		return "", Invalid("invalid destination url %q: %s", text, err)
	}
	return u.String(), p.checkHost(&u)
}

// checkHost refuses a scheme and a host that no delivery may reach.
func (p *Parser) checkHost(u *httpurl.URL) error {
	if p.HTTPSOnly && strings.EqualFold(u.Scheme, "http") {
		return Invalid("invalid destination url: it is http, and this cluster delivers to https:// only (--egress-https-only)")
	}
	if p.Allowed == nil {
		return nil
	}
	if err := p.Allowed(u.Hostname()); err != nil {
		return Invalid("invalid destination url: %s", err)
	}
	return nil
}
