// Package proc starts the servers of a benchmark as child processes that cannot outlive
// it, keeps their output, and finds ports for them.
package proc
