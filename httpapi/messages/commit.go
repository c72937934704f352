package messages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// The fields by which a request has the commands of answers run: for which user, and the token that proves its right to that, if
// it is not the request's own.
const (
	commitAs    = "commit-as"
	commitToken = "commit-token"
)

// commits sets the user with whose rights the commands of an answer run, if the message of a request names one. Its publisher proves
// that it may act for the user by a token.
func (a *API) commits(r *http.Request, query string, f fields, o *queue.Options) error {
	return a.actFor(r, query, f.get(commitAs), f.get(commitToken), o)
}

func (a *API) actFor(r *http.Request, query, user, token string, o *queue.Options) error {
	if user == "" {
		return nil
	}
	var c queue.Config
	if err := c.Set(commitAs, user); err != nil {
		return Invalid("%s", err)
	}
	p, err := c.Done()
	if err != nil {
		return Invalid("%s", err)
	}
	if token = strings.TrimSpace(token); token == "" {
		token, _ = credential(r, query)
	}
	if err := a.ActAs(r.Context(), a.db, token, p.CommitAs); err != nil {
		return err
	}
	o.CommitAs, o.Given = p.CommitAs, o.Given|queue.GivenCommit
	return nil
}

// RunCommits is for the start of a run. SDKs forward all headers of a trigger to the endpoint, so these fields count there too, and
// are not forwarded.
func (a *API) RunCommits(r *http.Request, query string, h *Headers, o *queue.Options) error {
	user, token := h.Field(commitAs), h.Field(commitToken)
	for _, prefix := range a.Parser.Prefixes {
		for name, v := range map[string]*string{commitAs: &user, commitToken: &token} {
			header := prefix + "-" + name
			if *v == "" {
				*v = h.Field("forward-" + strings.ToLower(header))
			}
			o.Header = slices.DeleteFunc(o.Header, func(f queue.Field) bool { return strings.EqualFold(f.Name, header) })
		}
	}
	return a.actFor(r, query, user, token, o)
}
