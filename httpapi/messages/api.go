package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
	runs "github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
)

// Engine is the node as the API needs it.
type Engine interface {
	fsm.Proposer
	fsm.Reader
}

// Options are the parts of an API.
type Options struct {
	Engine Engine
	// Access returns the access of a token to a database, to the token's own if db is empty. An error is one of the
	// engine's.
	Access func(ctx context.Context, db string, token string) (Access, error)
	// ActAs returns nil if a token may have answers act for a user of a database, or why it may not: an *Error, or an error
	// of the engine.
	ActAs func(ctx context.Context, db, token, user string) error
	// NewScratch makes a database for the fork of a run, with the keys that rows restore, or fails and leaves none; DropScratch deletes it.
	// Only the owner of the admin token may have it made.
	NewScratch  func(r *http.Request, name string, rows [][][]byte) (Scratch, error)
	DropScratch func(ctx context.Context, name string) error
	// Fail answers an error of the engine to a request of the route that logs name so; wrote reports whether a write was proposed.
	Fail   func(w http.ResponseWriter, r *http.Request, route string, err error, wrote bool)
	Parser Parser
	// Ask asks providers at once; nil if there are none.
	Ask Provider
	// MaxBody is the largest body of a message, MaxBatch that of a batch, in bytes.
	MaxBody, MaxBatch int64
	// BulkWait bounds the wait of a request for a bulk action (0 = a minute).
	BulkWait time.Duration
}

// Access describes what a token opens: its role, and the database whose messages and workflows it reaches.
type Access struct {
	// Role is NoRole, Messages, MessagesReadOnly or Admin.
	Role acl.Role
	// DB names the database, empty for default, and Number is its number.
	DB     string
	Number uint64
}

// Scratch is a database that was made for the fork of a run.
type Scratch struct {
	Name string `json:"name"`
	// Path is the path at which it is served.
	Path          string `json:"path"`
	Token         string `json:"token"`
	ReadOnlyToken string `json:"readonlyToken"`
	// Log proposes operations on its messages and runs.
	Log fsm.Log `json:"-"`
}

// API serves the paths under /v2/, and the one under /llm/.
type API struct {
	Options
	runs Runs
	db   string // the database, empty for default
	// level is that of the cluster, as far as requests had to know it.
	level *levelKnown
}

// New makes an API.
func New(o Options) *API { return &API{Options: o, level: &levelKnown{}} }

// request is a request under way.
type request struct {
	*API
	w http.ResponseWriter
	r *http.Request
	Target
	route *Route
	// byToken: the token is a parameter of the query.
	byToken bool
	// groups holds the defaults of the URL groups that the request has read so far.
	groups map[string]fields
	judged Judged
	// unknown holds the service headers of which the answer warns.
	unknown []string
}

// Serve answers a request that the router has led to a row of the table.
func (a *API) Serve(route *Route, w http.ResponseWriter, r *http.Request, t Target) {
	q := &request{API: a, w: w, r: r, Target: t, route: route}
	if route.as != "" {
		q.r = r.WithContext(r.Context()) // a copy
		q.r.Method = route.as
	}
	if !route.open && !q.admit() {
		return
	}
	if err := route.serve(q); err != nil {
		q.fail(err)
	}
}

// admit finds the access of the request's token, and refuses the request if that is not enough for its route.
func (re *request) admit() bool {
	access, err := re.authenticate()
	switch {
	case err != nil:
		re.failed(err, false)
		return false
	case re.route.as != "" && re.byToken:
		re.refuse(errQueryToken)
		return false
	case access.Role == acl.NoRole:
		re.refuse(&Error{http.StatusUnauthorized, "unable to authenticate: invalid token"})
		return false
	}
	if of, counted := re.r.Body.(interface{ Of(db string) }); counted {
		of.Of(access.DB)
	}
	re.API, re.Role = re.In(access), access.Role
	switch {
	case access.DB != "" && re.Root() == "llm":
		re.refuse(errNoPath) // whose providers are asked with the operator's tokens
	case access.Role == acl.MessagesReadOnly && (re.r.Method != http.MethodGet && re.r.Method != http.MethodHead || re.asksForKeys()):
		re.refuse(errReadOnly)
	default:
		return true
	}
	return false
}

// errReadOnly refuses what a read-only token may not do. It may not read the signing keys: anybody with the keys can pass for
// this server at every receiver.
var errReadOnly = &Error{http.StatusForbidden, "this token is read-only"}

// asksForKeys reports whether the path is one of the signing keys.
func (re *request) asksForKeys() bool {
	_, path, _ := strings.Cut(re.Path, "/")
	first, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	return re.Root() == "v2" && strings.EqualFold(unescapePath(first), "keys")
}

// errQueryToken refuses a GET that changes something to a token in the address: browsers and proxies open addresses again.
var errQueryToken = &Error{http.StatusForbidden, "a GET that changes something needs the token in the Authorization header: send it there, or use POST"}

// authenticate finds the access of the request's token; a token that opens nothing here has no role.
func (re *request) authenticate() (Access, error) {
	token, byQuery := credential(re.r, re.Query)
	re.byToken = byQuery
	if token == "" {
		return Access{}, nil
	}
	return re.Access(re.r.Context(), re.DB, token)
}

// credential returns the token of a request, and whether a parameter of the query is it.
func credential(r *http.Request, query string) (token string, byQuery bool) {
	if given := tokenOf(query); given != "" {
		return strings.TrimSpace(given), true
	}
	token = r.Header.Get("Authorization")
	if len(token) > 7 && strings.EqualFold(token[:7], "bearer ") {
		token = token[7:]
	}
	return strings.TrimSpace(token), false
}

