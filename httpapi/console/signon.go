package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/node/audit"
)

// IdentityProvider signs people in by the authorization code flow of OpenID Connect.
type IdentityProvider interface {
	// AuthURL returns the URL at which the browser signs in.
	AuthURL(ctx context.Context, a Attempt) (string, error)
	// Exchange trades the code that the browser has brought back for the person. An error that
	// is ErrNotValid refuses the answer; after any other the provider may be asked again.
	Exchange(ctx context.Context, a Attempt, code string) (Person, error)
}

// ErrNotValid marks answers of an identity provider that prove nothing.
var ErrNotValid = errors.New("the identity provider's answer is not valid")

// Attempt is one sign-in under way.
type Attempt struct {
	// Redirect is the URL to which the provider sends the browser back.
	Redirect string `json:"r"`
	// State comes back with the browser, Nonce in the token, and the provider knows a digest
	// of Verifier (PKCE): all three are random.
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
}

// Person is a person whom an identity provider vouches for.
type Person struct {
	// Subject identifies the person at the provider, Name is for people.
	Subject, Name string
	Groups        []string
}

// SignOn configures what people may do who sign in at an identity provider.
type SignOn struct {
	// Roles are tried in their order: the first whose group a person has applies.
	Roles []GroupRole
	// Redirect is the URL of the console's callback as browsers reach it. The default is the
	// address that the browser has used.
	Redirect string
	// Age is the time from the sign-in to the end of the session; 0 is MaxAge, which also bounds it.
	Age time.Duration
}

// CallbackPath is the path, below the console's base, to which a provider sends browsers back.
const CallbackPath = signOnPath + callback

const (
	// signOnPath begins the paths at which the browser begins and ends a sign-in at an identity provider.
	signOnPath = "/oidc/"
	callback   = "callback"
	// attemptAge bounds the time that a person may take to sign in there.
	attemptAge = 10 * time.Minute
	// maxNext is the longest path that is opened after a sign-in.
	maxNext = 1000
)

// pendingSignOn is the content of the attempt's cookie, sealed like a session: any node can finish a sign-in that
// another one began.
type pendingSignOn struct {
	Attempt
	Next  string `json:"x"`
	Began int64  `json:"b"`
}

// signOn begins a sign-in at the identity provider, or ends it.
func (c *Console) signOn(w http.ResponseWriter, r *http.Request, what string) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET")
		refuse(w, http.StatusMethodNotAllowed, "a browser is sent here: use GET")
	case what == "start":
		c.beginSignOn(w, r)
	case what == callback:
		c.endSignOn(w, r)
	default:
		refuse(w, http.StatusNotFound, "the console has nothing at this path")
	}
}

func (c *Console) beginSignOn(w http.ResponseWriter, r *http.Request) {
	p := pendingSignOn{Next: nextOf(r.URL.Query().Get("next")), Began: c.o.Now().UnixMilli()}
	p.Attempt = Attempt{Redirect: c.callbackURL(r), State: newID(), Nonce: newID(), Verifier: newID() + newID()}
	to, err := c.o.Provider.AuthURL(r.Context(), p.Attempt)
	if err == nil {
		err = c.setAttempt(w, r, &p)
	}
	if err != nil {
		c.o.Log.Warn("a sign-in at the identity provider can't begin", "error", err)
		c.backToSignIn(w, "unavailable")
		return
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

// callbackURL returns the URL to which the provider sends the browser back.
func (c *Console) callbackURL(r *http.Request) string {
	if c.o.SignOn.Redirect != "" {
		return c.o.SignOn.Redirect
	}
	u := url.URL{Scheme: "http", Host: r.Host, Path: c.o.Base + CallbackPath}
	if overTLS(r) {
		u.Scheme = "https"
	}
	return u.String()
}

// nextOf returns the view to open after a sign-in: a path below the console's and nothing else.
func nextOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxNext || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.Contains(u.Path, "..") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.Query().Encode()}).RequestURI()
}

// backToSignIn shows the sign-in page again, with what went wrong.
func (c *Console) backToSignIn(w http.ResponseWriter, why string) {
	w.Header().Set("Location", c.o.Base+"/#sign-in="+why)
	w.WriteHeader(http.StatusFound)
}

