package console

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// The lifetime of a session.
const (
	// IdleTime ends a session without activity of its user. Requests by which a page polls don't count.
	IdleTime = 30 * time.Minute
	// MaxAge ends every session.
	MaxAge = 12 * time.Hour
	// renewAfter is the age at which the mark of the last use is set anew.
	renewAfter = time.Minute
)

// securePrefix begins the names of cookies that browsers take over TLS only, and from no other host.
const securePrefix = "__Host-"

// The names of cookies, before the cluster's mark.
const (
	sessionCookie = "trireme-console-"
	attemptCookie = "trireme-sign-in-"
)

// maxCookies is the most sessions of clusters that a browser keeps for one host: every new cluster at an address of this machine adds
// one.
const maxCookies = 8

// cookieName returns the name of a cookie of this cluster. Browsers keep cookies by host, whatever the port: the name has a mark of
// the cluster, so that consoles of two clusters on one host don't overwrite each other's, while all nodes of one cluster read it,
// behind any proxy.
func (c *Console) cookieName(kind string, secure bool) string {
	var mark [32]byte
	c.o.Engine.Local(func(v *fsm.View) { mark = v.Derive(cookieNamePurpose) })
	if secure {
		return securePrefix + kind + hex.EncodeToString(mark[:4])
	}
	return kind + hex.EncodeToString(mark[:4])
}

// session is the content of a cookie, sealed with a key that all nodes of the cluster derive from its secret. So a
// session is valid on every node, and no node has to remember it.
type session struct {
	ID string `json:"i"`
	// Token is the credential, Database the database for which it is presented ("" is default).
	Token    string `json:"t"`
	Database string `json:"d,omitempty"`
	// Began and Used are unix milliseconds, and Until if it is given: the end of a session
	// that an identity provider has vouched for.
	Began int64 `json:"b"`
	Used  int64 `json:"u"`
	Until int64 `json:"e,omitempty"`
	// Person names the person who signed in at an identity provider.
	Person string `json:"p,omitempty"`
}

// over returns why a session's time is up, nil if it isn't.
func (s *session) over(now time.Time) error {
	switch {
	case now.Sub(time.UnixMilli(s.Began)) > MaxAge:
		return errAge
	case s.Until != 0 && now.UnixMilli() > s.Until:
		return errVouched
	case now.Sub(time.UnixMilli(s.Used)) > IdleTime:
		return errIdle
	}
	return nil
}

// The reasons why a request has no session. The texts about sessions that have ended are for people.
var (
	errNoSession = errors.New("no session: sign in")
	errIdle      = fmt.Errorf("your session has ended: it was not used for %d minutes", IdleTime/time.Minute)
	errAge       = fmt.Errorf("your session has ended: %d hours have passed since you signed in", MaxAge/time.Hour)
	errVouched   = errors.New("your session has ended: its identity provider vouches for it no longer")
	errSignedOut = errors.New("your session has ended: you have signed out")
)

// endedHeader says why a session has ended if the answer has no body for it.
const endedHeader = "X-Console-Ended"

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// The purposes of sealed cookies: each has a key of its own.
const (
	sessionPurpose = "console session"
	attemptPurpose = "console sign-in at an identity provider"
	// cookieNamePurpose seals nothing.
	cookieNamePurpose = "console cookie name"
)

// cipher returns the cipher of this cluster for a purpose.
func (c *Console) cipher(purpose string) (cipher.AEAD, error) {
	var key [32]byte
	c.o.Engine.Local(func(v *fsm.View) { key = v.Derive(purpose) })
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal returns the text of a cookie that holds v.
func (c *Console) seal(purpose string, v any) (string, error) {
	gcm, err := c.cipher(purpose)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, gcm.NonceSize(), gcm.NonceSize()+len(text)+gcm.Overhead())
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(gcm.Seal(nonce, nonce, text, nil)), nil
}

// open reads the session of a request. The error says why it has no valid one.
func (c *Console) open(r *http.Request) (*session, error) {
	why := errNoSession
	for _, secure := range [...]bool{true, false} {
		if !secure && overTLS(r) {
			continue // such a cookie may have been set by a man in the middle
		}
		cookie, err := r.Cookie(c.cookieName(sessionCookie, secure))
		if err != nil {
			continue
		}
		s, err := c.sessionIn(cookie.Value)
		if err == nil {
			return s, nil
		}
		why = err
	}
	return nil, why
}

// unseal reads a text that seal has made for the same purpose; it returns false for any other.
func (c *Console) unseal(purpose, text string, v any) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	gcm, err := c.cipher(purpose)
	if err != nil || len(b) < gcm.NonceSize() {
		return false
	}
	plain, err := gcm.Open(nil, b[:gcm.NonceSize()], b[gcm.NonceSize():], nil)
	return err == nil && json.Unmarshal(plain, v) == nil
}

// sessionIn returns the session of a cookie; the error says why it is over.
func (c *Console) sessionIn(text string) (*session, error) {
	s := new(session)
	if !c.unseal(sessionPurpose, text, s) {
		return nil, errNoSession
	}
	if why := s.over(c.o.Now()); why != nil {
		return nil, why
	}
	if c.ended(s) {
		return nil, errSignedOut
	}
	return s, nil
}

// setCookie gives the browser the session; nil takes it away.
func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, s *session) error {
	secure := overTLS(r)
	cookie := &http.Cookie{Name: c.cookieName(sessionCookie, secure), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure}
	if s == nil {
		cookie.MaxAge = -1
		http.SetCookie(w, cookie)
		return nil
	}
	value, err := c.seal(sessionPurpose, s)
	if err != nil {
		return err
	}
	cookie.Value = value
	http.SetCookie(w, cookie)
	return nil
}

// dropOldest removes surplus sessions of other clusters at this host from a browser that signs in. A browser sends the oldest
// cookies first.
func (c *Console) dropOldest(w http.ResponseWriter, r *http.Request) {
	secure := overTLS(r)
	own, prefix := c.cookieName(sessionCookie, secure), sessionCookie
	if secure {
		prefix = securePrefix + sessionCookie
	}
	var others []string
	for _, cookie := range r.Cookies() {
		if strings.HasPrefix(cookie.Name, prefix) && cookie.Name != own {
			others = append(others, cookie.Name)
		}
	}
	for _, name := range others[:max(0, len(others)-maxCookies+1)] {
		http.SetCookie(w, &http.Cookie{Name: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure, MaxAge: -1})
	}
}

// overTLS reports whether the browser speaks TLS, with us or with a proxy. A client that claims it falsely gets a
// cookie that it can't use.
func overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// end ends a session on every node: the log remembers the end until no cookie of the session could be valid any more.
func (c *Console) end(ctx context.Context, s *session) error {
	_, err := fsm.Do(ctx, c.o.Engine, fsm.EndSession, fsm.EndedSession{ID: s.ID, Until: s.Began + MaxAge.Milliseconds()})
	return err
}

// ended reports whether a session was ended, as this node knows it.
func (c *Console) ended(s *session) (is bool) {
	c.o.Engine.Local(func(v *fsm.View) { is = v.SessionEnded(s.ID) })
	return is
}
