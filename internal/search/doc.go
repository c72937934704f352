// Package search keeps a node's search indexes: inverted indexes of the documents that the
// definitions in the state name (fsm/search), and what answers SEARCH.QUERY, SEARCH.COUNT
// and SEARCH.AGGREGATE from them. docs/design/search.md has the reasons.
//
// An Engine belongs to one machine. It receives every applied entry, and one goroutine
// brings the indexes up to the state: it looks at keys that have changed, and at all keys
// when an index is new or the state was replaced. Reads wait until that goroutine has passed
// the index of their state. Nothing of it is replicated, and no result reaches the state.
//
// Invariants:
//
//   - An index that has reached position p has every document as the state has it at p, or
//     later for documents that have changed since.
//   - The result of a query depends on the documents alone: not on the order in which they
//     came, not on the node. Equal scores are ordered by key.
//   - Documents whose key has passed its deadline are in no result.
//
// Cluster and the tests' engines make one for each machine; no other package may.
package search
