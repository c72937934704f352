// Package env holds the inputs of one apply: its place in the log, cluster time, the feature level, and a
// generator seeded by the entry. Nothing under fsm may learn anything else.
//
// Env has what is replicated. What the node that applies it wants to be told, and what it lends to reads, is its Node, a value
// of the machine's owner that no result depends on.
package env
