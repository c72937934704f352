// Package attack has the attacks of the threat model (docs/security.md) as programs against a real cluster of three
// nodes, and the clients of another database that are served meanwhile.
//
// An attack knows what its attacker could know, and does by raw connections and ordinary requests what an attacker
// would do. It returns an error if anything of it succeeds. Victims measure what the clients of another database see:
// latencies count from the moment at which a request was due, so that a request that waits for the one before it is not
// left out.
//
// Invariants: an attack leaves the cluster as it was, but for keys of its own database. Only jepsen/cmd/accept calls
// this package.
package attack
