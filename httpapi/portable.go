package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// messagesType is the media type of lines of JSON.
const messagesType = "application/x-ndjson"

// exportMessages answers with the messages and runs of a database as they are now, lines of JSON. The last line tells a
// client that it has all of it.
func (s *Server) exportMessages(g *gin.Context) {
	write, err := s.admin.ExportMessages(g.Request.Context(), g.Param("name"))
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	h := g.Writer.Header()
	h.Set("Content-Type", messagesType)
	h.Set("Cache-Control", "no-store")
	control := http.NewResponseController(g.Writer)
	_ = control.SetReadDeadline(time.Time{}) // the request is read; an error here shows again when writing
	g.Status(http.StatusOK)
	if err := write(&deadlineIO{w: g.Writer, extend: control.SetWriteDeadline}); err != nil {
		s.log.Warn("an export of messages was cut off", "error", err, "database", g.Param("name"), "from", g.Request.RemoteAddr)
		panic(http.ErrAbortHandler)
	}
	s.log.Info("export messages", "database", g.Param("name"), "from", g.Request.RemoteAddr)
}

// importMessages imports such lines, of any number.
func (s *Server) importMessages(g *gin.Context) {
	control := http.NewResponseController(g.Writer)
	in := &deadlineIO{r: g.Request.Body, extend: control.SetReadDeadline}
	out, err := s.admin.ImportMessages(g.Request.Context(), g.Param("name"), in)
	_ = control.SetWriteDeadline(time.Now().Add(backupPieceTimeout)) // however long that took
	switch {
	case in.failed != nil:
		s.refuseOps(g, http.StatusBadRequest, "ERR the file of messages is incomplete: "+in.failed.Error())
	case err != nil:
		s.failDatabase(g, err)
	default:
		c, r := out.Messages, out.Workflows
		g.JSON(http.StatusOK, gin.H{
			"database": g.Param("name"), "messages": c.Messages, "deadLetters": c.Dead, "queues": c.Queues,
			"schedules": c.Schedules, "urlGroups": c.Groups, "flowControlKeys": c.FlowKeys, "runs": r.Runs,
		})
	}
}
