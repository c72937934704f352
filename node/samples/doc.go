// Package samples keeps a node's rates, latencies and sizes of the last hours in memory:
// what an operator looks at first, without a metrics server.
//
// History keeps the newest Samples and is safe for concurrent use; cmd/trireme runs one in each node,
// and httpapi answers it at /admin/history.
package samples
