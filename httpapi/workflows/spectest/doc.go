// Package spectest tests the workflows API against its specification, sentence by sentence, and the protocol rules
// that SDKs depend on. The index docs/reports/workflows-index.md gives each an id; the test of that name is here.
package spectest
