// Package stats counts what a node does for clients, by database: what INFO, SLOWLOG and LATENCY show. The HTTP and RESP servers
// of a node share one Node and report calls that they have answered; the command table reads it as command.Figures. Nothing of it
// is replicated or kept across a restart.
//
// Counting a call takes a few atomic additions and no lock, unless the call failed or was
// slow; a Database is made at its first use and never removed.
package stats
