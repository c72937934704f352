// Package scheduler is the leader's hands: it sends what the state machine has claimed
// and says how it went. It decides nothing. What is due, who waits for whom, what counts
// as a retry and what becomes of a message is policy, and policy is in fsm/queue.
//
// One loop runs while this node leads (Scheduler.Run):
//
//   - it sleeps until something is due, something is applied, or a sender becomes free;
//   - it asks Advance for as many attempts as there are free senders; an attempt is in
//     the log before it is sent;
//   - each attempt runs in a goroutine of its own (Sender.Send);
//   - results are gathered and go to the log hundreds to an entry, by Finish.
//
// A claim is a lease of ten seconds. Every three seconds one entry renews those that
// run. An attempt whose lease could not be renewed is ended two seconds before the lease
// ends, so that no second leader runs it at the same time. When leadership ends, running
// attempts are ended and their outcomes, being unknown, are not told; results that were
// known by then are still handed in, through whoever leads next.
//
// After an election the number of senders grows over five seconds, so that a backlog
// doesn't meet the destinations all at once.
package scheduler
