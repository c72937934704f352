// Package env says what one apply may know of the world: its place in the log,
// the cluster's time, the feature level, and a generator seeded by the entry.
// Nothing under fsm may learn anything else.
package env
