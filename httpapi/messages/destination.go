package messages

import (
	"net/url"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// target is where a message goes.
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
		if query != "" {
			text += "?" + query
		}
		return target{url: text}, p.checkURL(text)
	}
	if name, ok := strings.CutPrefix(raw, "api/"); ok {
		return p.readAPI(name)
	}
	if plain, err := url.PathUnescape(raw); err == nil && queue.ValidName(plain) {
		return target{group: plain}, nil
	}
	return target{}, errScheme
}

// repairURL reports whether a text is an http or https URL, and gives back the slash that
// a proxy on the way has taken.
func repairURL(text string) (string, bool) {
	for _, scheme := range []string{"http:/", "https:/"} {
		if len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			if text[len(scheme)] != '/' {
				return text[:len(scheme)] + "/" + text[len(scheme):], true
			}
			return text, true
		}
	}
	return "", false
}

func (p *Parser) readAPI(name string) (target, error) {
	u := p.APIs[name]
	if u == "" {
		return target{}, invalid("api/%s is not configured: start the nodes with --api %s=URL", name, name)
	}
	return target{url: u, api: name}, nil
}

// checkURL refuses what can't be asked whatever the network is.
func (p *Parser) checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return invalid("invalid destination url: %q has no host or can't be read", text)
	}
	if p.Allowed == nil {
		return nil
	}
	if err := p.Allowed(u.Hostname()); err != nil {
		return invalid("invalid destination url: %s", err)
	}
	return nil
}
