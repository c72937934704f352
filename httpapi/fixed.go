package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/httpapi/redis"
)

// isFixed tells whether a path is none of the keyspace's.
func isFixed(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	switch first {
	case "livez", "readyz", "healthz", "metrics":
		return path == first
	case "admin", "v2", "llm", "console", "db":
		return true
	}
	return false
}

// serveFixed hands a request to gin and takes note of its answer.
func (c *call) serveFixed() {
	c.kind = kindFixed
	w := &recorder{ResponseWriter: c.w, status: http.StatusOK}
	c.answered = true
	if path, _ := redis.CutTarget(c.r.RequestURI); c.s.messages != nil && isMessages(path) {
		c.s.serveMessages(w, c.r)
	} else {
		c.s.fixed.ServeHTTP(w, c.r)
	}
	c.status, c.sent = w.status, w.sent
}

// recorder remembers the status and size of a reply.
type recorder struct {
	http.ResponseWriter
	status, sent int
}

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.sent += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// fixedRoutes are the paths that are not commands. gin never redirects here.
func (s *Server) fixedRoutes(registry *prometheus.Registry) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.RedirectTrailingSlash, e.RedirectFixedPath = false, false
	e.HandleMethodNotAllowed = true
	e.NoRoute(func(g *gin.Context) {
		s.refuseFixed(g, http.StatusNotFound, "ERR this version has nothing at this path")
	})
	e.NoMethod(func(g *gin.Context) { s.refuseFixed(g, http.StatusMethodNotAllowed, "ERR method not allowed") })
	read := []string{http.MethodGet, http.MethodHead}
	e.Match(read, "/livez", func(g *gin.Context) { g.String(http.StatusOK, "ok\n") })
	e.Match(read, "/readyz", s.readyz)
	private := e.Group("/", s.unlessOpen)
	private.Match(read, "/healthz", s.healthz)
	private.Match(read, "/metrics", gin.WrapH(promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})))
	admin := e.Group("/admin", s.audited, s.adminOnly)
	admin.GET("/openapi.json", describe)
	s.databaseRoutes(admin)
	s.settingsRoutes(admin)
	if s.admin != nil {
		s.adminRoutes(admin)
	}
	return e
}

func (s *Server) adminRoutes(g *gin.RouterGroup) {
	g.GET("/cluster", s.cluster)
	g.POST("/cluster/transfer-leader", s.transferLeader)
	g.DELETE("/cluster/nodes/:id", s.removeNode)
	g.POST("/cluster/nodes/:id/replace", s.replaceNode)
	g.POST("/snapshot", s.snapshot)
	g.GET("/doctor", func(g *gin.Context) { g.JSON(http.StatusOK, s.admin.Examine(g.Request.Context())) })
	g.GET("/backup", s.backup)
	g.POST("/restore", s.restore)
}

// refuseFixed answers an error in the form of the gateway's.
func (s *Server) refuseFixed(g *gin.Context, status int, text string) {
	g.Set(reasonKey, text)
	set(g.Writer.Header(), s.names.outcome, string(notApplied))
	g.AbortWithStatusJSON(status, gin.H{"error": text})
}

func (s *Server) fail(g *gin.Context, err error, wrote bool) {
	var explained *AdminError
	if errors.As(err, &explained) {
		s.refuseFixed(g, explained.Status, explained.Text)
		return
	}
	f := failureOf(err, wrote)
	if f.status >= http.StatusInternalServerError {
		id := requestID(g.Request)
		g.Writer.Header()[requestIDHeader] = []string{id}
		s.log.Warn("request failed", "id", id, "path", g.Request.URL.Path, "err", err)
	}
	set(g.Writer.Header(), s.names.outcome, string(f.outcome))
	g.Set(reasonKey, f.text)
	g.AbortWithStatusJSON(f.status, gin.H{"error": f.text})
}

// adminOnly lets the admin token through.
func (s *Server) adminOnly(g *gin.Context) {
	role, err := s.roleOf(g.Request.Context(), g.Request, g.Request.URL.RawQuery)
	switch {
	case err != nil:
		s.fail(g, err, false)
	case role == acl.NoRole:
		s.fail(g, errToken, false)
	case role != acl.Admin:
		s.refuseFixed(g, http.StatusForbidden, "NOPERM this needs the admin token")
	}
}

// unlessOpen is adminOnly where the listener can be reached from elsewhere.
func (s *Server) unlessOpen(g *gin.Context) {
	if !s.open {
		s.adminOnly(g)
	}
}

func (s *Server) readyz(g *gin.Context) {
	if err := s.engine.Ready(); err != nil {
		g.String(http.StatusServiceUnavailable, "not ready: %s\n", err)
		return
	}
	g.String(http.StatusOK, "ok\n")
}

