// Package spectest holds the specification of the keyspace gateway against the product,
// sentence by sentence. The index docs/reports/spec-index.md gives every sentence an id; the
// test of an id is the subtest of that name. Every test runs against one node in this
// process and against three, of which a random one takes each request.
package spectest
