package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/rdb"
)

// filePieceTimeout is the longest time that a client may take for one piece of a file, in either direction.
const filePieceTimeout = time.Minute

// backup answers with a backup of the state as it is now. A client knows by the file's own end that it has all of it;
// when writing fails, the connection ends without the end of the answer too.
func (s *Server) backup(g *gin.Context) {
	stale := g.Query("stale")
	if stale != "" && stale != "true" && stale != "false" {
		s.refuseOps(g, http.StatusBadRequest, "ERR stale is true or false")
		return
	}
	write, err := s.admin.Backup(g.Request.Context(), stale == "true")
	if err != nil {
		s.failOps(g, err, false)
		return
	}
	g.Header("Content-Disposition", `attachment; filename="trireme.backup"`)
	if err := sendFile(g, binaryType, write); err != nil {
		s.log.Warn("a backup was cut off", "error", err, "from", g.Request.RemoteAddr)
		panic(http.ErrAbortHandler)
	}
	s.log.Info("backup", "from", g.Request.RemoteAddr)
}

// sendFile answers with what write writes, with a deadline for each piece. After an error the caller breaks the
// connection off, so that the answer has no end.
func sendFile(g *gin.Context, mediaType []string, write func(io.Writer) error) error {
	h := g.Writer.Header()
	h["Content-Type"] = mediaType
	h.Set("Cache-Control", "no-store")
	control := http.NewResponseController(g.Writer)
	_ = control.SetReadDeadline(time.Time{}) // the request is read; an error here shows again when writing
	g.Status(http.StatusOK)
	return write(&deadlineIO{w: g.Writer, extend: control.SetWriteDeadline})
}

// takeFile has read take the body, whatever its size, with a deadline for each piece. cutOff says why the body ended early.
func takeFile(g *gin.Context, read func(io.Reader) error) (cutOff, err error) {
	control := http.NewResponseController(g.Writer)
	in := &deadlineIO{r: g.Request.Body, extend: control.SetReadDeadline}
	err = read(in)
	_ = control.SetWriteDeadline(time.Now().Add(filePieceTimeout)) // the answer has its full time, however long that took
	return in.failed, err
}

// restore takes a backup, whatever its size.
func (s *Server) restore(g *gin.Context) {
	var out fsm.Restoration
	cutOff, err := takeFile(g, func(in io.Reader) (err error) {
		out, err = s.admin.Restore(g.Request.Context(), in)
		return err
	})
	switch {
	case cutOff != nil:
		s.refuseOps(g, http.StatusBadRequest, "ERR the backup is incomplete: "+cutOff.Error())
	case err != nil:
		s.failRestore(g, err)
	default:
		s.log.Info("restored a backup", "index", out.Index, "from", g.Request.RemoteAddr)
		g.JSON(http.StatusOK, viewRestoration(out))
	}
}

// failRestore answers why a backup was not restored.
func (s *Server) failRestore(g *gin.Context, err error) {
	var refused *fsm.Error
	switch {
	case errors.Is(err, fsm.ErrBackup), errors.Is(err, fsm.ErrBackupNewer), errors.Is(err, fsm.ErrFormerLevel), errors.Is(err, fsm.ErrBackupLarge), errors.Is(err, fsm.ErrBadBackup):
		s.refuseOps(g, http.StatusBadRequest, "ERR "+err.Error())
	case errors.Is(err, fsm.ErrNotEmpty), errors.Is(err, fsm.ErrRestoring), errors.Is(err, fsm.ErrNotStaged):
		errors.As(err, &refused)
		s.refuseOps(g, http.StatusConflict, "ERR "+refused.Text)
	default:
		s.failOps(g, err, true)
	}
}

// restorationView is the answer of POST /admin/restore.
type restorationView struct {
	Index     uint64 `json:"index"`
	Epoch     uint64 `json:"epoch"`
	Databases int    `json:"databases"`
	Keys      int    `json:"keys"`
	Messages  int    `json:"messages"`
	Schedules int    `json:"schedules"`
	Runs      int    `json:"runs"`
}

func viewRestoration(n fsm.Restoration) restorationView {
	c := &n.Contents
	return restorationView{
		Index: n.Index, Epoch: n.Epoch, Databases: len(c.Databases), Keys: c.Keys(),
		Messages: c.Messages.Messages, Schedules: c.Messages.Schedules, Runs: c.Workflows.Runs,
	}
}

// deadlineIO reads or writes with a deadline for each piece, and remembers why reading failed.
type deadlineIO struct {
	r      io.Reader
	w      io.Writer
	extend func(time.Time) error
	failed error
}

// Read reads within filePieceTimeout.
func (di *deadlineIO) Read(b []byte) (int, error) {
	if err := di.extend(time.Now().Add(filePieceTimeout)); err != nil {
		return 0, fmt.Errorf("httpapi: set a deadline: %w", err)
	}
	n, err := di.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		di.failed = err
	}
	return n, err
}

// Write writes within filePieceTimeout.
func (di *deadlineIO) Write(b []byte) (int, error) {
	if err := di.extend(time.Now().Add(filePieceTimeout)); err != nil {
		return 0, fmt.Errorf("httpapi: set a deadline: %w", err)
	}
	return di.w.Write(b)
}

// exportMessages answers with the messages and runs of a database as they are now, lines of JSON. The last line tells a
// client that it has all of it.
func (s *Server) exportMessages(g *gin.Context) {
	write, err := s.admin.ExportMessages(g.Request.Context(), g.Param("name"))
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	if err := sendFile(g, linesType, write); err != nil {
		s.log.Warn("an export of messages was cut off", "error", err, "database", g.Param("name"), "from", g.Request.RemoteAddr)
		panic(http.ErrAbortHandler)
	}
	s.log.Info("export messages", "database", g.Param("name"), "from", g.Request.RemoteAddr)
}

// importMessages imports such lines, of any number.
func (s *Server) importMessages(g *gin.Context) {
	var out fsm.ImportedMessages
	cutOff, err := takeFile(g, func(in io.Reader) (err error) {
		out, err = s.admin.ImportMessages(g.Request.Context(), g.Param("name"), in)
		return err
	})
	switch {
	case cutOff != nil:
		s.refuseOps(g, http.StatusBadRequest, "ERR the file of messages is incomplete: "+cutOff.Error())
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
	g.Header("Content-Disposition", `attachment; filename="dump.rdb"`)
	g.Header("Trailer", exportTrailer)
	var out rdb.Written
	if err := sendFile(g, binaryType, func(w io.Writer) (err error) {
		out, err = write(w)
		return err
	}); err != nil {
		s.log.Warn("an export was cut off", "error", err, "database", g.Param("name"), "from", g.Request.RemoteAddr)
		panic(http.ErrAbortHandler)
	}
	text, _ := json.Marshal(exportView(out)) // numbers only
	g.Header(exportTrailer, string(text))
	s.log.Info("export", "database", g.Param("name"), "keys", out.Keys, "from", g.Request.RemoteAddr)
}
