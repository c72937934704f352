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

// Judged has what was found out of users and tokens, so that a batch asks the state once for each pair.
type Judged map[[2]string]error

// commits sets the user with whose rights the commands of an answer run, if the message of a request names one. Its publisher proves
// that it may act for that user by a token, which goes no further.
func (re *request) commits(f fields, o *queue.Options) error {
	return re.API.commits(re.r, re.Query, f, o, &re.judged)
}

func (a *API) commits(r *http.Request, query string, f fields, o *queue.Options, judged *Judged) error {
	user, token := f.get(commitAs), f.get(commitToken)
	for _, prefix := range a.Parser.Prefixes {
		for _, own := range []struct {
			name string
			v    *string
		}{{commitAs, &user}, {commitToken, &token}} {
			// SDKs forward all headers of a trigger, to failure functions too
			header := prefix + "-" + own.name
			if *own.v == "" {
				*own.v = f.get("forward-" + strings.ToLower(header))
			}
			dropHeader(o, header)
		}
	}
	if user == "" {
		return a.Known(r.Context(), o)
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
	pair := [2]string{p.CommitAs, token}
	verdict, known := (*judged)[pair]
	if !known {
		if *judged == nil {
			*judged = Judged{}
		}
		verdict = a.ActAs(r.Context(), a.db, token, p.CommitAs)
		(*judged)[pair] = verdict
	}
	if verdict != nil {
		return verdict
	}
	o.CommitAs, o.Given = p.CommitAs, o.Given|queue.GivenCommit
	return nil
}

// Commits does so for the start of a run.
func (a *API) Commits(r *http.Request, query string, h *Headers, o *queue.Options, judged *Judged) error {
	return a.commits(r, query, h.fields, o, judged)
}

// asksToCommit reports whether the fields of a request name a user, or bring a token, for the commands of answers.
func asksToCommit(f fields) bool {
	for name := range f {
		if strings.HasSuffix(name, commitAs) || strings.HasSuffix(name, commitToken) {
			return true
		}
	}
	return false
}

// dropHeader takes a header out of what a message and its callbacks forward.
func dropHeader(o *queue.Options, name string) {
	of := func(f queue.Field) bool { return strings.EqualFold(f.Name, name) }
	o.Header = slices.DeleteFunc(o.Header, of)
	for _, c := range []*queue.Callback{o.Callback, o.Failure} {
		if c != nil {
			c.Options.Header = slices.DeleteFunc(c.Options.Header, of)
		}
	}
}
