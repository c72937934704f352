package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Flags say how a command may be used.
type Flags uint32

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
	// NoAuth commands are open to clients that have not said who they are.
	NoAuth
	// KeysOptional commands may name no key at all.
	KeysOptional
	// Overwrites commands don't keep the old values of their keys, so that these don't count
	// against the limit of a record.
	Overwrites
	// AddsRecord commands add one record to a key of many, an index: the limit is that of what they add.
	AddsRecord
	// MakesKeys commands may leave a key that was not there; DenyOOM commands always may.
	MakesKeys
	// ReportsMiss writes look at keys as reads do: a missing key is a keymiss event.
	ReportsMiss
	// HidesMiss reads cause no keymiss event.
	HidesMiss
	// NoScriptWait commands wait for an element. A script can't call them, as in Redis 7.0.
	NoScriptWait
	// NoTouch commands ask about keys without using them: OBJECT IDLETIME doesn't change.
	NoTouch
	// MayGrow writes are no DenyOOM commands, as in Redis, and may add to memory nevertheless: they are
	// undone if it ends above its limit by more than a DenyOOM command may leave it.
	MayGrow
	// NodeLocal reads answer what one node knows by itself: nothing in the log may depend on it.
	NodeLocal
)

// Handler runs a command. It reads all arguments first, returns a.Done()'s error,
// and only then touches the keyspace.
type Handler func(tx *Tx, a *Args) reply.Value

// Command is a row of the table: all that is known about a command. Name, Arity, Flags, Keys,
// Cost, Run and, of Doc, Version, Complexity, Syntax and Summary are in every row (Flags may be 0 and Keys
// absent); TestRowsAreConsistent says what a row lacks. The other fields have zero values that
// are safe: no tips, no extra categories, nothing varies.
type Command struct {
	// Name in lower case; a subcommand is a row of its own, "xgroup create".
	Name string
	// Arity is the number of words, name included; negative: at least that many.
	Arity int
	Flags Flags
	// Since is the feature level that switched the command on; 0 = the first.
	Since env.Level

	// Keys says which words are keys and what the command does with them, for users' rights
	// and for COMMAND INFO.
	Keys KeySpec
	// Varies, if set, says what a call does with its keys, where that depends on its words.
	Varies func(argv [][]byte) keyFlags
	// Channels says which words are channels.
	Channels channelUse

	// Cost says how much of the state a call looks at.
	Cost Cost
	// Work, if set, returns the steps of a call where its words say more than Cost; see work.go.
	Work func(tx *Tx, argv [][]byte) int64
	// Counts, if set, returns as how many changes a call counts that has changed something. Without it a call is one change.
	Counts changeCount
	// Reach, if set, returns the length of the string that a write at an offset makes.
	Reach func(argv [][]byte) int64

	Waiting
	// Reads, if set, reports of a MayRead command whether these arguments only read.
	Reads func(argv [][]byte) bool
	// Precheck, if set, checks a word that may be long. If the command refuses that word in any state, it returns the word's
	// position and a short word for the log, which the command refuses with the same error. Otherwise at is 0. argv has
	// passed Table.Check.
	Precheck func(l *Limits, argv [][]byte) (at int, word []byte)
	Run      Handler

	Access
	Doc

	family    *family
	number    int  // in the table and its catalog
	words     int  // of the name: the arguments follow
	container bool // has subcommands too, like COMMAND
	bare      bool // is no row, but represents a container in descriptions
}

// Group names the family for programs: "sorted-set".
func (c *Command) Group() string { return c.family.group }

// Title names the family for people: "Sorted sets".
func (c *Command) Title() string { return c.family.title }

// Doc is what clients and people read about a command: in the reference, in COMMAND DOCS and in COMMAND INFO.
type Doc struct {
	// Version is the first Redis version that had the command, or "extension".
	Version, Complexity, Syntax, Summary string
	// Changes lists the changes by later versions of Redis, the oldest first.
	Changes []Change
	// Info are flags of COMMAND INFO that mean something to clients only, in addition to those that
	// follow from Flags: "loading stale". Tips are its command tips. Both are words with spaces
	// between them.
	Info, Tips string
}

// The words of Info and Tips that many rows share.
const (
	whileLoading    = "loading stale" // Info: for clients of a server that loads or has lost its leader
	vagueOutput     = "nondeterministic_output"
	unorderedOutput = "nondeterministic_output_order"
)

// described is the row with Info, Tips and Changes, for rows that a function makes.
func (c Command) described(info, tips string, changes ...Change) Command {
	c.Info, c.Tips, c.Changes = info, tips, changes
	return c
}

// Queues reports whether the command may stand in a transaction.
func (c *Command) Queues() bool {
	return c.Flags&NoMulti == 0 && !slices.Contains(ascii.Fields(c.Info), "no_multi")
}

// Tx is the context of one command: its environment, the database and the user.
type Tx struct {
	*env.Env
	DB    *keyspace.DB
	Users *acl.Store // of the database
	// Channels are the subscriber counts of the database.
	Channels channel.Scope
	Deliveries
	User  *acl.User // nil: no user, without any right
	Table *Table
	Memory
	// Config are the replicated parameters; Host is the node's word about itself, nil in
	// an apply.
	Config *Config
	Host   *Host
	// Nodes is the number of nodes of the cluster; Topology describes them.
	Nodes    int
	Topology Topology
	// Limits bound single keys and values.
	Limits Limits
	// Origin says where the command came from, for rows that are refused there.
	Origin Origin
	// Search are the search indexes of the database.
	Search Search
	Scripting
	Triggering

	row  *Command // the one that runs, known only if misses are reported
	last struct { // the row that was found last, and the word that called it
		word []byte
		row  *Command
	}
	changes int64 // of the command that runs, if it counts them itself; see changesOf
	work    work  // of the request
	args    Args  // of the outermost command, so that most need no allocation
	deep    bool  // a command is running
}

// Memory says how much memory a command may still use, and who makes room.
type Memory struct {
	// MaxMemory is the replicated limit of all databases together in bytes, 0 = unlimited;
	// OtherMemory is the memory used outside DB.
	MaxMemory, OtherMemory int64
	// OwnMax is the limit of this database in bytes, 0 for none but MaxMemory; OwnOther is the memory that it uses outside DB.
	OwnMax, OwnOther int64
	// ClusterPolicy says what happens at MaxMemory in a database that has no policy of its own. Room makes room, and
	// spares keys that were changed after version Began, that is by this transaction or row.
	ClusterPolicy keyspace.Policy
	Room          Evictor
	Began         uint64
	// Saved says that all changes of DB are in a snapshot of this node.
	Saved bool
}

// Origin is the way a command came in.
type Origin uint8

// The origins.
const (
	OriginInternal Origin = iota // tests and the state machine itself
	OriginHTTP
	RESP
	Script
	Stream // the HTTP gateway's paths for what is refused as its command
)

// Batchable reports whether calls may share a batch with those of other connections: it
// does not block, is fast if it reads, and is about keys only.
func (c *Command) Batchable() bool {
	return c.Keys.First > 0 && c.Flags&(Blocking|Admin) == 0 && c.Flags&(Write|Fast) != 0 && c.Group() != "scripting"
}

// Logged reports whether a read may run in the log, in one piece with writes.
func (c *Command) Logged() bool { return c.Flags&(ReadOnly|NodeLocal) == ReadOnly }

// isREST reports whether the command came through the HTTP gateway.
func (o Origin) isREST() bool { return o == OriginHTTP || o == Stream }
