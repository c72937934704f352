// Package sim runs histories of a whole cluster in one process and in virtual time: three state machines behind a model
// of the log. Leaders come and go as the history says, entries under way survive or are lost, batches and answers arrive,
// are lost or arrive after they were given up, processes end and start again from their snapshots, and snapshots jump
// over entries.
//
// What is simulated is the product's own code: fsm.Machine, the identities and retries of requests (cluster/session),
// cluster time (cluster/clock) and what the scheduler decides (scheduler.Policy). A model stands for raft, the network,
// the disks, the destinations of messages and the clients. Raft is modelled by what it promises: entries of a term
// follow those of earlier terms, what is committed stays, and of what is not committed a new leader keeps a beginning.
// Processes run on time: a stopped one is not part of the model, because it takes real ones to see what a pause does.
//
// A history is a list of steps drawn from a seed. Every list is a valid history, so a failing one is made smaller by
// leaving steps out.
package sim
