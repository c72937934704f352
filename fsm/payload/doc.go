// Package payload holds the large byte strings of messages and runs: bodies, answers and results, which clients send once
// and which are read again seldom, often after days.
//
// A Payload is an immutable byte string. Where its bytes are is no part of the state: a Keeper, which belongs to the node,
// may have moved them to its disk. Equal on all nodes are the bytes themselves, and with them their length and their
// Digest. So nothing that changes the state may depend on their place, and nothing here does I/O: Keeper is an interface.
//
// From Apart bytes on a string is stored as a Payload of its own on every node, whatever its keeper does, since the
// digest of a state and the memory that it counts must be equal everywhere. See docs/design/payloads.md.
//
// A large string of the keyspace becomes one when it has not been used for a while: see docs/design/cold-values.md.
//
// Packages keyspace, queue and workflow use it, and cluster/payloads keeps.
package payload
