// Package oidc signs people in at an identity provider of OpenID Connect: the authorization code flow with PKCE (RFC
// 6749, RFC 7636, OpenID Connect Core 1.0, section 3.1).
//
// Provider is the identity provider of httpapi/console. Discovery, keys and the checks of the ID token come from
// github.com/coreos/go-oidc; this package also checks the nonce and the authorized party, and reads the groups.
package oidc
