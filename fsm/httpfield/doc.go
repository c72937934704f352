// Package httpfield judges the header fields of HTTP messages: which belong to a connection and are not passed on.
//
// Everything that passes headers on asks IsHopByHop or EndToEnd, in every direction: publications, deliveries, their
// answers, webhooks and calls of providers. Its functions have no state, so the state machine calls them too.
package httpfield
