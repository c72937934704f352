// Package spectest tests what the specification says of workflows, sentence by sentence,
// and the rules of the protocol by which SDKs live. The index docs/reports/workflows-index.md gives
// each an id; the test of that name is here.
package spectest
