package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// selfAsked is the header of requests that a page sends by itself: they don't keep a session alive.
const selfAsked = "X-Console-Poll"

// forward lets the API answer a request of a session, as if it had come with the session's credential and without the
// console.
func (c *Console) forward(w http.ResponseWriter, r *http.Request, path, query string) {
	s, err := c.open(r)
	if err != nil {
		if err != errNoSession {
			w.Header().Set(endedHeader, err.Error())
		}
		refuse(w, http.StatusUnauthorized, err.Error())
		return
	}
	if now := c.o.Now(); r.Header.Get(selfAsked) == "" && now.Sub(time.UnixMilli(s.Used)) > renewAfter {
		s.Used = now.UnixMilli()
		if err := c.setCookie(w, r, s); err != nil {
			c.o.Log.Warn("a session of the console was not renewed", "error", err)
		}
	}
	if hasCredential(query) {
		refuse(w, http.StatusBadRequest, "requests of the console carry no token of their own")
		return
	}
	target := "/" + path
	if query != "" {
		target += "?" + query
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		refuse(w, http.StatusBadRequest, "this path can't be read")
		return
	}
	if _, served := c.cut(u.Path); served || strings.HasPrefix(u.Path, DefaultBase+"/") {
		refuse(w, http.StatusNotFound, "the console has nothing at this path")
		return
	}
	inner := r.Clone(context.WithValue(r.Context(), sessionKey{}, s.ID))
	inner.RequestURI, inner.URL = target, u
	for _, name := range [...]string{"Cookie", "Origin", "Referer", AskedBy, selfAsked} {
		inner.Header.Del(name)
	}
	inner.Header.Set("Authorization", "Bearer "+s.Token)
	w.Header().Set("Cache-Control", "no-store")
	c.o.API.ServeHTTP(w, inner)
}

// hasCredential reports whether a query names a token, which would win over the session's.
func hasCredential(query string) bool {
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || strings.EqualFold(name, "_token") || strings.EqualFold(name, "qstash_token") {
			return true
		}
	}
	return false
}
