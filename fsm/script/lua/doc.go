// Package lua is Lua 5.1 for a replicated state machine. It reads and runs scripts as
// the interpreter in Redis does, down to the order in which tables are walked and the
// words of errors, but every step and every byte is counted: a script ends at the same
// instruction on every node, and no script runs for long.
//
// A script is parsed into a tree, the tree is turned into Go closures, and these run on
// a stack of values. What a script can see is a function of its text, its arguments and
// what the functions given to it answer. Nothing shows an address, a clock or the order
// of a Go map.
//
// Differences from Lua 5.1 on purpose: no io, no debug, no package, no loading of
// precompiled code, no finalizers and no weak tables. docs/design/lua.md says why this
// is an interpreter of its own.
package lua
