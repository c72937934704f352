// Package failover makes a follower campaign at once when the leader's process has died or a majority hears nothing of it,
// instead of when raft's timers have ended, on hashicorp/raft v1.8.0.
//
// # Stages
//
//  1. Each follower keeps one idle connection to the leader's cluster port (Config.Watch).
//  2. The connection ends. The follower dials again: a refused dial, or a process there that says that it does not lead,
//     proves that the leader's process has ended. Anything else proves nothing. Or: this node hears nothing of the leader
//     for a heartbeat timeout (Config.Silent).
//  3. The follower asks the other voters (Config.Ask). A voter agrees if it hears nothing either, or finds the leader dead
//     by its own dial, is not ahead in its log, and campaigns itself neither now nor for a moment (the promise). Of a
//     leader that is only silent (Ask.Silent) no dial is made.
//  4. With the consent of a majority, and after it has looked once more, the follower campaigns (Config.Campaign).
//
// # Invariants
//
//   - A connection that was never established proves nothing: only a leader that could be reached can be found dead.
//   - Never on EOF, a timeout or late heartbeats of one node alone; never by a leader, a candidate or a non-voter.
//   - At most five campaigns (budget) in ten seconds.
//
// Consent is needed because such a campaign skips the pre-vote, and its RequestVote makes peers vote although they have a
// leader, and makes a live leader step down before it has compared logs.
//
// # Rejected
//
// A shorter heartbeat timeout finds dead processes as fast, but takes a busy machine's pause for a death. A campaign
// without consent splits half of the elections: measured in docs/design/failover.md.
//
// Package consensus starts a Watcher for each node.
package failover
