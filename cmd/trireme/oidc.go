//go:build !noconsole

package main

import (
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/console/oidc"
)

func newProvider(s *signOnSettings, secret string) console.IdentityProvider {
	return oidc.New(oidc.Options{Issuer: s.Issuer, ClientID: s.ClientID, ClientSecret: secret, Scopes: s.Scopes, GroupsClaim: s.GroupsClaim})
}