func (s *Server) healthz(g *gin.Context) {
	if err := s.engine.Ready(); err != nil {
		g.JSON(http.StatusServiceUnavailable, gin.H{"live": true, "ready": false, "reason": err.Error()})
		return
	}
	g.JSON(http.StatusOK, gin.H{"live": true, "ready": true})
}

func (s *Server) cluster(g *gin.Context) {
	status, err := s.admin.Cluster(g.Request.Context())
	s.tell(g, status, err)
}

func (s *Server) snapshot(g *gin.Context) {
	status, err := s.admin.Snapshot(g.Request.Context())
	s.tell(g, status, err)
}

func (s *Server) transferLeader(g *gin.Context) {
	var asked struct {
		To string `json:"to"`
	}
	if !s.accept(g, &asked) {
		return
	}
	err := s.admin.TransferLeader(g.Request.Context(), asked.To)
	s.tell(g, gin.H{"result": "OK"}, err)
}

// removeNode takes a node out of the cluster; ?force=true does it below three voters.
func (s *Server) removeNode(g *gin.Context) {
	force := g.Query("force")
	if force != "" && force != "true" && force != "false" {
		s.refuseFixed(g, http.StatusBadRequest, "ERR force is true or false")
		return
	}
	gone, err := s.admin.RemoveNode(g.Request.Context(), g.Param("id"), force == "true")
	s.tell(g, gin.H{"result": departure(gone)}, err)
}

// replaceNode has one node take another's place.
func (s *Server) replaceNode(g *gin.Context) {
	var asked struct {
		With string `json:"with"`
	}
	if !s.accept(g, &asked) {
		return
	}
	if asked.With == "" {
		s.refuseFixed(g, http.StatusBadRequest, `ERR "with" names the node that takes the other's place`)
		return
	}
	gone, err := s.admin.ReplaceNode(g.Request.Context(), g.Param("id"), asked.With)
	s.tell(g, gin.H{"result": departure(gone)}, err)
}

// departure says whether a node is gone, or about to go.
func departure(gone bool) string {
	if gone {
		return "OK"
	}
	return "leaving"
}

// tell answers v, or the error if there is one.
func (s *Server) tell(g *gin.Context, v any, err error) {
	if err != nil {
		s.fail(g, err, false)
		return
	}
	g.JSON(http.StatusOK, v)
}

// maxAdminBody is the most bytes of a body under /admin.
const maxAdminBody = 64 << 10

// accept reads a JSON object; an empty body is an empty object.
func (s *Server) accept(g *gin.Context, v any) bool {
	d := json.NewDecoder(http.MaxBytesReader(g.Writer, g.Request.Body, maxAdminBody))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil && !errors.Is(err, io.EOF) {
		s.refuseFixed(g, http.StatusBadRequest, "ERR "+err.Error())
		return false
	}
	return true
}

// limits are fsm.Settings as /admin/settings shows them; 0 is none.
type limits struct {
	MaxMemory         int64 `json:"maxMemory"`
	DailyRequestLimit int64 `json:"dailyRequestLimit"`
	MaxKeySize        int64 `json:"maxKeySize"`
	MaxRecordSize     int64 `json:"maxRecordSize"`
	MaxPending        int64 `json:"maxPending"`
}

func limitsOf(s fsm.Settings) limits {
	return limits{s.MaxMemory, s.DailyLimit, s.MaxKey, s.MaxRecord, s.MaxPending}
}

func (l limits) settings() fsm.Settings {
	return fsm.Settings{MaxMemory: l.MaxMemory, DailyLimit: l.DailyRequestLimit, Limits: command.Limits{MaxKey: l.MaxKeySize, MaxRecord: l.MaxRecordSize, MaxPending: l.MaxPending}}
}

func (s *Server) settings(g *gin.Context) {
	now, err := s.limits(g)
	s.tell(g, now, err)
}

func (s *Server) limits(g *gin.Context) (l limits, err error) {
	_, err = s.engine.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) {
		l = limitsOf(v.Settings())
	})
	return l, err
}

// configure changes the limits named in the body and leaves the others. Of two changes
// at the same moment the later one may undo the earlier: an operator's call.
func (s *Server) configure(g *gin.Context) {
	l, err := s.limits(g)
	if err != nil {
		s.fail(g, err, false)
		return
	}
	if !s.accept(g, &l) {
		return
	}
	if min(l.MaxMemory, l.DailyRequestLimit, l.MaxKeySize, l.MaxRecordSize, l.MaxPending) < 0 {
		s.refuseFixed(g, http.StatusBadRequest, "ERR a limit can't be negative, 0 is none")
		return
	}
	now, err := fsm.Do(g.Request.Context(), s.engine, fsm.Configure, l.settings())
	if err != nil {
		s.fail(g, err, true)
		return
	}
	g.JSON(http.StatusOK, limitsOf(now))
}
