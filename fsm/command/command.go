// Package command holds the Redis commands: one table, one dispatcher, and the
// handlers by family. A handler reads its arguments, looks at the keyspace and
// returns a reply; it never knows which door it was called through.
package command

import (
	"trireme/fsm/acl"
	"trireme/fsm/channel"
	"trireme/fsm/env"
	"trireme/fsm/flow"
	"trireme/fsm/keyspace"
	"trireme/fsm/queue"
	"trireme/fsm/reply"
)

// Flags say how a command may be used.
type Flags uint16

// The flags of a row.
const (
	// Write commands change state and go through the log.
	Write Flags = 1 << iota
	// ReadOnly commands only read and run on a view.
	ReadOnly
	// Fast commands cost at most a look-up; COMMAND reports it.
	Fast
	// DenyOOM commands are refused when the memory limit is reached.
	DenyOOM
	// Admin commands look at or change the server.
	Admin
	// ReadOnlyUser commands are open to the Read Only token.
	ReadOnlyUser
	// NoScript commands can't be called from a script.
	NoScript
	// NoMulti commands can't stand in a transaction.
	NoMulti
	// NoHTTP commands are refused by the HTTP gateway.
	NoHTTP
	// MayRead writes turn out to be reads for some arguments; see Command.Reads.
	MayRead
	// Blocking commands wait at the edge when there is nothing to take. Their handler
	// never waits: it answers null instead, which is also what a transaction or a script
	// gets. See Command.Timeout.
	Blocking
)

// KeySpec says which arguments are keys: positions First to Last in steps, where
// the command's name is 0 and a negative Last counts from the end. First 0 means
// none. Find, if set, gives the positions for commands that need a look.
type KeySpec struct {
	First, Last, Step int
	Find              func(argv [][]byte) []int
}

// Handler runs a command. It reads all arguments first, returns a.Done()'s error,
// and only then touches the keyspace.
type Handler func(tx *Tx, a *Args) reply.Value

// Command is a row of the table.
type Command struct {
	// Name in lower case; a subcommand is a row of its own, "xgroup create".
	Name string
	// Arity is the number of words, name included; negative: at least that many.
	Arity int
	Flags Flags
	Keys  KeySpec
	// Group is the family's name, such as "string".
	Group string
	// Since is the feature level that switched the command on.
	Since env.Level
	// Syntax, Summary, Complexity and Version, the first Redis version that had the
	// command, stand in the reference and in COMMAND DOCS.
	Syntax, Summary, Complexity, Version string
	// Reads tells of a MayRead command whether these arguments only read.
	Reads func(argv [][]byte) bool
	// TimeoutAt is the place of a Blocking command's timeout; negative counts from the end.
	TimeoutAt int
	// Waits, if set, tells of a Blocking command whether these arguments ask to wait, and
	// what Timeout answers then.
	Waits func(argv [][]byte, now int64) (ms int64, ok bool)
	// Pin, if set, gives the arguments that a Blocking command is called with again while
	// it waits: what means the present in them is replaced by what it means now. Whoever
	// waits asks for them once, when the call arrives.
	Pin func(tx *Tx, argv [][]byte) [][]byte
	// Wait says what a Blocking command waits for; one without never waits.
	Wait *Wait
	Run  Handler

	number    int  // in the table and its catalog
	words     int  // of the name: arguments stand behind them
	container bool // has subcommands too, like COMMAND
	toil      toil // how much of the state it looks at
	bare      bool // is no row, but stands for a container in descriptions
}

// Tx is what one command runs in: its environment, the database and the user.
type Tx struct {
	*env.Env
	DB    *keyspace.DB
	Users *acl.Store // of the database
	// Channels are the subscriber counts of the database.
	Channels channel.Scope
	// Messages are those of the cluster, which all databases share; nil where there are none.
	Messages *queue.Store
	// Flows are the workflow runs, where there are Messages.
	Flows *flow.Store
	User  *acl.User // nil: nobody, who may do nothing
	Table *Table
	// MaxMemory is the replicated limit of all databases together in bytes, 0 for none;
	// OtherMemory is what is used beside DB.
	MaxMemory, OtherMemory int64
	// Config are the replicated parameters; Host is the node's word about itself, nil in
	// an apply.
	Config *Config
	Host   *Host
	// Nodes is how many nodes the cluster has, Topology which.
	Nodes    int
	Topology Topology
	// Limits bound single keys and values.
	Limits Limits
	// Door says where the command came from, for rows that are refused there.
	Door Door
	Scripting

	row  *Command // the one that runs, known only if there is somebody to tell of misses
	last struct { // the row that was found last, and the word that called it
		word []byte
		row  *Command
	}
	args Args // of the outermost command, so that most need no allocation
	deep bool // a command is running
}

// Door is the way a command came in.
type Door uint8

// The doors.
const (
	Inside Door = iota // tests and the state machine itself
	HTTP
	RESP
	Script
	Stream // the HTTP gateway's paths for what is refused as its command
)

// rest tells whether the door is one of the HTTP gateway's.
func (d Door) rest() bool { return d == HTTP || d == Stream }
