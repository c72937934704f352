// Package cluster makes a group of machines one replicated state machine: it replicates fsm.Machine by raft, applies
// every request at most once whoever leads, and decides where a read may be served. It knows nothing of commands.
//
// Node joins the parts; each has a file or a package of its own:
//
//	cluster/transport   the cluster port: handshake, TLS, calls between nodes
//	cluster/membership  gossip, discovery, the processes of other nodes
//	cluster/session     a node's pending requests and their identities
//	cluster/clock       the time that a leader writes into the log
//	cluster/consensus   the replicated log: raft, elections, the disk
//	propose.go, group_commit.go, batch.go            group commit
//	read.go, readindex.go, sessionlease.go           reads
//	lead.go                                          what a leader does
//	bootstrap.go, join.go, change.go, configure.go, remove.go    servers come and go
//
// # Group commit
//
// Stages of a write:
//
//  1. Propose gives the request a sequence of this node's session (session.Tracker.Add) and waits.
//  2. The proposer's goroutine takes everything that waits as one batch and sends it to the leader: by a call, or to its
//     own committer. Two batches of a node are in flight at most; what arrives meanwhile fills the next.
//  3. The leader's groupCommitter puts the batches of all nodes that wait into one entry. Before that it yields the
//     processor as long as that brings more requests. Nothing is delayed on purpose.
//  4. The entry is stamped with cluster time and a random seed and proposed (consensus.Consensus). One entry is in flight; a second
//     one is begun only when 32 KiB (cluster.overlapBytes) wait.
//  5. Every node applies the entry (adapter). The leader answers each batch with its outcomes; a node's own apply
//     resolves its requests too, and the first of the two ends the wait.
//
// Invariants:
//
//   - An entry names the term of the leader that made it. If the log's term differs, every node refuses the whole entry
//     and records nothing, so its requests stay repeatable.
//   - A batch is answered exactly once. "Certainly not applied" is only said when the entry is in no log: see consensus.NotLogged.
//   - A request is applied at most once: the state remembers, per session, the sequences above the low-water mark.
//   - No batch is accepted before the term's first entry has been applied here.
//
// Rejected: an entry for each request costs a disk sync for each; a fixed delay to fill batches costs that delay at low
// load, where group commit without a delay is as fast as a single write.
//
// # ReadIndex
//
// Stages of a linearizable read:
//
//  1. Reads of a node that arrive together share a round (reader), at most two in flight.
//  2. The leader shares rounds of all nodes again (readIndex): it takes the read time, then the commit index, and asks
//     the other voters for their term (consensus.Consensus.Confirm).
//  3. When a majority, asked after the read arrived, is in the leader's term, the round has its read point.
//  4. The asking node waits until its own machine has applied the index and reads its own state at the read time.
//
// Invariants:
//
//   - Only answers to questions asked after the reads arrived count, and only those that name the leader's term: a voter
//     raises its term before it grants a vote.
//   - The read time is taken before the index. An entry with an earlier stamp is then within the index.
//   - The read time is at most clock.ReadAhead above the last applied stamp, and a later leader starts there: what was
//     seen expired never comes back.
//   - A read point is used once. After an error a new one is asked for.
//
// Rejected: raft's VerifyLeader also counts answers to questions that were asked before the read arrived; leader leases
// depend on clocks that run at equal speed, and stop reads for a lease's length after each failover.
//
// # Failover
//
// A follower whose connection to the leader's process ends, whose new dial is refused and who has the consent of a
// majority campaigns at once; see package failover. So does one that hears nothing of the leader for a heartbeat timeout,
// as during a partition, if a majority hears nothing either (consensus/timeouts.go).
//
// Package cmd/trireme opens a Node; httpapi, resp and scheduler use it through the interfaces of package fsm.
package cluster
