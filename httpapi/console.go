package httpapi

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/httpapi/console"
)

// newConsole makes the console over this server: the requests of its sessions come back here with their credentials.
func (s *Server) newConsole(o console.Options) (err error) {
	o.Engine, o.API, o.Audit, o.Log = s.engine, s, s.audit, s.log
	s.console, err = console.New(o)
	s.apart = o.Apart
	return err
}

// Console returns the console for a listener of its own; nil if there is none.
func (s *Server) Console() http.Handler {
	if s.console == nil {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.loopback && !isLoopback(r.Host) {
			s.answerError(w, http.StatusForbidden, "this development server answers loopback hosts only")
			return
		}
		if r.URL.Path == "/" {
			http.Redirect(w, r, s.console.Base()+"/", http.StatusFound)
			return
		}
		s.console.ServeHTTP(w, r)
	})
}

// noConsole says why there is no console at its path.
func (s *Server) noConsole() string {
	switch {
	case s.apart:
		return "ERR the console is served at another address of this node (--console-listen)"
	case !console.Available():
		return "ERR this build has no console (build tag noconsole)"
	}
	return "ERR the console of this node is disabled (--console=off)"
}

// wantsPage reports whether a browser has been sent to the root: all other callers have a token, or do not ask for a
// page.
func (c *call) wantsPage() bool {
	return c.path == "" && c.query == "" && c.db == "" && c.r.Method == http.MethodGet &&
		len(c.r.Header["Authorization"]) == 0 && strings.Contains(c.r.Header.Get("Accept"), "text/html")
}

// noConsolePage is the page at the root of a node without its console. It holds only what every client is told.
const noConsolePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Trireme</title>
<h1>Trireme is running</h1>
<p>You can't sign in here: %s.</p>
<p>Programs send their token in the header <code>Authorization: Bearer TOKEN</code>; <code>trireme --help</code> lists the
commands that do it. Whether this node is ready is at <a href="/readyz">/readyz</a>.</p>
</html>
`

// toConsole sends a browser to the console, or says why there is none.
func (c *call) toConsole() {
	c.kind = kindOps
	if c.s.console == nil || c.s.apart {
		c.w.Header()["Content-Security-Policy"] = []string{"default-src 'none'"}
		c.out = fmt.Appendf(c.out[:0], noConsolePage, strings.TrimPrefix(c.s.noConsole(), "ERR "))
		c.send(http.StatusOK, []string{"text/html; charset=utf-8"})
		return
	}
	c.w.Header()["Location"] = []string{c.s.console.Base() + "/"}
	c.out = c.out[:0]
	c.send(http.StatusFound, nil)
}
