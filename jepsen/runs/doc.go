// Package runs holds workflow runs to what is promised of them (contract C10), with real
// processes and an app of its own that speaks the wire protocol.
//
// The app keeps a book: what each delivery showed of each step, which functions of steps
// ran, and how often. Every run is judged by that book and by its log, as any node tells
// it.
package runs
