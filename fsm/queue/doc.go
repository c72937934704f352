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
// Nothing waits in memory of a leader, so a new leader has nothing to rebuild. Advance claims attempts, giving each a
// number and a lease, and Finish is judged by that number alone. What is derived (lags, wait lists, attempts under way)
// is counted from the indices, never beside them.
//
// Records are replaced, never modified, and every index is a copy-on-write tree, so that Fork costs the same whatever
// the store holds. Time, chance and the numbers that only a leader can compute (retry delays, cron times) come with the
// entry.
package queue
