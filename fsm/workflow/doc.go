// Package workflow is the state machine of workflows: runs, the log of each run, waiters, invoked runs, dead
// letters of runs, and the deliveries to a workflow's endpoint.
//
// # The model
//
// A run owns an append-only log of entries. Entry 0 is the payload that the run was started with. Every other one is
// what an SDK has submitted (a step's result, or the plan of a parallel one), what the state machine writes itself
// (the result of a wait or of an invoked run), or what it keeps of a call to a third party.
//
// Each entry that is appended is delivered once to the run's endpoint, as a message of package queue: that is the only
// thing which moves a run. A delivery carries the log up to its entry and nothing behind it. Its body is not stored; it
// is made of the log when an attempt is sent (Store.Delivery), so a run of a thousand steps costs a thousand entries.
//
// # Stages of a step
//
//  1. The endpoint is called with the log of its run. The SDK there runs the program up to the
//     first step that has no result, and submits that step's result or plan (Submit).
//  2. Submit appends an entry for each new step. A step that has an entry already is answered with
//     that one.
//  3. An entry that must wait registers a waiter (an event, an invoked run), a call to a third
//     party, or a message with a delay (a sleep). All others are published at once.
//  4. queue.Store.Advance claims the message of the entry, its body is made of the log, and the
//     endpoint is called again.
//  5. The run ends when the endpoint answers with its result, when a failure has used up its
//     retries, or when it is cancelled. Its waiters and messages end in the same entry.
//
// # What happens once
//
// The first committed result of a step wins: a mark names the entry of each (run, step), and every later submission is
// answered with that entry. Waiters, calls and invoked runs have marks too. A waiter is taken out by whatever comes first
// in the log: notify, timeout, or the end of its run. A dead letter is consumed by the entry that makes its new run.
//
// # Determinism
//
// As everywhere below fsm: records are replaced, never modified, indices are copy-on-write trees, and time, chance and
// numbers that only a leader can compute come with the entry.
//
// # Rejected
//
// A worker that holds a run in memory between its steps: it would be lost with its node, and a run
// that sleeps for a month would cost memory for a month. Storing the body of each delivery: a run of
// n steps would store n bodies of up to n steps. Timers of their own for sleeps: a sleep is a
// message with a delay, so there is one retry policy and one flow control for all.
//
// Package fsm calls it for operations and reads; httpapi/workflows reads requests into its types. It
// imports queue, never the reverse.
package workflow
