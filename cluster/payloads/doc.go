// Package payloads keeps the large payloads of a node's state (fsm/payload) on its disk: the bodies of messages that wait,
// of events and dead letters, and the results of steps and runs.
//
// A payload stays in memory while it is young: most are delivered and forgotten before they are a minute old. What is older,
// or more than the memory for young ones holds, is written to a segment file by Store.Run, and its bytes in memory are let go.
// Reading it reads the file, and checks the digest.
//
// # Invariants
//
//   - The segments are no part of what is durable: the log and the snapshots have every byte, so nothing here is synced, a
//     node that starts removes what its predecessor left and reads the payloads from the snapshot again, and a lost
//     directory costs a restart.
//   - Bytes that are returned have the digest of those that were kept. Bytes that can't be read, or have another digest, are
//     fetched from another node and written anew; if none has them, the node ends (Options.Fatal): it could not go on
//     equal to the others.
//   - A payload lives as long as something refers to it: the state, a fork of it, or a reader. The Store has weak pointers only,
//     so nobody has to say what is not needed any more. A segment of which less than half is alive is copied together.
//
// # Rejected
//
// Segments that snapshots refer to: a snapshot would be small, but the files would have to be synced, linked, sent and
// verified with it, on every path by which a state travels. Reference counts: every fork, reader and undo of a transaction
// would have to keep them. A key-value store: what is wanted is an append and a read by position.
//
// Package cluster opens a Store for its machine.
package payloads
