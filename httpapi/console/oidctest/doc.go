// Package oidctest is an identity provider of OpenID Connect for tests: discovery, keys, authorization and tokens, with
// whatever is wrong about them that a test wants. Only tests import it.
//
// Start begins one; its fields say whom it signs in.
package oidctest
