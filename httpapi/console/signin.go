package console

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/node/audit"
)

// maxSignIn is the most bytes of a request to sign in.
const maxSignIn = 16 << 10

// signIn holds the credentials of a sign-in: a token, a user's name and password, or the key of a link.
type signIn struct {
	Token    string `json:"token"`
	User     string `json:"user"`
	Password string `json:"password"`
	Database string `json:"database"`
	Link     string `json:"link"`
}

// identity describes the owner of a session, as its page reads it. The page uses it only to hide what the API would
// refuse.
type identity struct {
	// Name is for people: the token's role, or the user.
	Name string `json:"name"`
	// Admin opens /admin and every database; Messages is "", "read" or "all" of /v2.
	Admin    bool   `json:"admin"`
	Messages string `json:"messages"`
	// Keyspace says whether the session opens a database, Database names it, and User names its user.
	Keyspace bool   `json:"keyspace"`
	Database string `json:"database,omitempty"`
	User     string `json:"user,omitempty"`
	// Person names the person who signed in at an identity provider.
	Person  string `json:"person,omitempty"`
	Session string `json:"session"`
}

// session answers GET (who am I; 204: not signed in), POST (sign in) and DELETE (sign out).
func (c *Console) session(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet:
		c.whoami(w, r)
	case http.MethodPost:
		c.signIn(w, r)
	case http.MethodDelete:
		c.signOut(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, "a session is read, opened and ended")
	}
}

func (c *Console) whoami(w http.ResponseWriter, r *http.Request) {
	s, over := c.open(r)
	var who identity
	err := over
	if over == nil {
		who, err = c.identify(r.Context(), s)
	}
	if errors.Is(err, errCredential) {
		over = errCredentialGone
	}
	if over != nil {
		if over != errNoSession {
			w.Header().Set(endedHeader, over.Error())
		}
		w.WriteHeader(http.StatusNoContent) // not signed in: asking is no mistake of the page
		return
	}
	if err != nil {
		c.refuseIdentity(w, err)
		return
	}
	answer(w, http.StatusOK, who)
}

var (
	errCredential     = errors.New("this opens nothing: wrong, revoked, or of another cluster")
	errCredentialGone = errors.New("your session has ended: its credential opens nothing any more")
)

// identify finds the identity of a session's credential. A node may be behind: a credential that opens nothing here is
// looked up again in a state that has everything acknowledged so far.
func (c *Console) identify(ctx context.Context, s *session) (who identity, err error) {
	bearer := acl.ParseBearer([]byte(s.Token))
	found, err := c.find(ctx, func(v *fsm.View) bool {
		who = identityOf(v, s, &bearer)
		return who.Name != ""
	})
	if err == nil && !found {
		err = errCredential
	}
	return who, err
}

func identityOf(v *fsm.View, s *session, bearer *acl.Bearer) identity {
	who := identity{Session: s.ID, Person: s.Person}
	switch v.RoleOf(bearer) {
	case acl.Admin:
		who.Name, who.Admin, who.Messages = "admin", true, "all"
	case acl.Messages:
		who.Name, who.Messages = "messages", "all"
	case acl.MessagesReadOnly:
		who.Name, who.Messages = "messages, read only", "read"
	}
	as := v.Bearer(s.Database, bearer)
	if !as.Known() {
		return who
	}
	who.Keyspace, who.User, who.Database = true, as.User, as.DB
	if who.Database == "" {
		who.Database = fsm.DefaultDB
	}
	if who.Name == "" {
		switch as.User {
		case acl.DefaultName:
			who.Name = "standard"
		case acl.ReadOnlyName:
			who.Name = "read only"
		default:
			who.Name = as.User
		}
	}
	return who
}

