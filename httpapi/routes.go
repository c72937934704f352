package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// route is a row of the table of routes: the requests that one chain of handlers answers. The OpenAPI descriptions have the same
// paths, and logs, spans and the audit log name requests by them.
type route struct {
	method string // empty for any
	// path is the pattern in gin's form; described are the paths of the description that it stands for, nil for path alone.
	path      string
	described []string
	// act is the act that the audit log records, empty if it records none.
	act   string
	serve gin.HandlersChain
}

// descriptions returns the paths of the OpenAPI description that the row answers.
func (r *route) descriptions() []string {
	if r.described != nil {
		return r.described
	}
	return (&messages.Route{Path: r.path}).Descriptions()
}

// routes returns the table. Requests that no row takes are commands, unless they are below one of the table's own roots.
func (s *Server) routes(registry *prometheus.Registry) []route {
	list := s.healthRoutes(registry)
	for _, one := range s.adminRoutes() {
		one.serve = append(gin.HandlersChain{s.audited(one.act, "admin token"), s.adminOnly, s.knownParameters}, one.serve...)
		list = append(list, one)
	}
	if s.messages != nil {
		rows := s.messages.Routes()
		for i := range rows {
			row := &rows[i]
			serve := gin.HandlersChain{s.audited(row.Act, "messages or admin token"), s.serveMessages(row)}
			list = append(list, route{row.Method, row.Pattern(), row.Descriptions(), row.Act, serve})
		}
	}
	if s.test != nil {
		list = append(list, route{path: "/test/*path", described: []string{}, serve: gin.HandlersChain{gin.WrapH(s.test)}})
	}
	return list
}

// healthRoutes returns the routes for those who watch the node.
func (s *Server) healthRoutes(registry *prometheus.Registry) (list []route) {
	metrics := gin.WrapH(promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		list = append(list,
			route{method: method, path: "/livez", serve: gin.HandlersChain{func(g *gin.Context) { g.String(http.StatusOK, "ok\n") }}},
			route{method: method, path: "/readyz", serve: gin.HandlersChain{s.readyz}},
			route{method: method, path: "/healthz", serve: gin.HandlersChain{s.unlessOpen, s.healthz}},
			route{method: method, path: "/metrics", serve: gin.HandlersChain{s.unlessOpen, metrics}},
		)
	}
	return list
}

// adminRoutes returns the routes under /admin. The audit log records requests that change something, and no others.
func (s *Server) adminRoutes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	row := func(method, path, act string, serve gin.HandlerFunc) route {
		return route{method: method, path: "/admin" + path, act: act, serve: gin.HandlersChain{serve}}
	}
	cluster, messages, workflows := s.clusterSettings(), s.messageSettings(), s.workflowSettings()
	list := []route{
		row(get, "/openapi.json", "", describe),
		row(get, "/audit", "", s.readAudit),
		row(get, "/clients", "", s.listClients),
		row(del, "/clients/:id", "kill client", s.killClient),
		row(get, "/databases", "", s.listDatabases),
		row(post, "/databases", "create database", s.createDatabase),
		row(del, "/databases/:name", "delete database", s.deleteDatabase),
		row(post, "/databases/:name/reset-password", "reset tokens", s.resetPassword),
		row(post, "/databases/:name/rotate-tokens", "rotate tokens", s.rotateDatabaseTokens),
		row(del, "/databases/:name/former-tokens", "end token overlap", s.endFormerTokens),
		row(get, "/databases/:name/settings", "", s.databaseSettings),
		row(post, "/databases/:name/settings", "change settings of a database", s.configureDatabase),
		row(get, "/tokens", "", s.listTokens),
		row(post, "/tokens/:name/rotate", "rotate token", s.rotateToken),
		row(del, "/tokens/:name/former", "end token overlap", s.endFormerToken),
		row(get, "/settings/messages", "", messages.answer),
		row(post, "/settings/messages", "change settings of messages", messages.configure),
		row(get, "/settings/workflows", "", workflows.answer),
		row(post, "/settings/workflows", "change settings of workflows", workflows.configure),
	}
	if s.admin == nil {
		return list
	}
	return append(list,
		row(get, "/settings", "", cluster.answer),
		row(post, "/settings", "change settings", cluster.configure),
		row(get, "/history", "", s.readHistory),
		row(get, "/cluster", "", s.cluster),
		row(post, "/cluster/transfer-leader", "transfer leader", s.transferLeader),
		row(del, "/cluster/nodes/:id", "remove node", s.removeNode),
		row(post, "/cluster/nodes/:id/replace", "replace node", s.replaceNode),
		row(post, "/snapshot", "snapshot", s.snapshot),
		row(post, "/drain", "drain", s.drain),
		row(get, "/doctor", "", func(g *gin.Context) { g.JSON(http.StatusOK, s.admin.Examine(g.Request.Context())) }),
		row(get, "/backup", "backup", s.backup),
		row(post, "/restore", "restore", s.restore),
		row(get, "/databases/:name/export", "export", s.export),
		row(get, "/databases/:name/messages", "export messages", s.exportMessages),
		row(post, "/databases/:name/messages", "import messages", s.importMessages),
		row(post, "/databases/:name/quarantine", "quarantine", s.quarantine),
		row(del, "/databases/:name/quarantine", "release from quarantine", s.release),
	)
}

