// Package testapi is the HTTP API under /test of a development server whose clock is controlled by a test: it
// moves cluster time, waits until nothing is in flight, lists deliveries, answers deliveries by a script, and
// empties the server. docs/testing.md has the reference.
//
// Moving time forward goes from one due time to the next: the clock is set to it, everything due runs, and the next one
// comes only when nothing is under way any more. So deliveries, retries, schedules and sleeps happen in the order and
// at the times they would have happened at, and a year takes as long as what is due in it.
//
// The package uses the node through the small interface Node. Only cmd/trireme makes one, and only for "trireme dev
// --clock".
package testapi
