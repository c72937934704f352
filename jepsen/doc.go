// Package jepsen runs workloads against a real cluster while a nemesis injects faults,
// and has checkers judge what the clients saw.
//
// Config describes one run, Run performs it, Soak performs many and keeps their totals.
// Goals are the conditions under which a run counts: enough operations and enough of each fault.
// A run is drawn from a seed, so a failing one can be repeated; its schedule is stored and
// can be replayed. docs/reliability.md says how to read the results.
package jepsen
