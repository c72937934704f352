// Package audit keeps a record of what is done to a cluster by those who administer it:
// who did what, from where, and what became of it. A record is a line of JSON in a file of
// its own, synced before the next one, or a line of the node's log. No secret is ever
// part of one.
package audit
