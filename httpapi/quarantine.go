package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
)

// quarantine makes the cluster go on without a database, beginning with the entry before which its nodes wait.
func (s *Server) quarantine(g *gin.Context) {
	order, err := s.admin.Quarantine(g.Request.Context(), g.Param("name"))
	if err != nil {
		s.failOps(g, err, true)
		return
	}
	s.log.Warn(fsm.Quarantine.Name, "database", order.Database, "index", order.Index, "from", g.Request.RemoteAddr)
	g.JSON(http.StatusOK, gin.H{"database": order.Database, "index": order.Index})
}

// release ends the quarantine of a database.
func (s *Server) release(g *gin.Context) {
	info, err := fsm.Do(g.Request.Context(), s.engine, fsm.Release, fsm.DatabaseName{Name: g.Param("name")})
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	s.log.Warn(fsm.Release.Name, "database", info.Name, "from", g.Request.RemoteAddr)
	g.JSON(http.StatusOK, viewDatabase(info))
}
