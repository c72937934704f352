// Package fsm is the state machine: everything that is true in the cluster, and
// every operation that may change it.
//
// The rules of determinism, which rules_test.go checks for this package and all
// below it:
//
//   - The result of an apply depends on the state, the entry and its place in the log,
//     and on nothing else. Time and chance come in the entry, stamped by the leader.
//   - No clock, no random source, no network, no file, no goroutine, no select, no
//     environment; locks in machine.go only.
//   - Nothing that can reach the state or a reply iterates over a map.
//   - No math.Exp, math.Pow or what is built on them: they differ between processors.
//   - Bad input gives an error and changes nothing. An entry that this binary can't
//     understand stops the node: skipping it would make replicas differ.
package fsm
