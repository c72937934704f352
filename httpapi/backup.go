package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	// backupPieceTimeout is the longest time that a client may take for one piece of a backup, in either direction.
	backupPieceTimeout = time.Minute
	// backupType is the media type of a backup.
	backupType = "application/octet-stream"
)

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
	h := g.Writer.Header()
	h.Set("Content-Type", backupType)
	h.Set("Content-Disposition", `attachment; filename="trireme.backup"`)
	h.Set("Cache-Control", "no-store")
	control := http.NewResponseController(g.Writer)
	_ = control.SetReadDeadline(time.Time{}) // the request is read; an error here shows again when writing
	g.Status(http.StatusOK)
	if err := write(&deadlineIO{w: g.Writer, extend: control.SetWriteDeadline}); err != nil {
		s.log.Warn("a backup was cut off", "error", err, "from", g.Request.RemoteAddr)
		panic(http.ErrAbortHandler)
	}
	s.log.Info("backup", "from", g.Request.RemoteAddr)
}

// restore takes a backup, whatever its size.
func (s *Server) restore(g *gin.Context) {
	control := http.NewResponseController(g.Writer)
	in := &deadlineIO{r: g.Request.Body, extend: control.SetReadDeadline}
	out, err := s.admin.Restore(g.Request.Context(), in)
	// The answer has its full time, however long the restore took.
	_ = control.SetWriteDeadline(time.Now().Add(backupPieceTimeout))
	switch {
	case in.failed != nil:
		s.refuseOps(g, http.StatusBadRequest, "ERR the backup is incomplete: "+in.failed.Error())
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

// Read reads within backupPieceTimeout.
func (di *deadlineIO) Read(b []byte) (int, error) {
	if err := di.extend(time.Now().Add(backupPieceTimeout)); err != nil {
		return 0, fmt.Errorf("httpapi: set a deadline: %w", err)
	}
	n, err := di.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		di.failed = err
	}
	return n, err
}

// Write writes within backupPieceTimeout.
func (di *deadlineIO) Write(b []byte) (int, error) {
	if err := di.extend(time.Now().Add(backupPieceTimeout)); err != nil {
		return 0, fmt.Errorf("httpapi: set a deadline: %w", err)
	}
	return di.w.Write(b)
}
