// Package transport carries all traffic between the nodes of a cluster over one TCP port.
//
// # Purpose
//
// A Mux listens on the cluster address. Every connection opens with a handshake: the caller sends a Hello (which
// cluster, node, disk and process it is, which node it means to reach, and what the connection is for), and the
// listener answers one byte, or the reason for which it rejects the connection. The purpose decides who gets the
// connection afterwards:
//
//	ForRaft   raft's own transport (package consensus)
//	ForRPC    calls of this project, many at a time over one connection (Conn, Pool)
//	ForWatch  silent: the other side only waits for its end (cluster/consensus/failover)
//
// # Stages of a call
//
//  1. Pool.Get returns the open Conn to an address, or dials one. Payloads above BulkBytes use a second connection, so
//     that read confirmations and commit indexes never queue behind them.
//  2. Conn.Call registers the answer's callback under a fresh id and hands a frame (length, id, kind, payload) to the
//     connection's sendBuffer.
//  3. The sendBuffer writes what the socket takes at once, on the goroutine of the caller, together with all that other
//     callers have added meanwhile. What the socket does not take is written by a goroutine.
//  4. The listening side reads frames one by one and passes each to Callbacks.Handle, which answers now or later.
//  5. The calling side's reader finds the callback by its id and calls it.
//
// # Invariants
//
//   - A call's callback runs exactly once: with the answer, with the error of the connection's end, or with that of
//     Abandon.
//   - No caller ever blocks on a socket: a peer whose host was cut off or whose process stands still must not hold up a
//     leader that has a majority without it. A connection whose other side takes nothing for writeTimeout ends.
//   - Frames of one connection are written in the order of the calls.
//   - With Security set, a connection that is not mutual TLS is closed without an answer, whatever its purpose, and a
//     Hello counts only for the node that its certificate names (Hello.Proved).
//   - Connections of one peer, and handshakes that are not finished, are bounded.
//
// docs/design/transport.md says why this is neither gRPC nor yamux.
package transport
