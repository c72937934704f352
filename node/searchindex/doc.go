// Package searchindex keeps a node's search indexes: inverted indexes of the documents that the
// definitions in the state name (fsm/search), and what answers SEARCH.QUERY, SEARCH.COUNT
// and SEARCH.AGGREGATE from them. docs/design/search.md has the reasons.
//
// Indexes belong to one machine. They receive every applied entry, and a few workers update the indexes of one database after the
// other: they read the keys that have changed, and all keys when an index is new or the state was replaced. A search waits until
// its index has reached the log index of its state. Nothing here is replicated, and no result reaches the state.
//
// The memory of indexes is charged to their database and to the node. An index that would
// exceed a limit is suspended: its contents are dropped, and its searches fail with the reason.
//
// Invariants:
//
//   - One worker at a time fills the indexes of a database. Nothing waits while it holds Indexes.mu,
//     and a worker that waits for a search has no turn.
//   - An index that has reached position p has every document as the state has it at p, or
//     later for documents that have changed since.
//   - The result of a query depends on the documents alone: not on the order in which they
//     came, not on the node. Equal scores are ordered by key.
//   - Documents whose key has passed its deadline are in no result.
//
// Cluster and the tests' engines make one for each machine; no other package may.
package searchindex
