package oidc_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/console/oidc"
	"github.com/trireme-dev/trireme/httpapi/console/oidctest"
)

var attempt = console.Attempt{Redirect: "http://node.example/console/oidc/callback", State: "state", Nonce: "nonce", Verifier: strings.Repeat("v", 43)}

// codeOf signs in and returns the code that the browser would bring.
func codeOf(t *testing.T, p *oidc.Provider) string {
	t.Helper()
	to, err := p.AuthURL(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(must(t, to))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || back.Query().Get("state") != attempt.State {
		t.Fatalf("%v %v", back, err)
	}
	return back.Query().Get("code")
}

func must(t *testing.T, to string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", to, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestExchange trades codes rightly and wrongly.
func TestExchange(t *testing.T) {
	idp := oidctest.Start(t)
	idp.SignIn(map[string]any{"groups": []string{"ops"}, "name": "Ann"})
	o := oidc.Options{Issuer: idp.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret}
	p := oidc.New(o)
	code := codeOf(t, p)
	who, err := p.Exchange(t.Context(), attempt, code)
	if err != nil || who.Name != "Ann" || who.Subject != "person-1" || len(who.Groups) != 1 {
		t.Fatalf("%+v %v", who, err)
	}
	refused := func(what string, p *oidc.Provider, a console.Attempt, code string) {
		t.Helper()
		if who, err := p.Exchange(t.Context(), a, code); !errors.Is(err, console.ErrNotValid) || who.Groups != nil {
			t.Errorf("%s: %+v %v", what, who, err)
		}
	}
	refused("a code that was used", p, attempt, code)
	other := attempt
	other.Verifier = strings.Repeat("w", 43)
	refused("another verifier", p, other, codeOf(t, p))
	other = attempt
	other.Redirect += "/elsewhere"
	refused("another redirect", p, other, codeOf(t, p))
	o.ClientSecret = "wrong"
	refused("a wrong secret", oidc.New(o), attempt, codeOf(t, p))

	o.ClientSecret, o.GroupsClaim = oidctest.ClientSecret, "email"
	byAddress := oidc.New(o)
	idp.SignIn(map[string]any{"email": "ann@example.com"})
	refused("an address that is not verified", byAddress, attempt, codeOf(t, byAddress))
	idp.SignIn(map[string]any{"email": "ann@example.com", "email_verified": true})
	if who, err := byAddress.Exchange(t.Context(), attempt, codeOf(t, byAddress)); err != nil || len(who.Groups) != 1 || who.Groups[0] != "ann@example.com" {
		t.Errorf("by address: %+v %v", who, err)
	}
}

// TestDiscoveryRefusesAnotherIssuer: the issuer that answers must name itself by the configured URL.
func TestDiscoveryRefusesAnotherIssuer(t *testing.T) {
	idp := oidctest.Start(t)
	p := oidc.New(oidc.Options{Issuer: idp.URL + "/", ClientID: oidctest.ClientID})
	if to, err := p.AuthURL(t.Context(), attempt); err == nil {
		t.Errorf("it is %s", to)
	}
	if _, err := p.Exchange(t.Context(), attempt, "code"); err == nil || errors.Is(err, console.ErrNotValid) {
		t.Errorf("%v", err)
	}
}
