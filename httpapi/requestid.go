package httpapi

import (
	"crypto/rand"
	"net/http"
)

// requestIDHeader names a request in logs. It has no meaning for the store.
const requestIDHeader = "X-Request-Id"

// maxRequestID is the most bytes of an id that a client may give.
const maxRequestID = 128

// requestID is the id that the client gave, if it is fit to stand in a log line, or
// else a new one. Only a request that something is logged or said about needs it.
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
