// Package search holds the replicated definitions of search indexes and their aliases, and reads the fields of
// documents from values.
//
// A definition says which keys are documents and which of their fields can be searched. What
// was found in the documents is no part of the state: each node derives it for itself
// (node/searchindex), after the entry is applied and outside the digest of the state. So
// nothing here knows of terms, scores or results; a read gets them from Index.
//
// Invariants: definitions and aliases are in the order of their names; a definition is never
// changed, another one takes its place; no two definitions of a database ever have one
// Serial.
package search
