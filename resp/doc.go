// Package resp serves the Redis protocol (RESP2 and RESP3). It parses commands, proposes
// those that write to the log, runs those that only read on a linearizable view, and writes
// the replies of a connection in the order of its commands. What belongs to a connection is
// kept here: its identity, a transaction that is being queued, subscriptions, tracking, a
// blocked call. Everything else is in the state machine behind Engine.
//
// # Stages of a command
//
//  1. Input (input.go, protocol): bytes are read into one buffer for each connection; a
//     command's words alias it until the command was executed. Announced lengths are checked
//     before memory is allocated.
//  2. Dispatch (dispatch.go): the command's row is looked up. Commands about the connection
//     run at once; inside MULTI commands are queued; blocking ones wait in the registry of
//     blocked clients (blocked.go); all others join the connection's pipeline.
//  3. Pipeline (pipeline.go): consecutive commands that may run together become one request
//     to the log, or one read. A script is a request of its own.
//  4. Replies (conn.go, output.go): values are encoded in order and written without waiting;
//     what the socket does not take is queued, and the connection's commands wait while too
//     much is queued.
//
// # The event loop
//
// A connection starts with a goroutine. After four rounds of simple commands it attaches to
// the event loop (eventloop.go), which polls all attached sockets from one goroutine, reads
// those that are readable, and puts the pipelines of different connections into batches
// (batch.go): one log request or one view for each user. The goroutine of a batch waits for
// the outcome, writes the replies, reads from those connections that have sent more, and
// starts the next batch. Anything that is not simple detaches the connection, which then has
// a goroutine again: there is one implementation of everything else.
//
// A connection whose blocking command waits is parked (parked.go): a second loop watches its socket, and the answer gives
// it a goroutine again.
//
// Invariants:
//   - A connection has one owner: its goroutine, or the batch that holds its commands, or the loop that reads from a parked one, or
//     nobody (attached or parked, and idle). Only the owner touches fields outside info and output. An
//     idle connection is claimed by package eventloop.
//   - One request of a connection is under way at a time, so its replies are in order.
//   - A readiness event for a busy connection is noted, and Rearm reads it again:
//     no event is lost although the poller is edge-triggered.
//   - A batch has rows of one identity. A request refused because the credential was revoked
//     has changed nothing; its connections detach and authenticate again.
//   - Code that closes a socket from outside tells the event loop (socketClosed), because a
//     closed descriptor reports no event.
//
// Rejected designs, with figures, are in docs/design/resp-event-loop.md: a goroutine for
// each connection (half of the processor time went to the scheduler and to bookkeeping of
// requests), serving inside the runtime's poller callback, and a blocking epoll_wait.
//
// Who may call: cmd/trireme makes a Server, passes it the notifications of the machine
// (Notify, Restored) and shuts it down. Nothing below resp imports it.
package resp
