package main

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/httpapi/console"
)

// signOnSettings holds the flags of OpenID Connect.
type signOnSettings struct {
	Issuer      string
	ClientID    string
	Scopes      []string
	GroupsClaim string
	Roles       []string
	Redirect    string
	Age         time.Duration
}

// defaultSignOnAge bounds the session of a person who was removed at the identity provider.
const defaultSignOnAge = time.Hour

func signOnFlags(f *pflag.FlagSet, s *signOnSettings) {
	f.StringVar(&s.Issuer, "oidc-issuer", "", "`URL` of an OpenID Connect identity provider that signs in to the console (default: none)")
	f.StringVar(&s.ClientID, "oidc-client-id", "", "`ID` of the console at --oidc-issuer; the secret is TRIREME_OIDC_CLIENT_SECRET or in --oidc-client-secret-file")
	f.StringSliceVar(&s.Roles, "oidc-roles", nil, "`GROUP=ROLE` pairs: the role in the console of each group of --oidc-issuer; the first mapping that matches one of the person's groups applies")
	f.StringSliceVar(&s.Scopes, "oidc-scopes", []string{"openid", "profile", "email"}, "`SCOPES` to ask --oidc-issuer for")
	f.StringVar(&s.GroupsClaim, "oidc-groups-claim", "groups", "`CLAIM` of the ID token that lists the groups; a dotted path looks into objects")
	f.StringVar(&s.Redirect, "oidc-redirect-url", "", "`URL` of the console's /oidc/callback as browsers reach it (default: the address that the browser uses)")
	f.DurationVar(&s.Age, "oidc-session-age", defaultSignOnAge, "how long after a sign-in at --oidc-issuer the session ends, up to 12h")
}

// check reads the flags; there are no roles without an issuer.
func (s *signOnSettings) check() (o console.SignOn, err error) {
	if s.Issuer == "" {
		if s.ClientID != "" || len(s.Roles) > 0 || s.Redirect != "" {
			return o, cli.Usagef("--oidc-client-id, --oidc-roles and --oidc-redirect-url need --oidc-issuer")
		}
		return o, nil
	}
	switch {
	case !isURL(s.Issuer):
		return o, cli.Usagef("--oidc-issuer must be a URL such as https://login.example.com, without TLS on this machine only, got %s", s.Issuer)
	case s.ClientID == "":
		return o, cli.Usagef("--oidc-issuer needs --oidc-client-id")
	case len(s.Roles) == 0:
		return o, cli.Usagef("--oidc-issuer needs --oidc-roles: without it nobody has a role")
	case !slices.Contains(s.Scopes, "openid"):
		return o, cli.Usagef("--oidc-scopes must contain openid, got %s", strings.Join(s.Scopes, ","))
	case s.Redirect != "" && (!isURL(s.Redirect) || !strings.HasSuffix(s.Redirect, console.CallbackPath)):
		return o, cli.Usagef("--oidc-redirect-url must be an https URL that ends in %s, got %s", console.CallbackPath, s.Redirect)
	case s.Age <= 0 || s.Age > console.MaxAge:
		return o, cli.Usagef("--oidc-session-age must be above 0 and at most %s, got %s", console.MaxAge, s.Age)
	}
	for _, text := range s.Roles {
		role, err := console.ParseGroupRole(text)
		if err != nil {
			return o, cli.Usagef("--oidc-roles: %w", err)
		}
		o.Roles = append(o.Roles, role)
	}
	o.Redirect, o.Age = s.Redirect, s.Age
	return o, nil
}

// isURL reports whether text is an absolute URL of HTTP: over TLS, or to this machine.
func isURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback(net.JoinHostPort(u.Hostname(), "0"))
}

// signOn returns the identity provider that the flags name, or nil.
func (pr *process) signOn() (console.IdentityProvider, console.SignOn, error) {
	s := &pr.Console.SignOn
	o, err := s.check()
	if err != nil {
		return nil, o, err
	}
	secret, err := pr.secret(variableOf("oidc-client-secret"))
	if err != nil || s.Issuer == "" {
		return nil, o, err
	}
	return newProvider(s, secret), o, nil
}
