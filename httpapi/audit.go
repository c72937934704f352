package httpapi

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/node/audit"
)

// reasonKey is the name under which a handler leaves the text of its refusal.
const reasonKey = "audit.reason"

// audited records an act with its outcome; who is the owner of the token that it needs. It runs before the token is checked, so
// that denied requests are recorded too.
func (s *Server) audited(act, who string) gin.HandlerFunc {
	return func(g *gin.Context) {
		if act == "" || s.audit == nil {
			return
		}
		g.Next()
		r := g.Request
		one := audit.Record{
			Act: act, Target: audit.Text(g.Param("id") + g.Param("name")), Detail: g.GetString(detailKey), Who: who,
			From: r.RemoteAddr, Forwarded: forwarded(r), Request: givenID(r), Reason: audit.Text(g.GetString(reasonKey)),
			Session: console.SessionOf(r.Context()),
		}
		if query := r.URL.RawQuery; query == "force=true" {
			one.Detail = query
		}
		s.setOutcome(&one, g.Writer.Status(), g.Writer.Header())
		s.audit.Write(one)
	}
}

// setOutcome sets the outcome of an act from its reply.
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

// forwarded returns the client that a proxy calls for, by its own account.
func forwarded(r *http.Request) string { return audit.Text(r.Header.Get("X-Forwarded-For")) }

// caller returns the sender of a request's commands, for the audit log.
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

// readAudit answers with the administrative acts that this node has recorded since it started, the newest first;
// ?count=N limits their number.
func (s *Server) readAudit(g *gin.Context) {
	count := audit.Recent
	if text, given := g.GetQuery("count"); given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > audit.Recent {
			s.refuseOps(g, http.StatusBadRequest, "ERR count is 1 to "+strconv.Itoa(audit.Recent))
			return
		}
		count = n
	}
	g.JSON(http.StatusOK, gin.H{"records": s.audit.Newest(count)})
}
