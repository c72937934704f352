// Package oidctest is an identity provider of OpenID Connect for tests: discovery, keys, authorization and tokens, with
// the faults that a test asks for. Only tests import it.
//
// Start begins one; its fields describe the person that it signs in.
package oidctest
