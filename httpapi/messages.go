package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/httpapi/messages"
	"trireme/httpapi/redis"
	"trireme/httpapi/workflows"
)

// maxBatch is the most bytes of a batch of messages, each of which is looked at by itself
// (decisions 18).
const maxBatch = 100 << 20

// isMessages tells whether a path is one of the API of messages.
func isMessages(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == "v2" || first == "llm"
}

// newMessages makes the API of messages over this server's engine.
func (s *Server) newMessages(p *messages.Parser, ask messages.Provider) *messages.API {
	m := messages.New(messages.Options{
		Engine: s.engine, Parser: *p, Ask: ask, Role: s.messagesRole, Fail: s.failMessages, MaxBody: s.maxBody, MaxBatch: max(maxBatch, s.maxBody),
	})
	workflows.Mount(m)
	return m
}

// serveMessages answers a request under /v2. In development no page of another site may
// send one (decisions 32).
func (s *Server) serveMessages(w http.ResponseWriter, r *http.Request) {
	if s.loopback && foreignOrigin(r) {
		s.answerError(w, http.StatusForbidden, "this development server answers pages of loopback hosts only")
		return
	}
	if path, _ := redis.CutTarget(r.RequestURI); s.audit != nil && r.Method == http.MethodPost && strings.EqualFold(path, "v2/keys/rotate") {
		s.auditRotation(w, r)
		return
	}
	s.messages.ServeHTTP(w, r)
}

// foreignOrigin tells whether a page of another host than this machine asks.
func foreignOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !isLoopback(u.Host)
}

// messagesRole is the role of a token as this node knows it; one that opens nothing here
// is looked up in a state that holds everything acknowledged so far.
func (s *Server) messagesRole(ctx context.Context, token string) (acl.Role, error) {
	digest, role := acl.Digest(sha256.Sum256([]byte(token))), acl.NoRole
	s.engine.Local(func(v *fsm.View) { role = v.Role(digest) })
	if role == acl.Messages || role == acl.MessagesReadOnly || role == acl.Admin {
		return role, nil
	}
	return s.roleOfToken(ctx, []byte(token))
}

// failMessages answers an error of the engine.
func (s *Server) failMessages(w http.ResponseWriter, r *http.Request, err error, wrote bool) {
	f := failureOf(err, wrote)
	if f.status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		id := requestID(r)
		w.Header()[requestIDHeader] = []string{id}
		path, _ := redis.CutTarget(r.RequestURI)
		s.log.Warn("request failed", "id", id, "path", path, "err", err)
	}
	set(w.Header(), s.names.outcome, string(f.outcome))
	s.answerError(w, f.status, strings.TrimPrefix(f.text, "ERR "))
}

func (s *Server) answerError(w http.ResponseWriter, status int, text string) {
	body, _ := json.Marshal(map[string]string{"error": text}) // a map of texts always has a form
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	w.Write(body)
}
