// Package samples keeps a node's rates, latencies and sizes of the last hours in memory:
// what an operator looks at first, without a metrics server.
//
// History is a ring of Samples, safe for concurrent use; cmd/trireme runs one in each node,
// and httpapi answers it at /admin/history.
package samples
