// Package queue is the state machine of messages: publish, queues, flow control, delivery attempts, retries, callbacks,
// dead letters, schedules, URL groups and events. It holds all policy of deliveries; whoever sends is only a deliverer:
// it asks Advance what to send, sends it, and tells Finish how it went.
//
// # The life of a message
//
// Publish creates a message, CREATED. From then on it is in one place at a time, and each place is an ordered index:
//
//	backlog   of its queue: older messages of the queue have all the slots that parallelism gives
//	due       until its time comes (delay, not-before, backoff), or until there is a free sender
//	waiting   in its flow-control key's list, until the key's rate and parallelism admit it
//	parked    its host has as many attempts under way as one host may have
//	active    an attempt is claimed: ACTIVE
//	done      DELIVERED, FAILED or CANCELED
//
// # Stages of a delivery
//
//  1. Publish stores the record and its content, and puts the message into an index.
//  2. Advance comes with the time of an entry. It moves what has become due, applies flow control
//     and the limits of hosts, and claims: a message gets the number of its attempt, a lease, and
//     the sender that holds it.
//  3. The sender sends, and renews its leases for as long as its attempts run (Renew).
//  4. Finish takes the result with the number of the attempt. It marks the message delivered,
//     puts it back among the due ones with the delay that the leader computed, or moves it to
//     the dead letters, and publishes callbacks.
//  5. Advance takes back a message whose lease has ended. Its attempt counts as a retry.
//
// # Invariants
//
//   - A message is in exactly one of these places at a time.
//   - An attempt is judged by its number alone: the first result that names the current one
//     counts, whoever sends it, and every other result changes nothing.
//   - A claim of an earlier term is released by the first Advance of the next. Claims of queues
//     and of flow-control keys with parallelism 1 are held until after their lease, so that two
//     attempts never run side by side there.
//   - Flow-control windows count claims by the time of their entries.
//
// Nothing waits in memory of a leader, so a new leader has nothing to rebuild. Advance claims attempts, giving each a
// number and a lease, and Finish is judged by that number alone. What is derived (lags, wait lists, attempts under way)
// is counted from the indexes, never kept apart from them.
//
// Records are replaced, never modified, and every index is a copy-on-write tree, so that Fork costs the same whatever
// the store holds. Time, chance and the numbers that only a leader can compute (retry delays, cron times) come with the
// entry.
//
// # Rejected
//
// Claims in the leader's memory, without an entry, cost fewer entries, but a new leader would not
// know what runs, and would have to wait for every lease before it sends anything. An entry for
// each claim and each result: both come in batches, so that one disk sync serves many. A timer
// for each message: the index by time needs one timer, for its first message, however many wait.
//
// Package fsm calls it for operations and reads, workflow publishes through it, and scheduler
// sends what it claims.
package queue