// newRouter makes gin the router of the table. It never redirects: paths are arguments here. It fails if a base path of the
// console is also a path of the table.
func newRouter(s *Server, table []route) (e *gin.Engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("httpapi: paths exclude each other: %v", p)
		}
	}()
	gin.SetMode(gin.ReleaseMode)
	e = gin.New()
	e.RedirectTrailingSlash, e.RedirectFixedPath = false, false
	e.HandleMethodNotAllowed = true
	rows := e.Group("/", s.refuseForeign)
	for i := range table {
		if row := &table[i]; row.method == "" {
			rows.Any(row.path, row.serve...)
		} else {
			rows.Handle(row.method, row.path, row.serve...)
		}
	}
	if s.console != nil && !s.apart {
		serve := func(g *gin.Context) { s.console.ServeHTTP(g.Writer, g.Request) }
		for _, base := range s.console.Bases() {
			e.Any(base, serve)
			e.Any(base+"/*page", serve)
		}
	}
	e.NoRoute(s.unrouted)
	e.NoMethod(s.refuseForeign, func(g *gin.Context) {
		if s.messages != nil && isMessages(callOf(g).path) {
			g.Writer.Header().Del("Allow")
			s.serveMessages(s.messages.OtherMethod(g.Request.URL.Path))(g)
			return
		}
		s.refuseOps(g, http.StatusMethodNotAllowed, "ERR method not allowed")
	})
	return e, nil
}

// reservedRoots are the first segments of paths that are never commands, whether a row of the table takes them or not.
var reservedRoots = map[string]bool{"admin": true, "v2": true, "llm": true, "console": true, "db": true, "test": true}

// newRoots returns the first segments of the paths that the router answers. Without the API of tests, /test/x is a command.
func (s *Server) newRoots(table []route) map[string]bool {
	roots := maps.Clone(reservedRoots)
	delete(roots, "test")
	for i := range table {
		roots[firstSegment(table[i].path)] = true
	}
	if s.console != nil {
		for _, base := range s.console.Bases() {
			roots[firstSegment(base)] = true
		}
	}
	return roots
}

// firstSegment returns the first segment of a path, which begins with a slash.
func firstSegment(path string) string {
	first, _, _ := strings.Cut(path[1:], "/")
	return first
}

// isRouted reports whether the router answers a path. Below the path of a database it answers only the paths of messages.
func (s *Server) isRouted(path string, inDatabase bool) bool {
	if inDatabase {
		return s.messages != nil && isMessages(path)
	}
	first, _, _ := strings.Cut(path, "/")
	return s.roots[first]
}

// serveRouted lets the router answer, and records its answer.
func (c *call) serveRouted() {
	c.kind, c.answered = kindOps, true
	out, end := c.packs()
	w := &recorder{ResponseWriter: out, c: c, status: http.StatusOK}
	r := c.r
	if isMessages(c.path) && c.s.messages != nil {
		path := r.RequestURI
		if c.db == "" && path[0] == '/' { // most are, and cost no memory
			path = path[:1+len(c.path)]
		} else {
			path = "/" + c.path
		}
		c.routingURL.Path = messages.RoutingPath(path)
		c.routing = *r
		c.routing.URL = &c.routingURL
		r = &c.routing
	}
	c.s.router.ServeHTTP(w, r)
	end()
	c.status, c.sent = w.status, w.sent
}

// callOf returns the call that a handler of the router answers.
func callOf(g *gin.Context) *call {
	return g.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap().(*recorder).c
}

// unrouted answers requests that no row takes: commands, and paths below a root that is never a command.
func (s *Server) unrouted(g *gin.Context) {
	c := callOf(g)
	first := firstSegment("/" + c.path)
	if !reservedRoots[first] {
		g.Status(http.StatusOK) // gin's is 404
		c.answered, c.w = false, g.Writer
		c.command()
		return
	}
	if s.refuseForeign(g); g.IsAborted() {
		return
	}
	switch {
	case s.messages != nil && isMessages(c.path):
		s.serveMessages(messages.NoPath)(g)
	case s.console == nil && first == console.DefaultBase[1:]:
		s.refuseOps(g, http.StatusNotFound, s.noConsole())
	default:
		s.refuseOps(g, http.StatusNotFound, "ERR this version has nothing at this path")
	}
}
