// Package script runs the scripts and functions of clients: Lua with Redis's libraries, under a budget, with no
// inputs other than its arguments and the replies of commands. What a script is, and the library that functions
// come from, is replicated; the interpreters here are each node's own.
package script
