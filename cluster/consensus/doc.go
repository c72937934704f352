// Package consensus is a node's part in one replicated log. It is the only package that knows the raft library
// (hashicorp/raft), together with those below it.
//
// The rest of the cluster sees Consensus: it proposes entries, takes and confirms read points, changes servers, transfers
// leadership, takes snapshots and asks who leads. Its StateMachine is given what was committed.
//
// # Seams
//
// A seam is a place where the library lacks something and this package adds it. docs/design/consensus.md has, for each,
// what is missing, the invariant, and the test that fails when a new version of the library breaks it.
//
//	replication      entries leave before the leader's disk has them; pipelines answer with early answers
//	logstore         the log, its cache, term and vote, snapshots, a watchdog of the disk
//	failover         campaigns with the consent of a majority
//	transport.go     raft's transport, with a channel for calls of this node's own; votes asked again over a new connection
//	commitindex.go   followers learn of commits without waiting for the next append
//	readindex.go     confirmation of a leader by answers to questions that were asked after the read
//	election.go      campaigns
//	timeouts.go      timeouts that follow the delays of the machine; leaders that nobody hears
//	statemachine.go  the state machine is told of changes of the servers
//
// # Invariants
//
//   - An answer to a proposal that failed is certain (NotLogged) only if the entry never reached a log store.
//   - A commit index is passed on with the term of its entry, so raft commits nothing that it has not compared.
//   - A node campaigns out of turn only with the consent of a majority.
//   - Nothing here waits for the state machine while it holds a lock.
//
// Package cluster opens one Replica for each node.
package consensus
