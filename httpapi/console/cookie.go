package console

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// How long a session lasts.
const (
	// IdleTime ends a session without activity of its user. What a page polls does not count.
	IdleTime = 30 * time.Minute
	// MaxAge ends every session.
	MaxAge = 12 * time.Hour
	// renewAfter is how old the mark of the last use may be before it is set anew.
	renewAfter = time.Minute
)

// The cookie's names: browsers take the first one over TLS only, and from no other host.
const (
	secureCookie = "__Host-trireme-console"
	plainCookie  = "trireme-console"
)

// session is what a cookie holds, sealed with a key that all nodes of the cluster derive
// from its secret. So a session is good on every node, and needs no memory on any.
type session struct {
	ID string `json:"i"`
	// Token is the credential, Database where it is presented ("" is default).
	Token    string `json:"t"`
	Database string `json:"d,omitempty"`
	// Began and Used are unix milliseconds, and Until if it is given: the end of a session
	// that an identity provider has vouched for.
	Began int64 `json:"b"`
	Used  int64 `json:"u"`
	Until int64 `json:"e,omitempty"`
	// Person is who signed in at an identity provider.
	Person string `json:"p,omitempty"`
}

// over reports whether a session's time is up.
func (s *session) over(now time.Time) bool {
	return now.Sub(time.UnixMilli(s.Used)) > IdleTime || now.Sub(time.UnixMilli(s.Began)) > MaxAge || s.Until != 0 && now.UnixMilli() > s.Until
}

var errNoSession = errors.New("console: no session")

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// The purposes of sealed cookies: each has a key of its own.
const (
	sessionPurpose = "console session"
	attemptPurpose = "console sign-in at an identity provider"
)

// cipher is that of this cluster for a purpose.
func (c *Console) cipher(purpose string) (cipher.AEAD, error) {
	var key [32]byte
	c.o.Engine.Local(func(v *fsm.View) { key = v.Derive(purpose) })
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal is the text of a cookie that holds v.
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

// open reads the session of a request; errNoSession if it has none that is still good.
func (c *Console) open(r *http.Request) (*session, error) {
	for _, name := range [...]string{secureCookie, plainCookie} {
		if name == plainCookie && overTLS(r) {
			continue // such a cookie may have been set by a man in the middle
		}
		cookie, err := r.Cookie(name)
		if err != nil {
			continue
		}
		if s := c.sessionIn(cookie.Value); s != nil {
			return s, nil
		}
	}
	return nil, errNoSession
}

// unseal reads what seal has made for a purpose; false if it was not made so.
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

// sessionIn is the session of a cookie, nil if it is over.
func (c *Console) sessionIn(text string) *session {
	s := new(session)
	if !c.unseal(sessionPurpose, text, s) || s.over(c.o.Now()) || c.ended(s) {
		return nil
	}
	return s
}

// setCookie gives the browser the session; nil takes it away.
func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, s *session) error {
	cookie := &http.Cookie{Name: plainCookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if overTLS(r) {
		cookie.Name, cookie.Secure = secureCookie, true
	}
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

// overTLS reports whether the browser speaks TLS, with us or with a proxy. Who claims it
// falsely gets a cookie that it can't use.
func overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
