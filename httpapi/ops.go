package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/node/samples"
)

// mayTest reports whether a request bears a token that may use the API under /test.
func (s *Server) mayTest(r *http.Request) bool {
	role, err := s.roleOf(r.Context(), r, "")
	return err == nil && (role == acl.Admin || role == acl.Messages)
}

// countedBody counts the bytes of a body that are read against the memory of all requests.
type countedBody struct {
	io.ReadCloser
	c *call
}

// Hold counts the memory of the values that are made from the body.
func (b *countedBody) Hold(n int64) error {
	if f := b.c.hold(n); f != nil {
		return f
	}
	return nil
}

// Of names the database that the request turned out to belong to.
func (b *countedBody) Of(db string) { b.c.owner = db }

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if f := b.c.hold(int64(n)); f != nil {
		return n, f
	}
	return n, err
}

// recorder remembers the status and size of a reply that handlers of the router write.
type recorder struct {
	http.ResponseWriter
	c            *call
	status, sent int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	r.sent += n
	return n, err
}

// Flush sends what was written, as far as the connection can.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// refuseOps answers an error in the form of the gateway's.
func (s *Server) refuseOps(g *gin.Context, status int, text string) {
	g.Set(reasonKey, text)
	set(g.Writer.Header(), s.names.outcome, string(notApplied))
	g.AbortWithStatusJSON(status, gin.H{"error": text})
}

func (s *Server) failOps(g *gin.Context, err error, wrote bool) {
	var explained *AdminError
	if errors.As(err, &explained) {
		s.refuseOps(g, explained.Status, explained.Text)
		return
	}
	f := failureOf(err, wrote)
	if f.status >= http.StatusInternalServerError {
		id := requestID(g.Request)
		g.Writer.Header()[requestIDHeader] = []string{id}
		s.log.Warn("request failed", "id", id, "method", g.Request.Method, "route", g.FullPath(), "err", err)
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
		s.failOps(g, err, false)
	case role == acl.NoRole:
		s.failOps(g, errToken, false)
	case role != acl.Admin:
		s.refuseOps(g, http.StatusForbidden, "NOPERM this needs the admin token")
	}
}

// unlessOpen does what adminOnly does, unless the listener is on loopback and the request was made there, or the
// operator has opened these paths to everybody.
func (s *Server) unlessOpen(g *gin.Context) {
	if !s.metricsPublic && (!s.metricsLocal || isForwarded(g.Request)) {
		s.adminOnly(g)
	}
}

// forwardingHeaders are the headers that proxies add: a request with one of them comes from elsewhere, whatever the
// address of its connection.
var forwardingHeaders = []string{
	"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "X-Real-Ip",
	"X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "X-Original-Forwarded-For",
}

