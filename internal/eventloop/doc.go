// Package eventloop serves many connections without a goroutine for each.
//
// One goroutine polls their sockets (internal/socket) and hands those that have input to a function
// of the server, which reads them and runs what has arrived for all of them together. RESP and HTTP
// both have such a loop; docs/design/resp-event-loop.md has the reasons and the figures.
//
// An attached connection is idle or busy. An idle one has no owner and is claimed under the loop's lock. A busy one is owned by
// the goroutine that claimed it, until it is rearmed or detached. A connection that becomes readable while it is busy is noted
// and served again when it is rearmed, so no event is lost although the poller reports each once.
//
// Central types: Loop, Conn, State.
//
// Invariants: at most one goroutine owns a connection; after Stop every connection is given back, a busy one when it is rearmed.
package eventloop
