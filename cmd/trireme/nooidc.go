//go:build noconsole

package main

import "github.com/trireme-dev/trireme/httpapi/console"

// newProvider is never called: without a console there is no sign-in.
func newProvider(*signOnSettings, string) console.IdentityProvider { return nil }