// In returns the API of the database that an access opens.
func (a *API) In(access Access) *API {
	if access.DB == "" {
		return a
	}
	in := *a
	in.db = access.DB
	if in.Engine = fsm.InTenant(a.Engine, access.DB, access.Number); a.runs != nil {
		in.runs = a.runs.In(&in)
	}
	return &in
}

// tokenOf returns the token of a query string, empty if there is none. Most query strings have neither a token nor an
// escape that could hide its name.
func tokenOf(query string) string {
	if !strings.Contains(query, TokenParameter) && !strings.Contains(query, "%") {
		return ""
	}
	values, _ := url.ParseQuery(query)
	return values.Get(TokenParameter)
}

// HasQueryToken reports whether a raw query string carries a token.
func HasQueryToken(query string) bool { return tokenOf(query) != "" }

var errNoPath = &Error{http.StatusNotFound, "this version has nothing at this path"}

// ErrMethod refuses a method that a path does not take.
var ErrMethod = &Error{http.StatusMethodNotAllowed, "method not allowed"}

func unescapePath(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// statuses lists the HTTP statuses for refusals by the state machine.
var statuses = []struct {
	err    error
	status int
}{
	{queue.ErrInvalid, http.StatusBadRequest},
	{queue.ErrForbidden, http.StatusForbidden},
	{queue.ErrCommit, http.StatusPreconditionFailed},
	{queue.ErrCondition, http.StatusConflict},
	{queue.ErrNotFound, http.StatusNotFound},
	{queue.ErrQuota, http.StatusPreconditionFailed},
	{queue.ErrMemory, http.StatusServiceUnavailable},
	{runs.ErrOver, http.StatusBadRequest},
	{runs.ErrRefused, http.StatusPreconditionFailed},
	{runs.ErrExists, http.StatusBadRequest},
	{runs.ErrConflict, http.StatusBadRequest},
	{runs.ErrEnded, http.StatusConflict},
	{runs.ErrInUse, http.StatusPreconditionFailed},
	{runs.ErrFull, http.StatusTooManyRequests},
}

// refusal returns the answer to an error that is no failure of the engine, nil for others.
func refusal(err error) *Error {
	var one *itemError
	if errors.As(err, &one) {
		n := refusal(one.err)
		if n != nil {
			n = &Error{n.Status, (&itemError{one.at, n}).Error()}
		}
		return n
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	for _, s := range statuses {
		if !errors.Is(err, s.err) {
			continue
		}
		text := err.Error()
		var refused *fsm.Error
		if errors.As(err, &refused) {
			text = refused.Text
		}
		return &Error{s.status, text}
	}
	return nil
}

func (re *request) fail(err error) {
	if n := refusal(err); n != nil {
		re.refuse(n)
		return
	}
	re.failed(err, re.r.Method != http.MethodGet)
}

// failed answers an error of the engine.
func (re *request) failed(err error, wrote bool) {
	route := re.route.Name()
	if re.DB != "" {
		route = "/db/{database}" + route
	}
	re.Fail(re.w, re.r, route, err, wrote)
}

func (re *request) refuse(n *Error) { re.answer(n.Status, map[string]string{"error": n.Text}) }

// answer writes a JSON value.
func (re *request) answer(status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		re.failed(err, false)
		return
	}
	re.w.Header()["Content-Type"] = []string{"application/json"}
	re.w.WriteHeader(status)
	re.w.Write(text)
}

// body reads the request's body, at most limit bytes.
func (re *request) body(limit int64) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(re.w, re.r.Body, limit))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, re.tooLarge(limit)
	}
	return b, err
}

// json reads the request's body, of at most limit bytes, which is to be read as JSON of at most so many values.
func (re *request) json(limit int64, most jsonbody.Bounds) ([]byte, error) {
	body, err := re.body(limit)
	if err != nil {
		return nil, err
	}
	err = jsonbody.Admit(re.r, body, most)
	var many *jsonbody.Error
	if errors.As(err, &many) {
		return nil, &Error{many.Status, many.Text}
	}
	return body, err
}

// tooLarge refuses a body above a limit, which it names.
func (re *request) tooLarge(limit int64) *Error {
	text := fmt.Sprintf("the body is larger than %d bytes", limit)
	if limit == re.MaxBody {
		text += " (--max-request-size)"
	}
	return &Error{http.StatusRequestEntityTooLarge, text}
}

// decode reads the request's body into v, a pointer to a struct. A body that is no JSON object of that form, or of which
// complete reports false, is refused as invalid with a text.
func (re *request) decode(v any, complete func() bool, text string) error {
	body, err := re.json(re.MaxBody, jsonbody.Bounds{})
	if err != nil {
		return err
	}
	if json.Unmarshal(body, v) != nil || !complete() {
		return Invalid("%s", text)
	}
	return nil
}

// perform puts an operation into the log, and answers 200 without a body.
func perform[A, R any](re *request, op *fsm.Operation[A, R], arg A) error {
	if _, err := fsm.Do(re.r.Context(), re.Engine, op, arg); err != nil {
		return err
	}
	re.w.WriteHeader(http.StatusOK)
	return nil
}

// answerOne answers with what find returns of the state, or refuses with missing if that is nil.
func answerOne[T any](re *request, missing *Error, find func(*fsm.View) *T) error {
	var found *T
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{}, func(v *fsm.View) { found = find(v) })
	switch {
	case err != nil:
		return err
	case found == nil:
		return missing
	}
	re.answer(http.StatusOK, found)
	return nil
}

// CallerIP returns the address of the client.
func CallerIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}
