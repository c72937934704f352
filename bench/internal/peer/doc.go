// Package peer starts and stops the servers that a benchmark compares: the product with
// one and three nodes, etcd with three members, NATS, Restate, asynq, webdis in front of
// redis-server.
//
// All listen on loopback, keep their data below one folder (so on one disk), end with the
// benchmark and leave their logs. A peer that is not installed is ErrMissing, and its row
// says so.
package peer
