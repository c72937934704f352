// Package scheduler delivers messages while this node is leader: it claims attempts through the
// log, sends them over HTTP and records the results. It decides nothing: what is due, in which
// order, what counts as a retry and what becomes of a message is decided by fsm/queue, inside the
// state machine.
//
// The central types are Scheduler (the loop), Claimer (claims attempts through a node's log), Policy (its
// decisions without goroutines, which the simulation runs too) and Sender (one attempt over HTTP).
//
// One loop runs while this node leads (Scheduler.Run):
//
//   - it sleeps until something is due, an entry is applied, or a sender becomes free;
//   - it proposes an Advance for as many attempts as there are free senders; an attempt is in the
//     log before it is sent;
//   - each attempt runs in a goroutine of its own (Sender.Send);
//   - results are batched and recorded by Finish, up to 512 in one entry.
//
// While nothing is due, an Advance is attached to the next entry that makes something due (see
// Piggybacker), so that a publication and its first claim are one entry.
//
// A claim is a lease of ten seconds. One entry renews all running attempts every three seconds. An
// attempt whose lease could not be renewed is ended two seconds before the lease expires, so that
// no second leader runs it at the same time. When leadership ends, running attempts are ended and
// their outcomes, being unknown, are not recorded; results that are known by then are still
// recorded, through the next leader.
//
// One attempt is one request on the wire. The transport never sends a request again by itself: a
// request that may have reached the destination is followed only by another attempt in the log.
//
// After an election the number of senders grows over five seconds, so that a backlog doesn't reach
// the destinations all at once.
//
// Only cmd/trireme and test harnesses use this package. It does not import cluster: NodeClaimer
// takes what it needs of a node as an interface.
package scheduler
