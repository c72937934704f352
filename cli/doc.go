// Package cli holds the commands that ask a running node: contexts, the connection, output, and one file for each group
// of commands.
//
// A group is a cobra command whose subcommands share the flags of the connection and of the output (options). A
// subcommand is a spec: its words, its example, and a function that is given a session, which has the client and the
// printer. Whatever fails is an *Error with an exit code and a text of one line that says what to do.
//
// A list is printed by its columns: each has a form for people, for a terminal and for programs, and a place that says when it is left
// out (columns, forms, table). A sheet is a page about one thing, such as a message with its attempts or a run with its waterfall. What
// a terminal has beside that is in terminal (colour, width), pager and screen (views that come again).
//
// The package speaks HTTP only and imports nothing of the server but the table of commands, for help. cmd/trireme hangs
// the groups into its root command and uses Connect for its own commands that ask a node (backup, restore, doctor).
package cli
