package oidc

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/console/oidctest"
)

var signIn = console.Attempt{Redirect: "http://node.example/console/oidc/callback", State: "state", Nonce: "nonce", Verifier: strings.Repeat("v", 43)}

// way is a transport to the provider: it counts requests, and answers a path itself if that is set.
type way struct {
	answers map[string]func() (*http.Response, error)
	asked   map[string]int
}

func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	w.asked[r.URL.Path]++
	if own := w.answers[r.URL.Path]; own != nil {
		return own()
	}
	return http.DefaultTransport.RoundTrip(r)
}

const discoveryPath, tokenPath = "/.well-known/openid-configuration", "/token"

func through(t *testing.T) (*oidctest.Provider, *Provider, *way) {
	idp, w := oidctest.Start(t), &way{answers: map[string]func() (*http.Response, error){}, asked: map[string]int{}}
	return idp, New(Options{Issuer: idp.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, Transport: w}), w
}

// exchange signs in and trades the code.
func exchange(t *testing.T, p *Provider) (console.Person, error) {
	t.Helper()
	to, err := p.AuthURL(t.Context(), signIn)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", to, http.NoBody)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Exchange(t.Context(), signIn, back.Query().Get("code"))
}

// TestClaimsOfTheToken changes one claim of a right token at a time.
func TestClaimsOfTheToken(t *testing.T) {
	idp, p, _ := through(t)
	for _, c := range []struct {
		claims map[string]any
		valid  bool
	}{
		{nil, true},
		{map[string]any{"nonce": "of another sign-in"}, false},
		{map[string]any{"nonce": nil}, false},
		{map[string]any{"nonce": ""}, false},
		{map[string]any{"azp": oidctest.ClientID}, true},
		{map[string]any{"azp": "another client"}, false},
		{map[string]any{"azp": ""}, false},
		{map[string]any{"aud": []string{oidctest.ClientID}}, true},
		{map[string]any{"aud": []string{oidctest.ClientID, "another client"}}, false},
		{map[string]any{"aud": []string{oidctest.ClientID, "another client"}, "azp": oidctest.ClientID}, true},
		{map[string]any{"aud": []string{oidctest.ClientID, "another client"}, "azp": "another client"}, false},
		{map[string]any{"aud": "another client"}, false},
		{map[string]any{"iss": "http://elsewhere.example"}, false},
		{map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}, false},
	} {
		idp.SignIn(c.claims)
		who, err := exchange(t, p)
		if valid := err == nil && who.Subject == "person-1"; valid != c.valid || !valid && !errors.Is(err, console.ErrNotValid) {
			t.Errorf("%v: %+v, %v; want it valid: %v", c.claims, who, err, c.valid)
		}
	}
	idp.SignIn(nil)
	idp.Forge(t, true)
	if who, err := exchange(t, p); !errors.Is(err, console.ErrNotValid) {
		t.Errorf("signed with another key: %+v, %v", who, err)
	}
	unasked := signIn
	unasked.Nonce = ""
	if who, err := p.Exchange(t.Context(), unasked, "code"); err == nil {
		t.Errorf("without a nonce: %+v", who)
	}
}

// TestProviderThatFails: an answer that proves nothing is distinguished from no answer, after which the provider may be asked again.
func TestProviderThatFails(t *testing.T) {
	idp, p, w := through(t)
	idp.SignIn(nil)
	status := func(code int) func() (*http.Response, error) {
		return func() (*http.Response, error) {
			return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"error":"x"}`))}, nil
		}
	}
	for code, notValid := range map[int]bool{400: true, 401: true, 500: false, 503: false} {
		w.answers[tokenPath] = status(code)
		if who, err := exchange(t, p); err == nil || errors.Is(err, console.ErrNotValid) != notValid {
			t.Errorf("status %d: %+v, %v; want console.ErrNotValid: %v", code, who, err, notValid)
		}
	}
	w.answers[tokenPath] = func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	if who, err := exchange(t, p); err == nil || errors.Is(err, console.ErrNotValid) {
		t.Errorf("no answer: %+v, %v", who, err)
	}
	var read atomic.Int64
	_, p, w = through(t)
	w.answers[discoveryPath] = func() (*http.Response, error) {
		long := io.MultiReader(strings.NewReader(`{"issuer":"`), bytes.NewReader(bytes.Repeat([]byte("x"), 8*maxAnswer)))
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(counted{long, &read})}, nil
	}
	if to, err := p.AuthURL(t.Context(), signIn); err == nil || read.Load() > maxAnswer {
		t.Errorf("of a long answer %d bytes were read: %s, %v", read.Load(), to, err)
	}
}

type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// TestDiscovery: the result of discovery counts for an hour, a failure for two seconds, and an older result as long as no new one
// comes.
func TestDiscovery(t *testing.T) {
	_, p, w := through(t)
	failing := func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	ask := func(what string, works bool, asked int) {
		t.Helper()
		if _, err := p.AuthURL(t.Context(), signIn); (err == nil) != works {
			t.Errorf("%s: %v", what, err)
		}
		if w.asked[discoveryPath] != asked {
			t.Errorf("%s: the provider was asked %d times, want %d", what, w.asked[discoveryPath], asked)
		}
	}
	ago := func(d time.Duration) { p.tried = time.Now().Add(-d) }
	w.answers[discoveryPath] = failing
	ask("it is down", false, 1)
	ago(0)
	ask("a moment later", false, 1)
	ago(retryAfter)
	ask("two seconds later", false, 2)
	delete(w.answers, discoveryPath)
	ago(retryAfter)
	ask("it is up", true, 3)
	ago(discoverEvery - time.Minute)
	ask("almost an hour later", true, 3)
	ago(discoverEvery)
	ask("an hour later", true, 4)
	w.answers[discoveryPath] = failing
	ago(discoverEvery)
	ask("it is down again", true, 5)
}