// endSignOn answers the browser when it comes back from the identity provider.
func (c *Console) endSignOn(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p := c.attempt(r, q.Get("state"))
	_ = c.setAttempt(w, r, nil) // nothing is sealed
	switch {
	case p == nil:
		c.backToSignIn(w, "state")
	case q.Get("error") != "" || q.Get("code") == "":
		c.o.Log.Info("the identity provider has signed nobody in", "error", audit.Text(q.Get("error")), "description", audit.Text(q.Get("error_description")))
		c.backToSignIn(w, "denied")
	case c.limiter.wait(r.RemoteAddr) > 0:
		c.backToSignIn(w, "busy")
	default:
		c.admit(w, r, p, q.Get("code"))
	}
}

// admit opens the session of a person who brings a code.
func (c *Console) admit(w http.ResponseWriter, r *http.Request, p *pendingSignOn, code string) {
	person, err := c.o.Provider.Exchange(r.Context(), p.Attempt, code)
	if err != nil {
		why := "unavailable"
		if errors.Is(err, ErrNotValid) {
			why = "refused"
			c.refuseSignOn(r, &person, err.Error())
		}
		c.o.Log.Warn("a sign-in at the identity provider has failed", "error", err)
		c.backToSignIn(w, why)
		return
	}
	role := c.o.SignOn.roleOf(person.Groups)
	if role == nil {
		c.refuseSignOn(r, &person, "none of the groups has a role")
		c.backToSignIn(w, "role")
		return
	}
	s, err := c.sessionAs(r.Context(), role, &person)
	var who identity
	if err == nil {
		who, err = c.identify(r.Context(), s)
	}
	switch {
	case errors.Is(err, errCredential):
		c.refuseSignOn(r, &person, "role "+role.Name+" has no credential")
		c.backToSignIn(w, "credential")
		return
	case err == nil:
		err = c.setCookie(w, r, s)
	}
	if err != nil {
		c.o.Log.Warn("a session of the console could not be opened", "error", err)
		c.backToSignIn(w, "unavailable")
		return
	}
	c.record(r, audit.Record{
		Act: "console sign-in", Who: audit.Text(who.Name), Target: audit.Text(person.Name), Database: who.Database, Session: s.ID, Outcome: audit.Done,
		Detail: audit.Text("subject " + person.Subject + ", group " + role.Group),
	})
	w.Header().Set("Location", c.o.Base+p.Next)
	w.WriteHeader(http.StatusFound)
}

func (c *Console) refuseSignOn(r *http.Request, who *Person, reason string) {
	c.limiter.failed(r.RemoteAddr)
	c.record(r, audit.Record{Act: "console sign-in", Target: audit.Text(who.Name), Outcome: audit.Refused, Reason: audit.Text(reason)})
}

// sessionAs makes a session in which a person has a role: its credential is a token that is revoked together with the
// role's own.
func (c *Console) sessionAs(ctx context.Context, role *GroupRole, who *Person) (*session, error) {
	now := c.o.Now()
	age := c.o.SignOn.Age
	if age <= 0 || age > MaxAge {
		age = MaxAge
	}
	s := &session{ID: newID(), Database: role.DB, Began: now.UnixMilli(), Used: now.UnixMilli(), Until: now.Add(age).UnixMilli(), Person: who.Name}
	found, err := c.find(ctx, func(v *fsm.View) (found bool) {
		s.Token, found = role.token(v)
		return found
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, errCredential
	}
	return s, nil
}

// attempt returns the sign-in that this browser has begun with that state, nil if it has none or
// took too long.
func (c *Console) attempt(r *http.Request, state string) *pendingSignOn {
	cookie, err := r.Cookie(c.cookieName(attemptCookie, overTLS(r)))
	p := new(pendingSignOn)
	if err != nil || !c.unseal(attemptPurpose, cookie.Value, p) || p.State == "" || p.State != state {
		return nil
	}
	if c.o.Now().Sub(time.UnixMilli(p.Began)) > attemptAge {
		return nil
	}
	return p
}

// setAttempt keeps a sign-in in the browser; nil removes it. With SameSite=Strict the browser would not send its cookie to the
// callback, to which another site sends it.
func (c *Console) setAttempt(w http.ResponseWriter, r *http.Request, p *pendingSignOn) error {
	secure := overTLS(r)
	cookie := &http.Cookie{Name: c.cookieName(attemptCookie, secure), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(attemptAge / time.Second), Secure: secure}
	if p == nil {
		cookie.MaxAge = -1
		http.SetCookie(w, cookie)
		return nil
	}
	var err error
	if cookie.Value, err = c.seal(attemptPurpose, p); err == nil {
		http.SetCookie(w, cookie)
	}
	return err
}
