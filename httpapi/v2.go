package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/workflows"
	"github.com/trireme-dev/trireme/node/quota"
)

// maxBatch is the most bytes of a batch of messages. The size of each message is checked separately.
const maxBatch = 100 << 20

// isMessages reports whether a path is one of the API of messages.
func isMessages(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == "v2" || first == "llm"
}

// newMessages makes the API of messages over this server's engine.
func (s *Server) newMessages(p *messages.Parser, ask messages.Provider) *messages.API {
	reads := *p
	reads.Level = func() (level env.Level) {
		s.engine.Local(func(v *fsm.View) { level = v.Level() })
		return level
	}
	m := messages.New(messages.Options{
		Engine: s.engine, Parser: reads, Ask: ask, Access: s.messagesAccess, ActAs: s.actAs, NewScratch: s.createScratch, DropScratch: s.dropScratch, Fail: s.failMessages, MaxBody: s.maxBody, MaxBatch: max(maxBatch, s.maxBody),
	})
	workflows.Mount(m)
	return m
}

// serveMessages answers requests that a row of the API of messages takes.
func (s *Server) serveMessages(row *messages.Route) gin.HandlerFunc {
	return func(g *gin.Context) {
		c := callOf(g)
		if c.r.Body != nil && c.r.Body != http.NoBody { // which is read as a whole there
			c.r.Body = &countedBody{c.r.Body, c}
		}
		s.messages.Serve(row, g.Writer, c.r, c.target())
	}
}

// target returns the request's target for the API of messages.
func (c *call) target() messages.Target {
	return messages.Target{DB: c.db, Path: c.path, Query: c.query}
}

// refuseForeign refuses, in development, requests of another site's page, whether they need a token or not.
func (s *Server) refuseForeign(g *gin.Context) {
	if s.loopback && foreignOrigin(g.Request) {
		s.answerError(g.Writer, http.StatusForbidden, "this development server answers pages of loopback hosts only")
		g.Abort()
	}
}

// foreignOrigin reports whether the request comes from a page of another host than this machine. Without an Origin header
// Sec-Fetch-Site tells.
func foreignOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") == "cross-site"
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !isLoopback(u.Host)
}

// messagesAccess returns the access of a token, as this node knows it. A token that opens nothing here is looked up
// again in a state that holds everything acknowledged so far.
func (s *Server) messagesAccess(ctx context.Context, db, token string) (a messages.Access, err error) {
	bearer := acl.ParseBearer([]byte(token))
	var limits fsm.Quota
	look := func(v *fsm.View) {
		a = accessOf(v, db, &bearer)
		limits, _ = v.Quota(a.DB)
	}
	if s.engine.Local(look); a.Role == acl.NoRole {
		_, err = s.engine.Read(ctx, fsm.Reading{}, look)
	}
	if a.Role == acl.NoRole {
		return a, err
	}
	loggedIn(ctx)
	return a, s.meter.Rate(limits)
}

// accessOf returns the access of a token to a database; an empty name leaves the database to the token. The messages of
// default have tokens of their own; those of any other database are open to its Standard token, to its Read Only token
// for reading, and to tokens of its users as far as MSG.PUBLISH and MSG.GET are open to them.
func accessOf(v *fsm.View, db string, token *acl.Bearer) messages.Access {
	role, named := v.RoleOf(token), db != ""
	if db == fsm.DefaultDB {
		db = ""
	}
	switch {
	case role == acl.Admin && v.Database(db) != 0, (role == acl.Messages || role == acl.MessagesReadOnly) && db == "":
		return messages.Access{Role: role, DB: db, Number: v.Database(db)}
	case named && db == "":
		return messages.Access{}
	}
	as := v.Bearer(db, token)
	if !named {
		as = v.LoginBearer(token)
	}
	if as.DB == "" || as.By == acl.ByAdmin {
		return messages.Access{}
	}
	return messages.Access{Role: roleIn(v, as), DB: as.DB, Number: v.Database(as.DB)}
}

// publishRow and getRow are commands by whose rights the API is open to a user.
var (
	publishRow = [][]byte{[]byte("MSG.PUBLISH"), []byte("http://localhost"), {}}
	getRow     = [][]byte{[]byte("MSG.GET"), []byte("msg_")}
)

// roleIn returns the role of an identity in its database.
func roleIn(v *fsm.View, as acl.Identity) acl.Role {
	if as.User == acl.ReadOnlyName {
		return acl.MessagesReadOnly
	}
	if _, refusal := v.Check(as, command.OriginHTTP, publishRow); refusal == nil {
		return acl.Messages
	}
	if _, refusal := v.Check(as, command.OriginHTTP, getRow); refusal == nil {
		return acl.MessagesReadOnly
	}
	return acl.NoRole
}

// actAs returns nil if the owner of a token may have answers act for a user of a database.
func (s *Server) actAs(ctx context.Context, db, token, user string) (err error) {
	bearer := acl.ParseBearer([]byte(token))
	_, failed := s.engine.Read(ctx, fsm.Reading{}, func(v *fsm.View) { err = v.MayActAs(v.Bearer(db, &bearer), user) })
	if errors.Is(err, queue.ErrForbidden) {
		err = &messages.Error{Status: http.StatusForbidden, Text: err.Error() + ": send a token of one of them as Svc-Commit-Token"}
	}
	return errors.Join(failed, err)
}

// failMessages answers an error of the engine.
func (s *Server) failMessages(w http.ResponseWriter, r *http.Request, route string, err error, wrote bool) {
	f := failureOf(err, wrote)
	var fast *quota.Exceeded
	if errors.As(err, &fast) {
		f = &failure{http.StatusTooManyRequests, notApplied, fast.Error()}
		w.Header()["Retry-After"] = []string{fast.RetryAfter()}
	}
	if f.status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		id := requestID(r)
		w.Header()[requestIDHeader] = []string{id}
		s.log.Warn("request failed", "id", id, "method", r.Method, "route", route, "err", err)
	}
	set(w.Header(), s.names.outcome, string(f.outcome))
	if f.status == http.StatusServiceUnavailable && f.outcome == notApplied {
		w.Header()["Retry-After"] = oneSecond
	}
	s.answerError(w, f.status, strings.TrimPrefix(f.text, "ERR "))
}

func (s *Server) answerError(w http.ResponseWriter, status int, text string) {
	body, _ := json.Marshal(map[string]string{"error": text}) // a map of texts always has a form
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	w.Write(body)
}
