// Package payloads keeps the large payloads of a node's state (fsm/payload) on its disk: the bodies of messages that wait,
// of events and dead letters, and the results of steps and runs.
//
// A payload stays in memory while it is young: most are delivered and forgotten before they are a minute old. What is older,
// or more than the memory for young ones holds, is written to a segment file by Store.Run, and its bytes in memory are let go.
// Reading it reads the file, and checks the digest. Payloads with the same bytes have one place.
//
// Snapshots name payloads by their digests. Place writes what a snapshot names to segments, Sync makes the segments durable,
// and a Pin keeps them until the snapshot is gone. Named returns the payloads that a snapshot names, and a Gathering
// fetches those that this node lacks.
//
// # Files
//
// A segment is a sequence of payloads, each behind a head: magic number, length, stored length, digest, CRC-32C of the
// head. The stored bytes are compressed if that makes them an eighth smaller; length and digest are those of the payload. A
// segment that is full is synced, and ends with a list of its payloads, which has a checksum. A start reads the lists. It
// reads a segment without a sound list whole, and cuts off what a crash has left at its end.
//
// # Invariants
//
//   - A snapshot is complete only after everything that it names is in segments, and these are synced. Whoever takes one calls Pin
//     before it forks the state, and Sync before it closes the snapshot.
//   - A segment is removed only if nothing in memory refers to it, and every snapshot on the disk began after that was seen.
//   - Bytes that are returned have the digest of those that were kept. Bytes that can't be read, or have another digest, are
//     fetched from another node and written anew; if none has them, the node ends (Options.Fatal): it could not go on
//     equal to the others.
//   - A cold string has no handle here: what refers to it refers to the payload.Shelf of its segment, of which the Store has a weak
//     pointer. It moves to another segment only when the walk over the state puts it there.
//   - A payload lives as long as something refers to it: the state, a fork of it, or a reader. The Store has weak pointers only,
//     so nobody has to say what is not needed any more. A segment of which less than half is alive is copied together.
//
// # Rejected
//
// Reference counts: every fork, reader and undo of a transaction would have to keep them. Lists of the segments that each
// snapshot needs: the order of events says it, and a list would be one more file that can be damaged. A key-value store: what
// is wanted is an append and a read by position.
//
// Package cluster opens a Store for its machine.
package payloads
