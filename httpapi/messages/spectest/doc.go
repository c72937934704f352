// Package spectest holds the API of messages against its specification and the protocol
// of existing clients, rule by rule: three nodes that deliver, a random one for each
// request, and every reply held against the description. docs/reports/messages-index.md names
// each rule and its test.
package spectest
