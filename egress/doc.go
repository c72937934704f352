// Package egress is the way out to the destinations of messages: which addresses may be
// reached, and the HTTP transport that holds to it.
//
// An address is judged when it is dialed, after the name was resolved, so that a name
// which resolves to something else the second time, a redirect, or an odd spelling of an
// address makes no difference. By default only the public Internet is open. Names of
// hosts are never judged.
//
// Behind a proxy the proxy resolves names, so the check of what they resolve to is the
// proxy's duty; addresses written out in a URL are still judged here (docs/design,
// deliveries).
package egress
