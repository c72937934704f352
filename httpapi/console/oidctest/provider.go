package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The client that the provider knows.
const (
	ClientID     = "trireme-console"
	ClientSecret = "a client's secret"
)

// Provider is an identity provider; its URL is the issuer. What it signs may be changed between
// sign-ins.
type Provider struct {
	URL string

	mu     sync.Mutex
	key    *ecdsa.PrivateKey
	signer *ecdsa.PrivateKey
	claims map[string]any
	deny   string
	codes  map[string]url.Values
}

// Start starts a provider that ends with the test.
func Start(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{codes: map[string]url.Values{}, key: newKey(t)}
	p.signer = p.key
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	p.URL = s.URL
	return p
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// SignIn makes the next person the one of these claims, which win over those of a right token; nil
// takes one away.
func (p *Provider) SignIn(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims, p.deny = claims, ""
}

// Deny makes the provider refuse sign-ins, for a reason such as access_denied.
func (p *Provider) Deny(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deny = reason
}

// Forge has tokens signed by a key that the provider does not publish, if so.
func (p *Provider) Forge(t testing.TB, so bool) {
	t.Helper()
	key := newKey(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signer = p.key; so {
		p.signer = key
	}
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "key", Algorithm: "ES256", Use: "sig"}}})
}

// authorize signs the person in without a question.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	with := url.Values{"state": {q.Get("state")}}
	if p.deny != "" {
		with.Set("error", p.deny)
	} else {
		code := rand.Text()
		p.codes[code] = q
		with.Set("code", code)
	}
	back.RawQuery = with.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token trades a code, once, for the token of the person who signed in.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	if unescaped, err := url.QueryUnescape(secret); err == nil {
		secret = unescaped
	}
	asked := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	digest := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch {
	case id != ClientID || secret != ClientSecret:
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	case asked == nil || asked.Get("redirect_uri") != r.FormValue("redirect_uri") || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(digest[:]):
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	default:
		answer(w, http.StatusOK, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "id_token": p.sign(asked.Get("nonce"))})
	}
}

func (p *Provider) sign(nonce string) string {
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "sub": "person-1", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": nonce}
	maps.Copy(claims, p.claims)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	body, err := json.Marshal(claims)
	if err != nil {
		return err.Error()
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.signer, KeyID: "key"}}, nil)
	if err != nil {
		return err.Error()
	}
	signed, err := signer.Sign(body)
	if err != nil {
		return err.Error()
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		return err.Error()
	}
	return text
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the caller has gone
}
