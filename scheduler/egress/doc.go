// Package egress decides which addresses deliveries may reach (Policy) and sends their HTTP requests
// accordingly (NewClient).
//
// An address is checked when it is dialed, after the name was resolved, so that a name that resolves
// to something else the second time, a redirect, or an odd spelling of an address makes no
// difference. By default only the public Internet is allowed. Names of hosts are never checked.
//
// With a proxy, the proxy resolves names and must check what they resolve to; addresses written out
// in a URL are still checked here (docs/design/deliveries.md).
//
// Invariants: redirects are returned, not followed; a request is sent at most once, see
// httpclient.Client. The scheduler and cmd/trireme use this package.
package egress
