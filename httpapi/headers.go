package httpapi

import (
	"crypto/rand"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// names holds the service headers under every prefix, in canonical form, so that they can be looked up in a header map
// directly.
type names struct {
	encoding, format, consistency, token []string // of requests; token also of replies
	retry                                []string // of requests
	outcome, index, clock, age, replayed []string // of replies
	exposed                              []string // the value of Access-Control-Expose-Headers
}

func newNames(prefixes []string) names {
	under := func(name string) []string {
		list := make([]string, len(prefixes))
		for i, p := range prefixes {
			list[i] = textproto.CanonicalMIMEHeaderKey(p + "-" + name)
		}
		return list
	}
	n := names{
		encoding: under("Encoding"), format: under("Response-Format"),
		consistency: under("Consistency"), token: under("Sync-Token"),
		outcome: under("Outcome"), index: under("Applied-Index"),
		clock: under("Cluster-Time"), age: under("Age-Ms"),
		retry: under("Request-Id"), replayed: under("Replayed"),
	}
	var all []string
	for _, list := range [][]string{n.token, n.outcome, n.index, n.clock, n.age, n.replayed} {
		all = append(all, list...)
	}
	n.exposed = []string{strings.Join(append(all, requestIDHeader), ", ")}
	return n
}

// get returns the first value of a header under any of its names, empty if there is none.
func get(h http.Header, names []string) string {
	for _, name := range names {
		if v := h[name]; len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

// set gives a header the same value under all its names.
func set(h http.Header, names []string, value string) {
	shared := []string{value}
	for _, name := range names {
		h[name] = shared
	}
}

// Values of headers that many replies share. They are never changed.
var (
	jsonType   = []string{"application/json"}
	binaryType = []string{"application/octet-stream"}
	linesType  = []string{"application/x-ndjson"}
	methods    = []string{"HEAD, GET, POST, PUT"}
	postOnly   = []string{"POST"}
	trueValue  = []string{"true"}
	varyOrigin = []string{"Origin"}
	oneSecond  = []string{"1"}
	closeValue = []string{"close"}
)

// setAgeHeaders says how old the state of a stale read may be: its place in the log, its
// cluster time in unix milliseconds, and how long ago in milliseconds this node last
// knew itself up to date.
func (c *call) setAgeHeaders() {
	h, n := c.w.Header(), &c.s.names
	set(h, n.index, strconv.FormatUint(c.at.Index, 10))
	set(h, n.clock, strconv.FormatInt(c.at.Now, 10))
	set(h, n.age, strconv.FormatInt(c.at.AgeMillis, 10))
}

// requestIDHeader names a request in logs. It has no meaning for the store.
const requestIDHeader = "X-Request-Id"

// maxRequestID is the most bytes of an id that a client may give.
const maxRequestID = 128

// requestID returns the id that the client gave, if it is fit for a log line, or else a new one. Only a request that is
// logged, or whose answer names it, needs an id.
func requestID(r *http.Request) string {
	if given := givenID(r); given != "" {
		return given
	}
	return rand.Text()
}

func givenID(r *http.Request) string {
	list := r.Header[requestIDHeader]
	if len(list) == 0 || len(list[0]) > maxRequestID {
		return ""
	}
	for i := range len(list[0]) {
		if c := list[0][i]; c <= ' ' || c > '~' {
			return ""
		}
	}
	return list[0]
}
