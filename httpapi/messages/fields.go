package messages

import (
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// fields are the service headers of a request: their values by name, in lower case and
// without the service's prefix.
type fields map[string][]string

// get returns the first value of a field without blanks around it, empty if there is none.
func (f fields) get(name string) string {
	if v := f[name]; len(v) > 0 {
		return strings.TrimSpace(v[0])
	}
	return ""
}

// refuseBlank refuses a directive, a callback or the id of a run that is given but consists of blanks, and an id that can't be
// sent. An empty value counts as none: HTTP itself cuts off blanks around the value of a header, so blank values occur only in
// items of a batch and in queries.
func (f fields) refuseBlank() error {
	for i := range queue.Directives {
		if name := queue.Directives[i].Name; f.isBlank(name) {
			return Invalid("invalid %s: %s", name, queue.BlankRule)
		}
	}
	for _, name := range [...]string{"callback", "failure-callback", runIDField} {
		if f.isBlank(name) {
			return Invalid("invalid %s: %s", name, queue.BlankRule)
		}
	}
	if !queue.FitsHeader(f.get(runIDField)) {
		return Invalid("invalid %s: %s", runIDField, queue.ControlRule)
	}
	return nil
}

// runIDField names a run. Its endpoint gets the id in a header.
const runIDField = "workflow-runid"

// isBlank reports whether a field's value consists of blanks, one at least.
func (f fields) isBlank(name string) bool {
	v := f[name]
	return len(v) > 0 && v[0] != "" && strings.TrimSpace(v[0]) == ""
}

// under returns the fields whose names begin with a prefix, without it; nil if there are none.
func (f fields) under(prefix string) fields {
	var out fields
	for name, values := range f {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			if out == nil {
				out = fields{}
			}
			out[rest] = values
		}
	}
	return out
}

// readFields takes the service headers out of a header. Where two prefixes name one field, the last prefix wins:
// existing clients send it.
func readFields(h http.Header, prefixes []string) fields {
	f := fields{}
	for _, prefix := range prefixes {
		for name, values := range h {
			if rest, ok := cutService(name, prefix); ok && len(values) > 0 {
				f[strings.ToLower(rest)] = values
			}
		}
	}
	return f
}

// cutService takes the service's prefix off a header's name, in any case of letters.
func cutService(name, prefix string) (rest string, own bool) {
	if len(name) <= len(prefix)+1 || name[len(prefix)] != '-' || !strings.EqualFold(name[:len(prefix)], prefix) {
		return "", false
	}
	return name[len(prefix)+1:], true
}

// TokenParameter is the query parameter that carries a token where headers can't be set.
const TokenParameter = "qstash_token"

// splitQuery separates the service's parameters of a query string from the destination's, which keep their order,
// encoding and blanks.
func splitQuery(query string, prefixes []string) (f fields, rest string) {
	f = fields{}
	if query == "" {
		return f, ""
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		name = strings.ToLower(unescape(name))
		if name == TokenParameter {
			continue
		}
		field, own := "", false
		for _, prefix := range prefixes {
			if field, own = strings.CutPrefix(name, strings.ToLower(prefix)+"-"); own {
				break
			}
		}
		if own && field != "" {
			f[field] = append(f[field], unescape(value))
		} else {
			kept = append(kept, part)
		}
	}
	return f, strings.Join(kept, "&")
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// over returns the fields of both; those of f win.
func (f fields) over(base fields) fields {
	for name, values := range base {
		if _, own := f[name]; !own {
			f[name] = values
		}
	}
	return f
}

// names returns the field names in order, so that equal requests read equally.
func (f fields) names() []string { return slices.Sorted(maps.Keys(f)) }

// canonical returns a header's name as it is stored and answered.
func canonical(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }
