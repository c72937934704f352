// Package spectest tests the messages API against its specification and the protocol of existing clients, rule by
// rule: three nodes that deliver, a random one for each request, and every reply checked against the OpenAPI
// description. docs/reports/messages-index.md names each rule and its test.
package spectest
