package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/internal/httpclient"
)

// DefaultGroupsClaim is the claim with the groups unless an operator names another one.
const DefaultGroupsClaim = "groups"

// DefaultScopes returns the scopes that are asked for unless an operator names others.
func DefaultScopes() []string { return []string{oidc.ScopeOpenID, "profile", "email"} }

const (
	// timeout bounds each request to the provider.
	timeout = 10 * time.Second
	// maxAnswer is the most bytes of an answer that are read.
	maxAnswer = 1 << 20
	// discoverEvery is the time for which the result of discovery counts.
	discoverEvery = time.Hour
	// retryAfter is the time for which a failure of discovery counts.
	retryAfter = 2 * time.Second
)

// Options describe the provider and this client of it. Issuer and ClientID are required.
type Options struct {
	// Issuer is the URL at which the provider describes itself.
	Issuer string
	// ClientID and ClientSecret are the registered client's; a public client has no secret.
	ClientID, ClientSecret string
	// Scopes default to DefaultScopes; openid is always among them.
	Scopes []string
	// GroupsClaim is the claim of the ID token with the groups, a list or one name; a dotted
	// path looks into objects. The default is DefaultGroupsClaim.
	GroupsClaim string
	// Transport carries requests; the default is the standard one.
	Transport http.RoundTripper
	// Now is the clock by which tokens expire; the default is the system's.
	Now func() time.Time
}

// Provider is an identity provider; safe for concurrent use.
type Provider struct {
	o      Options
	client *http.Client

	mu         sync.Mutex
	discovered *oidc.Provider
	tried      time.Time
	failed     error
}

// New makes a provider. Nothing is asked of it yet: a node starts without it.
func New(o Options) *Provider {
	if len(o.Scopes) == 0 {
		o.Scopes = DefaultScopes()
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = DefaultGroupsClaim
	}
	if o.Transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.IdleConnTimeout = httpclient.KeepUnannounced // a code is exchanged by a POST, which is not sent again
		o.Transport = own
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Provider{o: o, client: &http.Client{Transport: limited{o.Transport}, Timeout: timeout}}
}

// limited ends answers that are too long.
type limited struct{ next http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// discover returns the provider's description of itself.
func (p *Provider) discover() (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	age := time.Since(p.tried)
	if p.failed != nil && age < retryAfter {
		return nil, p.failed
	}
	if p.discovered != nil && age < discoverEvery {
		return p.discovered, nil
	}
	// The keys are fetched later too, so nothing here may end with the request.
	found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), p.client), p.o.Issuer)
	p.tried = time.Now()
	if p.failed = err; err == nil {
		p.discovered = found
	}
	if p.discovered != nil {
		p.failed = nil // what was said before is better than nothing
	}
	return p.discovered, p.failed
}

func (p *Provider) config(found *oidc.Provider, a console.Attempt) *oauth2.Config {
	return &oauth2.Config{ClientID: p.o.ClientID, ClientSecret: p.o.ClientSecret, Endpoint: found.Endpoint(), RedirectURL: a.Redirect, Scopes: p.o.Scopes}
}

// AuthURL returns the URL at which the browser signs in. It fails if the provider can't be reached.
func (p *Provider) AuthURL(_ context.Context, a console.Attempt) (string, error) {
	found, err := p.discover()
	if err != nil {
		return "", fmt.Errorf("oidc: discovery: %w", err)
	}
	return p.config(found, a).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Exchange trades a code for the person. An error that is console.ErrNotValid says why the
// answer proves nothing; after any other one the provider may be asked again.
func (p *Provider) Exchange(ctx context.Context, a console.Attempt, code string) (who console.Person, err error) {
	found, err := p.discover()
	if err != nil {
		return who, fmt.Errorf("oidc: discovery: %w", err)
	}
	ctx = oidc.ClientContext(ctx, p.client)
	answer, err := p.config(found, a).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError:
		return who, notValid("the code was refused: %s %s", refused.ErrorCode, refused.ErrorDescription)
	case err != nil:
		return who, fmt.Errorf("oidc: exchange of the code: %w", err)
	}
	text, ok := answer.Extra("id_token").(string)
	if !ok {
		return who, notValid("it has no ID token")
	}
	token, err := found.Verifier(&oidc.Config{ClientID: p.o.ClientID, Now: p.o.Now}).Verify(ctx, text)
	if err != nil {
		return who, notValid("%s", err)
	}
	return p.personOf(token, a.Nonce)
}

// personOf looks at what a token whose signature, issuer, audience and age are right says.
func (p *Provider) personOf(token *oidc.IDToken, nonce string) (who console.Person, err error) {
	if nonce == "" || subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1 {
		return who, notValid("the nonce is of another sign-in")
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return who, notValid("the claims can't be read: %s", err)
	}
	if party, given := claims["azp"]; given && party != p.o.ClientID || !given && len(token.Audience) > 1 {
		return who, notValid("the token was issued to another client")
	}
	who.Subject, who.Name = token.Subject, nameOf(claims, token.Subject)
	if p.o.GroupsClaim == emailClaim && claims["email_verified"] != true {
		return who, notValid("the address is not verified")
	}
	who.Groups = groupsOf(claims, p.o.GroupsClaim)
	return who, nil
}

func notValid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", console.ErrNotValid, fmt.Sprintf(format, args...))
}
