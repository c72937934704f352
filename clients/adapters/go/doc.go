// Program go runs one of Go's published clients of Redis against three nodes whose leader is killed in the middle:
//
//	go HOST PORT PASSWORD NAME
//
// It writes the client's version, waits for a line, goes on over the same connections, and ends with "ok". See
// clients/adapters/test.mjs, which runs it.
//
// It is a module of its own so that the dependencies of these clients never meet those of the product.
package main
