// Package command holds the Redis commands: one table, one dispatcher, and the handlers by
// family.
//
// # The table
//
// A Command is one row with everything that is known about a command: its words, its keys and
// what it does with them, its cost, its rights, its documentation and its handler. Nothing else
// lists commands: COMMAND INFO and COMMAND DOCS, ACL categories, the rights of users, the limits
// of sizes and of work, keyspace events of misses and the reference in docs/commands are all
// derived from the rows. (Redis spreads the same over JSON files and C tables; earlier versions of
// this package had 19 maps by name in addition to the rows, and a new command that was missing in one
// of them got a silent default.)
//
// # The dispatcher
//
// Tx.Exec runs one command: find the row (Table.Check), check arity, rights, origin and
// limits, then memory, then cost, then call the handler. The edge asks Check early, to refuse
// before an entry is made; the apply asks again, because the state may have changed.
//
// # Handlers
//
// A handler reads its arguments, looks at the keyspace and returns a reply. It sees no
// connection, no JSON and no clock: time is Tx.Now, random numbers are Tx.Uint64. It reads all
// arguments and returns the error of Args.Done before it touches Tx.DB, so a malformed call
// changes nothing.
//
// # Invariants
//
//   - The reply and the new state are functions of the old state, the entry and the feature level
//     alone, so that every node computes the same.
//   - A call that returns an error has changed nothing (scripts and transactions excepted, as in
//     Redis).
//   - What a released command does at a released feature level does not change; a change asks
//     for tx.Level.
//
// # Who may call it
//
// Package fsm runs entries and reads through it; resp, httpapi and clients/conformance use the table
// to refuse early, to describe and to count. It imports the containers (keyspace, jsondoc, geo,
// hll), never a package above fsm.
package command
