// Package history records what clients of a cluster did and what they were answered. It
// is the only thing that the checkers see.
package history
