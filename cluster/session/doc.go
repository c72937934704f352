// Package session tracks the requests of one node until each has its outcome. It gives every request an identity, puts
// what waits into batches for the leader, and decides what becomes of a request when a batch's answer comes, fails, or
// never comes.
//
// # Stages of a request
//
//  1. Add gives it the next sequence of the process's session and queues it.
//  2. Take puts everything queued into a batch, up to MaxBatchBytes; at most two batches are in flight, and what arrives
//     meanwhile fills the next. Every request of a batch counts one attempt that may have put it into a log.
//  3. Finish processes the leader's answer; Resolve the outcomes of entries that this node's own state machine has
//     applied. Whichever comes first ends the request.
//  4. A batch without outcomes makes everything that has none be sent again, in sequence order, before anything new.
//  5. Overdue, Cancel, Expire and Restored end requests whose outcome can't be awaited any longer.
//
// # Invariants
//
//   - A request's outcome is delivered exactly once.
//   - "Not applied" is only told of a request with no attempt left that may be in a log; otherwise the outcome is
//     fsm.ErrUnknown. An attempt is only taken back if the leader certainly did not propose it.
//   - Each batch carries the low-water mark: no sequence below it is pending. The state machine never applies a sequence
//     below the mark, nor one twice, so repeating a request is safe.
//   - A session that the state machine doesn't know any more ends: what was sent under it is unknown, only what was never
//     sent moves to the next session.
//
// The package has no goroutines, sends nothing and gets the time from outside, so that the simulation (jepsen/sim) runs
// the same code as the product. Package cluster drives it.
//
// # Rejected: remembering ids for a time
//
// A table of request ids with a lifetime would need gigabytes at full speed, and a lifetime that is too short applies a
// late repetition twice. A session with sequences needs only what is in flight.
package session
