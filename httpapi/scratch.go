package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/node/audit"
)

// createScratch makes a database for the fork of a run, with the keys that rows restore. If that fails there is no such database.
func (s *Server) createScratch(r *http.Request, name string, rows [][][]byte) (made messages.Scratch, err error) {
	ctx := r.Context()
	v, err := s.newDatabase(ctx, fsm.CreateDatabase, name)
	if err != nil {
		return made, scratchError(err)
	}
	s.log.Info(fsm.CreateDatabase.Name, "database", v.Name, "from", r.RemoteAddr)
	s.auditScratch(r, v.Name)
	made = messages.Scratch{Name: v.Name, Path: v.Path, Token: v.Token, ReadOnlyToken: v.ReadOnlyToken}
	var number uint64
	if _, err = s.engine.Read(ctx, fsm.Reading{}, func(v *fsm.View) { number = v.Database(name) }); err == nil {
		err = s.restoreInto(ctx, name, rows)
	}
	if err != nil {
		return made, errors.Join(err, s.dropScratch(ctx, name))
	}
	made.Log = fsm.InTenant(s.engine, name, number)
	return made, nil
}

func (s *Server) auditScratch(r *http.Request, name string) {
	if s.audit == nil {
		return
	}
	s.audit.Write(audit.Record{
		Act: fsm.CreateDatabase.Name, Target: audit.Text(name), Detail: "for the fork of a run", Who: "admin token", From: r.RemoteAddr, Forwarded: forwarded(r),
		Request: givenID(r), Session: console.SessionOf(r.Context()), Outcome: audit.Done,
	})
}

// restoreInto runs rows that restore keys, all of them or none.
func (s *Server) restoreInto(ctx context.Context, database string, rows [][][]byte) error {
	if len(rows) == 0 {
		return nil
	}
	as := acl.Identity{DB: database, By: acl.ByProcess, User: acl.DefaultName}
	out, err := fsm.Execute(ctx, s.engine, fsm.Batch{As: as, Origin: command.OriginHTTP, Mode: fsm.Transaction, Rows: rows})
	if err != nil {
		return err
	}
	for _, v := range out.Values {
		if v.IsError() {
			return messages.Invalid("the keys can't be restored: %s", v.Text())
		}
	}
	return nil
}

// dropScratch deletes such a database, also if the request is over.
func (s *Server) dropScratch(ctx context.Context, name string) error {
	_, err := fsm.Do(context.WithoutCancel(ctx), s.engine, fsm.DeleteDatabase, fsm.DatabaseName{Name: name})
	if err != nil {
		return fmt.Errorf("the database %q was made and is still there: %w", name, err)
	}
	return nil
}

// scratchError is the answer of /v2 to a refusal of an operation on databases.
func scratchError(err error) error {
	var refused *fsm.Error
	for _, one := range databaseStatus {
		if errors.Is(err, one.err) && errors.As(err, &refused) {
			return &messages.Error{Status: one.status, Text: strings.TrimPrefix(refused.Text, "ERR ")}
		}
	}
	return err
}
