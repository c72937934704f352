// Package searchindex keeps a node's search indexes: inverted indexes of the documents that the
// definitions in the state name (fsm/search), and what answers SEARCH.QUERY, SEARCH.COUNT
// and SEARCH.AGGREGATE from them. docs/design/search.md has the reasons.
//
// An Engine belongs to one machine. It receives every applied entry, and a few workers bring
// the indexes of one database after the other up to the state: they look at keys that have
// changed, and at all keys when an index is new or the state was replaced. Reads wait until
// the indexes of their database have passed the index of their state. Nothing of it is
// replicated, and no result reaches the state.
//
// What indexes take is counted for their database and for the node. One that would take more
// than there is room for is suspended: it is dropped, and searches of it say why.
//
// Invariants:
//
//   - One worker at a time fills the indexes of a database. Nothing waits while it holds Engine.mu,
//     and a worker that waits for a search has no turn.
//   - An index that has reached position p has every document as the state has it at p, or
//     later for documents that have changed since.
//   - The result of a query depends on the documents alone: not on the order in which they
//     came, not on the node. Equal scores are ordered by key.
//   - Documents whose key has passed its deadline are in no result.
//
// Cluster and the tests' engines make one for each machine; no other package may.
package searchindex
