package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm/rdb"
)

// exportTrailer is the trailer of an export, a JSON object that says what the file holds and what was left out. It is
// sent only after the whole file.
const exportTrailer = "Trireme-Export"

// exportView is the object in exportTrailer.
type exportView struct {
	Keys      int64 `json:"keys"`
	Functions int64 `json:"functions"`
	LeftOut   int64 `json:"leftOut"`
	Undated   int64 `json:"undated"`
	Bytes     int64 `json:"bytes"`
}

// redisTargets are the versions of Redis that an export can be written for.
var redisTargets = map[string]rdb.Target{"": {}, "7.0": {}, "7.4": {FieldDeadlines: true}}

// export answers with a database as an RDB file, as it is now. A client knows by the file's checksum and by the trailer
// that it has all of it; when writing fails, the connection ends without the end of the answer too.
func (s *Server) export(g *gin.Context) {
	target, known := redisTargets[g.Query("redis")]
	if !known {
		s.refuseOps(g, http.StatusBadRequest, "ERR redis is 7.0 or 7.4")
		return
	}
	if text := g.Query("modules"); text != "" {
		var err error
		if target.Modules, err = strconv.ParseBool(text); err != nil {
			s.refuseOps(g, http.StatusBadRequest, "ERR modules is true or false")
			return
		}
	}
	write, err := s.admin.Export(g.Request.Context(), g.Param("name"), target)
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	h := g.Writer.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="dump.rdb"`)
	h.Set("Cache-Control", "no-store")
	h.Set("Trailer", exportTrailer)
	control := http.NewResponseController(g.Writer)
	_ = control.SetReadDeadline(time.Time{}) // the request is read; an error here shows again when writing
	g.Status(http.StatusOK)
	out, err := write(&deadlineIO{w: g.Writer, extend: control.SetWriteDeadline})
	if err != nil {
		s.log.Warn("an export was cut off", "error", err, "database", g.Param("name"), "from", g.Request.RemoteAddr)
		panic(http.ErrAbortHandler)
	}
	text, _ := json.Marshal(exportView(out)) // numbers only
	h.Set(exportTrailer, string(text))
	s.log.Info("export", "database", g.Param("name"), "keys", out.Keys, "from", g.Request.RemoteAddr)
}
