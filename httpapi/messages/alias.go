package messages

import (
	"net/http"
	"strings"
)

// aliases are requests that the reference's documents or its tools make in another form than its clients. Each is served
// as what it stands for, by the rules of that: who may, what is recorded, and what an unknown outcome is.
var aliases = []struct {
	method, path string // path without /v2/; {id} is any one segment
	asMethod     string
	as           string
}{
	{http.MethodGet, "keys/rotate", http.MethodPost, "keys/rotate"},
	{http.MethodDelete, "workflows/dlq/delete/{id}", http.MethodDelete, "workflows/dlq/{id}"},
}

// errQueryToken refuses a GET that changes something to a token in the address: browsers and proxies open addresses again.
var errQueryToken = &Error{http.StatusForbidden, "a GET that changes something needs the token in the Authorization header: send it there, or use POST"}

// resolve turns an alias into the request that it stands for. changes reports whether a GET became one that changes
// something.
func (q *request) resolve() (changes bool) {
	if q.root != "v2" || q.r.Method != http.MethodGet && q.r.Method != http.MethodDelete {
		return false
	}
	path := strings.Trim(q.path, "/")
	for _, a := range aliases {
		id, ok := matchAlias(path, a.path)
		if !ok || q.r.Method != a.method {
			continue
		}
		if a.asMethod != a.method {
			q.r = q.r.WithContext(q.r.Context()) // a copy
			q.r.Method = a.asMethod
		}
		q.path = strings.Replace(a.as, "{id}", id, 1)
		return a.asMethod != a.method
	}
	return false
}

// matchAlias reports whether a path has a form, and returns its id.
func matchAlias(path, form string) (id string, ok bool) {
	if strings.Count(path, "/") != strings.Count(form, "/") {
		return "", false
	}
	for want := range strings.SplitSeq(form, "/") {
		var have string
		have, path, _ = strings.Cut(path, "/")
		switch {
		case want == "{id}" && have != "":
			id = have
		case !strings.EqualFold(want, have):
			return "", false
		}
	}
	return id, true
}

// RotatesKeys reports whether a request asks for the rotation of signing keys, of any database.
func RotatesKeys(method, path string) bool {
	if rest, in := strings.CutPrefix(strings.TrimPrefix(path, "/"), "db/"); in {
		_, path, _ = strings.Cut(rest, "/")
	}
	return (method == http.MethodPost || method == http.MethodGet) && strings.EqualFold(strings.Trim(path, "/"), "v2/keys/rotate")
}
