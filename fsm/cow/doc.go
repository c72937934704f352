// Package cow holds the copy-on-write B-tree that all ordered state is kept in. It
// counts its subtrees, so the rank of a key and the key at a rank cost a descent.
//
// Each node carries a mark of the version that owns it. A writer changes its own
// nodes in place and copies the others; Snapshot gives both sides new marks, so
// every node is foreign to both from then on. A version that is not written may be
// read by any number of goroutines without locks.
package cow
