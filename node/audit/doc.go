// Package audit records administrative actions on a cluster: who did what, from where, and the outcome. A record is a line of
// JSON in a file of its own, synced before the next one, or a line of the node's log. No secret is ever part of one.
package audit
