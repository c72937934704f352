// Package oidc asks an identity provider of OpenID Connect whom a browser has signed in as: the
// authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect Core 1.0, section 3.1).
//
// Provider is what httpapi/console asks. Discovery, keys and the checks of the ID token are those of
// github.com/coreos/go-oidc; beyond them the nonce, the authorized party and the groups are looked at here.
package oidc
