// Package membership tracks the other nodes of the cluster in addition to raft's configuration, which alone says
// who belongs to the cluster: who is reachable (Members, by gossip), how a joining node finds the cluster
// (Discovery), and the last known process of each peer's disk (Incarnations).
//
// # Invariants
//
//   - Nothing here changes raft's configuration, and no read or write depends on gossip.
//   - Gossip and discovery never cross clusters: packets carry the cluster id as their label, and answers are sealed with
//     the gossip key if there is one.
//   - The incarnation of a peer is on this node's disk before any promise of that process, a vote or an acknowledged
//     entry, is counted. So a process whose disk has forgotten the promise is never taken for its successor.
//   - An incarnation is only recorded for a process that has proved itself: by the certificate of its connection, or by
//     answering at the address that raft's configuration gives it. A claim in a caller's Hello is judged, not recorded.
//
// Package cluster uses it; cmd/trireme opens Members.
package membership
