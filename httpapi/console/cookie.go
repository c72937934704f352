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
	// IdleTime ends a session that nobody used. What a page asks by itself is no use.
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
	// Began and Used are unix milliseconds.
	Began int64 `json:"b"`
	Used  int64 `json:"u"`
}

var errNoSession = errors.New("console: no session")

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// cipher is that of this cluster.
func (c *Console) cipher() (cipher.AEAD, error) {
	var key [32]byte
	c.o.Engine.Local(func(v *fsm.View) { key = v.Derive("console session") })
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (c *Console) seal(s *session) (string, error) {
	gcm, err := c.cipher()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(s)
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
			continue // such a cookie may have been set by whoever is on the way
		}
		cookie, err := r.Cookie(name)
		if err != nil {
			continue
		}
		if s := c.unseal(cookie.Value); s != nil {
			return s, nil
		}
	}
	return nil, errNoSession
}

func (c *Console) unseal(text string) *session {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	gcm, err := c.cipher()
	if err != nil || len(b) < gcm.NonceSize() {
		return nil
	}
	plain, err := gcm.Open(nil, b[:gcm.NonceSize()], b[gcm.NonceSize():], nil)
	var s session
	if err != nil || json.Unmarshal(plain, &s) != nil {
		return nil
	}
	now := c.o.Now()
	if now.Sub(time.UnixMilli(s.Used)) > IdleTime || now.Sub(time.UnixMilli(s.Began)) > MaxAge || c.ended(&s) {
		return nil
	}
	return &s
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
	value, err := c.seal(s)
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
