package httpapi

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/node/audit"
)

// readHistory answers with the rates and latencies of this node's last hours, or with ?of=cluster with those of all nodes together.
func (s *Server) readHistory(g *gin.Context) {
	if s.history == nil {
		s.refuseOps(g, http.StatusNotFound, "ERR this node keeps no history")
		return
	}
	switch of := g.Query("of"); of {
	case "", "node":
		g.JSON(http.StatusOK, s.history.Read())
	case "cluster":
		g.JSON(http.StatusOK, s.admin.History(g.Request.Context()))
	default:
		s.refuseOps(g, http.StatusBadRequest, "ERR of is node or cluster, got "+strconv.Quote(of))
	}
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