func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	if wait := c.limiter.wait(r.RemoteAddr); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		refuse(w, http.StatusTooManyRequests, "too many sign-ins from this address have failed: wait "+wait.Round(time.Second).String())
		return
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "a sign-in is JSON")
		return
	}
	var given signIn
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSignIn))
	if err != nil || json.Unmarshal(body, &given) != nil {
		refuse(w, http.StatusBadRequest, `a sign-in has a "token", or a "user" and a "password"`)
		return
	}
	s, err := c.exchange(r.Context(), &given)
	var who identity
	if err == nil {
		who, err = c.identify(r.Context(), s)
	}
	if err != nil {
		if errors.Is(err, errCredential) {
			c.limiter.failed(r.RemoteAddr)
			c.record(r, audit.Record{Act: "console sign-in", Who: audit.Nobody, Target: audit.Text(given.User), Outcome: audit.Refused})
		}
		c.refuseIdentity(w, err)
		return
	}
	c.dropOldest(w, r)
	if err := c.setCookie(w, r, s); err != nil {
		c.o.Log.Warn("a session of the console could not be opened", "error", err)
		refuse(w, http.StatusInternalServerError, "the session could not be opened")
		return
	}
	c.record(r, audit.Record{Act: "console sign-in", Who: audit.Text(who.Name), Database: who.Database, Session: s.ID, Outcome: audit.Done})
	answer(w, http.StatusOK, who)
}

// exchange makes a session from the given credentials. Its token is not yet known to open anything.
func (c *Console) exchange(ctx context.Context, given *signIn) (*session, error) {
	now := c.o.Now().UnixMilli()
	s := &session{ID: newID(), Token: strings.TrimSpace(given.Token), Database: given.Database, Began: now, Used: now}
	switch {
	case given.Link != "":
		token, ok := "", false
		if c.o.Link != nil {
			token, ok = c.o.Link(given.Link)
		}
		if !ok {
			return nil, errCredential
		}
		s.Token = token
	case given.User != "":
		found, err := c.find(ctx, func(v *fsm.View) (found bool) {
			s.Token, s.Database, found = tokenOf(v, given)
			return found
		})
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, errCredential
		}
	case s.Token == "":
		return nil, errCredential
	case s.Database == "":
		bearer := acl.ParseBearer([]byte(s.Token))
		_, err := c.find(ctx, func(v *fsm.View) bool {
			s.Database = v.LoginBearer(&bearer).DB
			return s.Database != ""
		})
		if err != nil {
			return nil, err
		}
	}
	if s.Database == fsm.DefaultDB {
		s.Database = ""
	}
	return s, nil
}

// find looks for something in the state of this node and, if it is not there, in a state that holds everything acknowledged so
// far.
func (c *Console) find(ctx context.Context, look func(*fsm.View) bool) (found bool, err error) {
	see := func(v *fsm.View) { found = look(v) }
	if c.o.Engine.Local(see); !found {
		_, err = c.o.Engine.Read(ctx, fsm.Reading{}, see)
	}
	return found, err
}

// tokenOf returns the bearer token of a user's name and password. Without a database the
// credential chooses it, as over RESP.
func tokenOf(v *fsm.View, given *signIn) (token, db string, found bool) {
	password := acl.DigestOf(given.Password)
	if db = given.Database; db == "" {
		as := v.Login(given.User, password)
		if !as.Known() {
			return "", "", false
		}
		db = as.DB
	}
	token, found = v.RESTToken(db, given.User, password)
	return token, db, found
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	if s, err := c.open(r); err == nil {
		if err := c.end(r.Context(), s); err != nil {
			c.o.Log.Warn("a session of the console was not ended", "error", err)
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, "the cluster can't end the session now: try again")
			return
		}
		who, _ := c.identify(r.Context(), s) // its credential may be gone
		c.record(r, audit.Record{Act: "console sign-out", Who: audit.Text(who.Name), Target: audit.Text(s.Person), Session: s.ID, Outcome: audit.Done})
	}
	_ = c.setCookie(w, r, nil) // nothing is sealed
	w.WriteHeader(http.StatusNoContent)
}

func (c *Console) record(r *http.Request, one audit.Record) {
	if one.Who == "" {
		one.Who = audit.Nobody
	}
	one.From, one.Forwarded = r.RemoteAddr, audit.Text(r.Header.Get("X-Forwarded-For"))
	c.o.Audit.Write(one)
}

func (c *Console) refuseIdentity(w http.ResponseWriter, err error) {
	if errors.Is(err, errCredential) {
		refuse(w, http.StatusUnauthorized, err.Error())
		return
	}
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, "the cluster can't say now whom this stands for: it has no leader, or this node has not caught up")
}

func refuse(w http.ResponseWriter, status int, text string) {
	answer(w, status, map[string]string{"error": text})
}

func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the browser has gone
}
