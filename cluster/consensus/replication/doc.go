// Package replication carries raft's log entries from the leader to its followers.
//
// # Purpose
//
// raft's own transport encodes an append by reflection, once for each follower, and is given an entry only after the
// leader's disk has it, so the syncs of leader and follower follow one another. Here an append has a format of its own
// (AppendRequest), and the leader's entries leave before its own disk has them.
//
// # Stages of an entry
//
//  1. raft's main loop stores the leader's entries: log.StoreLogs. It encodes them once and puts them on the pipeline
//     of each follower that has everything before them, then writes and syncs them on this node's disk.
//  2. The follower's raft gets them like any append, and syncs them. Its answer is kept.
//  3. When the leader's disk has them, raft counts its own vote and gives each pipeline the same entries. They are
//     not sent again: the pipeline answers with what the follower has answered, or will.
//
// Everything else goes through raft's own transport: votes, heartbeats, snapshots, appends to a follower that has to catch up
// until it has answered once, and all appends to a node of an older version, which answers the probe at the beginning of a
// pipeline with "unknown call".
//
// # Invariants
//
//   - A node counts for a commit only with what its disk has: the leader's vote is counted by raft after StoreLogs, a
//     follower's answer comes after its sync. Entries that were sent early and that the leader's disk refuses are like
//     entries of a leader that died: their outcome is unknown, and a later leader may commit them. Their term is never
//     used for others: raft steps down when its log store fails.
//   - An answer is given to raft for an append only if it covers it: same term, same last index. By raft's log
//     matching a follower that has taken the last entry from this leader has all before it.
//   - Calls leave in the order of the log, on one connection, so an early append never overtakes the one before it.
//   - raft's main loop never waits for a socket or a slow follower: such a follower gets nothing early.
//   - A malformed call is an error, and takes no more memory than its bytes.
//
// # Rejected
//
// A log store that returns before its sync: raft would count the leader's vote for what a crash can take.
package replication
