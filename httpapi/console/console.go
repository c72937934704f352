package console

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/node/audit"
)

// DefaultBase is the path under which the console is served unless an operator names
// another one.
const DefaultBase = "/console"

// Engine is the node as the console needs it.
type Engine interface {
	fsm.Proposer
	fsm.Reader
	// Local runs fn once on the state of this node as it is.
	Local(fn func(*fsm.View))
}

// Options are the parts of a Console. API and Engine are required.
type Options struct {
	// Engine knows the identities of credentials, and the sessions that have ended.
	Engine Engine
	// API answers the requests of sessions; it sees them as if they had come without the
	// console, with the credential in the Authorization header.
	API http.Handler
	// Base is the path at which browsers see the console, without a slash at its end. The
	// console is always served under DefaultBase too, for proxies that strip a prefix.
	Base string
	// Link, if set, returns the credential with which the login link of a development node signs in, once for a key.
	Link func(key string) (token string, ok bool)
	// Provider, if set, signs people in by OpenID Connect, and SignOn says what they may do.
	Provider IdentityProvider
	SignOn   SignOn
	// Apart: the console has a listener of its own, and is not served with the API.
	Apart bool
	// Audit records sign-ins; nil records nothing.
	Audit *audit.Log
	// Log logs failures. The default discards them.
	Log *slog.Logger
	// Now is the clock; the default is the system's.
	Now func() time.Time
}

// Console is an http.Handler for everything below its paths.
type Console struct {
	o       Options
	assets  map[string]*asset
	page    *asset
	limiter *limiter
	cross   *http.CrossOriginProtection
}

// Available reports whether this build has a console: the build tag noconsole leaves it out.
func Available() bool { _, _, err := loadAssets(DefaultBase, false); return err == nil }

// New makes a console. It fails if this build has none.
func New(o Options) (*Console, error) {
	if o.Base = strings.TrimRight(o.Base, "/"); o.Base == "" {
		o.Base = DefaultBase
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Console{o: o, limiter: newLimiter(o.Now), cross: http.NewCrossOriginProtection()}
	var err error
	c.page, c.assets, err = loadAssets(o.Base, o.Provider != nil)
	return c, err
}

// Base returns the path at which browsers see the console.
func (c *Console) Base() string { return c.o.Base }

// Bases returns the paths that the console serves, with all below them.
func (c *Console) Bases() []string {
	if c.o.Base == DefaultBase || strings.HasPrefix(c.o.Base, DefaultBase+"/") {
		return []string{DefaultBase}
	}
	return []string{c.o.Base, DefaultBase}
}

// cut takes the console's prefix off a path.
func (c *Console) cut(path string) (rest string, served bool) {
	for _, base := range [...]string{c.o.Base, DefaultBase} {
		if rest, found := strings.CutPrefix(path, base); found && (rest == "" || rest[0] == '/') {
			return rest, true
		}
	}
	return "", false
}

// ServeHTTP answers a request below the console's path.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, query, _ := strings.Cut(r.RequestURI, "?")
	rest, served := c.cut(target)
	if !served {
		refuse(w, http.StatusNotFound, "the console has nothing at this path")
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	switch api, isAPI := strings.CutPrefix(rest, "/api/"); {
	case isAPI:
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		if c.fromPage(w, r) {
			c.forward(w, r, api, query)
		}
	case rest == "/session":
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		if c.fromPage(w, r) {
			c.session(w, r)
		}
	case strings.HasPrefix(rest, signOnPath) && c.o.Provider != nil:
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		c.signOn(w, r, rest[len(signOnPath):])
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "the pages of the console are read only")
	case rest == "":
		h.Set("Location", c.o.Base+"/")
		w.WriteHeader(http.StatusFound)
	default:
		c.serveAsset(w, r, rest[1:])
	}
}

// AskedBy is the header, with any value, that the console's pages send. No link, form or picture can send it, and a
// page of another site only with a permission that is never given.
const AskedBy = "X-Console"

// fromPage refuses requests, of any method, that don't come from a page of the console: requests of another site's
// page, and of a link that a signed-in user opens.
func (c *Console) fromPage(w http.ResponseWriter, r *http.Request) bool {
	asked := r.Clone(r.Context())
	asked.Method = http.MethodPost
	switch {
	case c.cross.Check(asked) != nil:
		refuse(w, http.StatusForbidden, "this was asked by a page of another site")
	case r.Header.Get(AskedBy) == "":
		refuse(w, http.StatusForbidden, "this is for the console's own pages, which send the header "+AskedBy+": a link can't ask it. Programs use the API with their token")
	default:
		return true
	}
	return false
}

type sessionKey struct{}

// SessionOf returns the id of the console's session that a request came in, empty if it came
// another way.
func SessionOf(ctx context.Context) string {
	id, _ := ctx.Value(sessionKey{}).(string)
	return id
}
