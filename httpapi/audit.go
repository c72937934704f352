package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/node/audit"
)

// adminActs are the changes under /admin by method and route. What is asked there without
// a change is not recorded.
var adminActs = map[string]string{
	"POST /admin/cluster/transfer-leader":         "transfer leader",
	"DELETE /admin/cluster/nodes/:id":             "remove node",
	"POST /admin/cluster/nodes/:id/replace":       "replace node",
	"DELETE /admin/clients/:id":                   "kill client",
	"POST /admin/snapshot":                        "snapshot",
	"POST /admin/drain":                           "drain",
	"POST /admin/databases":                       "create database",
	"DELETE /admin/databases/:name":               "delete database",
	"POST /admin/databases/:name/settings":        "change settings of a database",
	"POST /admin/databases/:name/quarantine":      "quarantine",
	"DELETE /admin/databases/:name/quarantine":    "release from quarantine",
	"POST /admin/databases/:name/reset-password":  "reset tokens",
	"POST /admin/databases/:name/rotate-tokens":   "rotate tokens",
	"DELETE /admin/databases/:name/former-tokens": "end token overlap",
	"POST /admin/tokens/:name/rotate":             "rotate token",
	"DELETE /admin/tokens/:name/former":           "end token overlap",
	"POST /admin/settings":                        "change settings",
	"POST /admin/settings/messages":               "change settings of messages",
	"POST /admin/settings/workflows":              "change settings of workflows",
	"GET /admin/backup":                           "backup",
	"POST /admin/restore":                         "restore",
	"GET /admin/databases/:name/messages":         "export messages",
	"POST /admin/databases/:name/messages":        "import messages",
	"GET /admin/databases/:name/export":           "export",
}

// reasonKey is the name under which a handler leaves the text of its refusal.
const reasonKey = "audit.reason"

// audited records a change under /admin with what became of it. It goes before the check
// of the token: who was denied is recorded too.
func (s *Server) audited(g *gin.Context) {
	act, changes := adminActs[g.Request.Method+" "+g.FullPath()]
	if !changes || s.audit == nil {
		return
	}
	g.Next()
	r := audit.Record{
		Act: act, Target: audit.Text(g.Param("id") + g.Param("name")), Detail: g.GetString(detailKey), Who: "admin token",
		From: g.Request.RemoteAddr, Forwarded: forwarded(g.Request), Request: givenID(g.Request), Reason: audit.Text(g.GetString(reasonKey)),
		Session: console.SessionOf(g.Request.Context()),
	}
	if query := g.Request.URL.RawQuery; query == "force=true" {
		r.Detail = query
	}
	s.setOutcome(&r, g.Writer.Status(), g.Writer.Header())
	s.audit.Write(r)
}

// setOutcome says what became of an act, by the reply.
func (s *Server) setOutcome(r *audit.Record, status int, header http.Header) {
	switch {
	case status < http.StatusBadRequest:
		r.Outcome = audit.Done
	case status == http.StatusUnauthorized:
		r.Outcome, r.Who, r.Detail = audit.Refused, audit.Nobody, ""
	case status == http.StatusForbidden:
		r.Outcome, r.Who, r.Detail = audit.Refused, "another token", ""
	case status < http.StatusInternalServerError:
		r.Outcome = audit.Refused
	case header.Get(s.names.outcome[0]) == string(unknown):
		r.Outcome = audit.Unknown
	default:
		r.Outcome = audit.Failed
	}
}

// auditRotation rotates the signing keys and records it.
func (s *Server) auditRotation(w http.ResponseWriter, r *http.Request) {
	seen := &recorder{ResponseWriter: w, status: http.StatusOK}
	s.messages.ServeHTTP(seen, r)
	one := audit.Record{Act: "rotate signing keys", Who: "messages or admin token", From: r.RemoteAddr, Forwarded: forwarded(r), Request: givenID(r), Session: console.SessionOf(r.Context())}
	s.setOutcome(&one, seen.status, w.Header())
	s.audit.Write(one)
}

// forwarded is what a proxy says of whom it calls for.
func forwarded(r *http.Request) string { return audit.Text(r.Header.Get("X-Forwarded-For")) }

// caller is who gave the commands of a request.
func (c *call) caller() audit.Caller {
	return audit.Caller{As: c.as, From: c.r.RemoteAddr, Forwarded: forwarded(c.r), Request: givenID(c.r), Session: console.SessionOf(c.r.Context())}
}

// auditFailure records administrative commands of a request that failed as a whole.
func (c *call) auditFailure(f *failure) {
	if !c.s.audit.Wants(c.rows) {
		return
	}
	text := f.text
	if f.outcome == unknown {
		text = "UNKNOWN " + text
	}
	c.s.audit.Unanswered(c.caller(), c.rows, reply.Error(text))
}
