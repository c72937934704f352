// Package fsm is the state machine: the whole replicated state, and every operation that may change it.
//
// Machine holds the State of one node. An Operation has a code, arguments and a function that
// changes the state; an Entry carries many requests for operations.
//
// # Stages of an entry
//
//  1. Apply decodes the entry. If the entry names another term than the log does, every request
//     in it is refused and nothing is recorded, so each may be sent again.
//  2. The lock is taken. The state's clock moves to the entry's stamp, never back.
//  3. Each request in turn gets a fresh Env: index, time, level, and a generator that the
//     entry's seed and the request's place determine. A request that its session has applied
//     before is not run again.
//  4. About every 200 commands (fsm.lockedCommands), and only between requests or rows of a
//     pipeline, the lock is released and taken again, so that readers get in. It is never released inside a
//     transaction, a script or an operation.
//  5. The index is published, the lock is released, and the hooks are called in the order of
//     the log: digests, notifications, verdicts.
//
// # Invariants
//
//   - Two machines that applied the same entries have the same state and gave the same
//     outcomes, whatever was read on them, and whether they began with a snapshot.
//   - A Frozen is the state at one index. Making one takes constant time. It is read without
//     a lock.
//   - A read changes nothing, and uses the time that it was handed, never the machine's own.
//   - What an operation does at a released feature level does not change.
//
// # Rejected
//
// Logging the effects of commands instead of the commands: a script that writes a million keys
// would be an entry of a million writes, and replies would need a way of their own. A lock for
// each database or key: one entry is applied at a time, so only readers would gain, and views
// that span databases would need an order of locks. Rolling back by an undo log: a fork of the
// state costs constant time, and serves snapshots and digests too.
//
// # Determinism
//
// The rules, which rules_test.go checks for this package and all below it:
//
//   - The result of an apply depends on the state, the entry and its place in the log,
//     and on nothing else. Time and chance come in the entry, stamped by the leader.
//   - No clock, no random source, no network, no file, no goroutine, no select, no
//     environment; locks in machine.go only, atomic words in keyspace/access.go and in the marks of
//     package cow only.
//   - Nothing that can reach the state or a reply iterates over a map.
//   - No math.Exp, math.Pow or what is built on them: they differ between processors.
//   - Bad input returns an error and changes nothing. An entry that this binary can't
//     understand stops the node: skipping it would make replicas differ.
//
// Package cluster applies entries and makes snapshots. httpapi, resp and scheduler propose
// operations and read through the interfaces of this package. It imports nothing above fsm.
package fsm
