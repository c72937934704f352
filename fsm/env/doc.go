// Package env holds the inputs of one apply: its place in the log, cluster time, the feature level, and a
// generator seeded by the entry. Nothing under fsm may learn anything else.
package env