// isForwarded reports whether a proxy has passed the request on, or the request does not come
// from this machine at all.
func isForwarded(r *http.Request) bool {
	for _, name := range forwardingHeaders {
		if _, given := r.Header[name]; given {
			return true
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	addr, unreadable := netip.ParseAddr(host)
	return err != nil || unreadable != nil || !addr.Unmap().IsLoopback() || !isLoopback(r.Host)
}

func (s *Server) readyz(g *gin.Context) {
	status, text := http.StatusOK, "ok\n"
	if err := s.engine.Ready(); err != nil {
		status, text = http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n"
	} else if s.engine.Accepting() != nil { // how much is free is not for everybody
		text += "reads only: free disk space is below the floor (--min-free-disk), writes are refused\n"
	}
	if since := s.engine.SlowDiskSince(); !since.IsZero() { // it may be why the node has not caught up
		text += "slow disk: since " + since.UTC().Format(time.RFC3339) + "\n"
	}
	if difference, _, _ := s.timeDifference(); difference != "" {
		text += "time: " + difference + "\n"
	}
	g.String(status, "%s", text)
}

// timeDifference says by how much cluster time and the wall clocks of a majority differ, and since when; "" up to a second.
func (s *Server) timeDifference() (text string, ahead time.Duration, since time.Time) {
	ahead, lasts := s.engine.TimeDifference()
	if ahead == 0 {
		return "", 0, time.Time{}
	}
	where := "ahead of"
	if ahead < 0 {
		where = "behind"
	}
	since = time.Now().Add(-lasts)
	return fmt.Sprintf("cluster time is %v %s the wall clocks of a majority since %s",
		ahead.Abs().Round(100*time.Millisecond), where, since.UTC().Format(time.RFC3339)), ahead, since
}

func (s *Server) healthz(g *gin.Context) {
	status, health := http.StatusOK, gin.H{"live": true, "ready": true, "writes": true}
	if err := s.engine.Ready(); err != nil {
		status, health = http.StatusServiceUnavailable, gin.H{"live": true, "ready": false, "writes": false, "reason": err.Error()}
	} else if err := s.engine.Accepting(); err != nil {
		health["writes"], health["reason"] = false, err.Error()
	}
	if since := s.engine.SlowDiskSince(); !since.IsZero() {
		health["slowDiskSince"] = since.UnixMilli()
	}
	if _, ahead, since := s.timeDifference(); ahead != 0 {
		health["timeAheadMs"], health["timeDiffersSince"] = ahead.Milliseconds(), since.UnixMilli()
	}
	g.JSON(status, health)
}

func (s *Server) cluster(g *gin.Context) {
	status, err := s.admin.Cluster(g.Request.Context())
	s.respond(g, status, err)
}

func (s *Server) snapshot(g *gin.Context) {
	status, err := s.admin.Snapshot(g.Request.Context())
	s.respond(g, status, err)
}

// drain makes clients leave this node before it is stopped, and answers when the time for that is over.
func (s *Server) drain(g *gin.Context) {
	err := s.admin.Drain(g.Request.Context())
	s.respond(g, gin.H{"result": "OK"}, err)
}

func (s *Server) transferLeader(g *gin.Context) {
	var asked struct {
		To string `json:"to"`
	}
	if !s.accept(g, &asked) {
		return
	}
	err := s.admin.TransferLeader(g.Request.Context(), asked.To)
	s.respond(g, gin.H{"result": "OK"}, err)
}

// removeNode takes a node out of the cluster; ?force=true does it below three voters.
func (s *Server) removeNode(g *gin.Context) {
	force := g.Query("force")
	if force != "" && force != "true" && force != "false" {
		s.refuseOps(g, http.StatusBadRequest, "ERR force is true or false")
		return
	}
	gone, err := s.admin.RemoveNode(g.Request.Context(), g.Param("id"), force == "true")
	s.respond(g, gin.H{"result": removalResult(gone)}, err)
}

// replaceNode gives the place of one node to another.
func (s *Server) replaceNode(g *gin.Context) {
	var asked struct {
		With string `json:"with"`
	}
	if !s.accept(g, &asked) {
		return
	}
	if asked.With == "" {
		s.refuseOps(g, http.StatusBadRequest, `ERR "with" names the node that takes the other's place`)
		return
	}
	gone, err := s.admin.ReplaceNode(g.Request.Context(), g.Param("id"), asked.With)
	s.respond(g, gin.H{"result": removalResult(gone)}, err)
}

// removalResult reports whether a node is gone, or about to go.
func removalResult(gone bool) string {
	if gone {
		return "OK"
	}
	return "leaving"
}

// respond answers v, or the error if there is one.
func (s *Server) respond(g *gin.Context, v any, err error) {
	if err != nil {
		s.failOps(g, err, false)
		return
	}
	g.JSON(http.StatusOK, v)
}

// readHistory answers with the rates and latencies of this node's last hours or days, or with ?of=cluster with those of all nodes together,
// or of the one that ?node= names.
func (s *Server) readHistory(g *gin.Context) {
	if s.history == nil {
		s.refuseOps(g, http.StatusNotFound, "ERR this node keeps no history")
		return
	}
	span, err := samples.ParseRange(g.Query("range"))
	if err != nil {
		s.refuseOps(g, http.StatusBadRequest, "ERR "+err.Error())
		return
	}
	by, given := g.GetQuery("by")
	if given && by != "database" {
		s.refuseOps(g, http.StatusBadRequest, "ERR by is database, got "+strconv.Quote(by))
		return
	}
	asked := samples.Question{Range: span, Databases: given}
	switch of := g.Query("of"); of {
	case "", "node":
		g.JSON(http.StatusOK, s.history.Read(asked))
	case "cluster":
		node := g.Query("node")
		h := s.admin.History(g.Request.Context(), asked, node)
		if node != "" && len(h.Nodes)+len(h.Missing) == 0 {
			s.refuseOps(g, http.StatusNotFound, "ERR the cluster has no node "+strconv.Quote(node))
			return
		}
		g.JSON(http.StatusOK, h)
	default:
		s.refuseOps(g, http.StatusBadRequest, "ERR of is node or cluster, got "+strconv.Quote(of))
	}
}
