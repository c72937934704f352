// Package runs checks workflow runs against docs/guarantees.md with real processes
// and an endpoint of its own that speaks the wire protocol.
//
// The endpoint records what each delivery showed of each step, which functions of steps
// ran, and how often. Every run is judged by that record and by its log, as any node
// returns it.
package runs
