// Command trireme is a node of a Trireme cluster, and the command line to ask a running one.
//
// dev and serve run a node. They share one process (node.go) and differ by a profile: options of
// the cluster, credentials, what is printed once the node serves. The order of start and stop is in
// serveNode and shutdown. Flags (flags.go and the files named after their subject) may also be set
// by a variable or a YAML file (settings.go).
//
// This package joins what must not import each other: cluster, httpapi, resp and scheduler know
// each other only by small interfaces, implemented here (engine.go, admin.go, deliveries.go).
//
// All other commands are clients of a node's HTTP API (remote.go). Exit codes: 0 done, 1 failed,
// 2 wrong usage; an error is one line on standard error.
package main
