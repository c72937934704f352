package httpapi

import (
	"crypto/rand"
	"net/http"
)

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
