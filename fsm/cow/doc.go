// Package cow holds the copy-on-write B-tree that all ordered state is kept in. It
// counts its subtrees, so the rank of a key and the key at a rank cost a descent.
//
// BTree is an ordered map. Sequence is a list with positions, whose items may be runs of elements. Builder makes a BTree of keys
// that come in order, as the records of a snapshot do.
//
// # Stages of a change
//
//  1. A search walks from the root to the key and remembers the path. Each node keeps the heads
//     of its keys (8 bytes, mostly a hash) in one array, so that a search reads few lines of
//     memory.
//  2. Each node of the path that another version may share is copied (own). Nodes that this
//     version has copied or made before are changed in place.
//  3. The key is put in or taken out. A full node is split, a node that has become too small
//     borrows from its neighbour or joins it, and the sizes on the path are corrected.
//
// # Invariants
//
//   - Each node carries the owner that may change it in place. Snapshot ends the right of that owner, and
//     both sides take new ones with their next change, so that every node is foreign to both. This takes
//     constant time, and several goroutines may do it at once to a version that nobody changes.
//   - A version that is not written may be read by any number of goroutines without locks.
//     Writing one needs exclusive access to that version only.
//   - Between two snapshots a version copies a node at most once, so many changes after a fork
//     cost little more than without one.
//   - What is stored is not copied with its node. Values must be replaced, never modified, or
//     carry an owner of their own.
//   - Sizes of subtrees are exact, so the rank of a key and the key at a rank cost a descent.
//
// # Rejected
//
// A hash table forks only by copying it, or by fork(2), which a Go process can't use. A tree that
// copies the path at every change (a persistent tree) allocates several nodes for each write
// although no snapshot is open. Reference counts in nodes would say exactly which are shared,
// but need an atomic write for each child of a copied node, and a walk when a snapshot ends.
//
// The packages below fsm keep their state in it. It imports nothing.
package cow
