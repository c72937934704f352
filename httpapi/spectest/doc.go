// Package spectest tests the keyspace gateway against its specification, sentence by sentence. The index
// docs/reports/spec-index.md gives every sentence an id; the test of an id is the subtest of that name. Every test
// runs against one node in this process and against three, of which a random one takes each request.
package spectest
