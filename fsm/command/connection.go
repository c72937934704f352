package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Of a connection: what only its holder can do. The rows stand here to be known, judged
// and described; the port that holds the connection does the rest.
const ownConnection = NoHTTP | NoScript

// connection is the Connection family.
func connection() []Command {
	return slices.Concat(connectionIdentity(), connectionTests(), clientNames(), clientInfo(), clientSettings(), clientOperators(), clientTracking())
}

// connectionIdentity are the rows that say whose connection it is, and how it talks.
func connectionIdentity() []Command {
	const open = ownConnection | Fast | ReadOnlyUser
	return []Command{
		{Name: "auth", Arity: -2, Flags: open | NoAuth, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(N) in passwords of the user",
			Syntax: "AUTH [username] password", Summary: "Says who the connection is, by a password or token, which also chooses the database.",
			Info: "loading stale no_auth allow_busy", Changes: []Change{{"6.0.0", "Takes the name of a user."}}}, Run: ofConnection},
		{Name: "hello", Arity: -1, Flags: open | NoAuth, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "HELLO [protover [AUTH username password] [SETNAME clientname]]", Summary: "Chooses the protocol, 2 or 3, and says who the connection is.",
			Info: "loading stale no_auth allow_busy", Changes: []Change{{"6.2.0", "Without a version it tells of the connection alone."}}}, Run: ofConnection},
		{Name: "select", Arity: 2, Flags: open, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "SELECT index", Summary: "Takes 0: the credential chooses the database.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "reset", Arity: 1, Flags: open | NoAuth, Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(N) in subscriptions",
			Syntax: "RESET", Summary: "Makes the connection as it was when it was opened.",
			Info: "loading stale no_auth allow_busy"}, Run: ofConnection},
		{Name: "quit", Arity: -1, Flags: open | NoAuth, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "QUIT", Summary: "Closes the connection.",
			Info: "loading stale no_auth allow_busy"}, Run: ofConnection},
	}
}

// connectionTests are the rows that show that the connection works.
func connectionTests() []Command {
	return []Command{
		{Name: "echo", Arity: 2, Flags: Fast | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "ECHO message", Summary: "Returns the message.",
			Info: whileLoading}, Run: echo},
		{Name: "ping", Arity: -1, Flags: Fast | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "1.0.0", Complexity: "O(1)",
			Syntax: "PING [message]", Summary: "Returns PONG, or the message.",
			Tips: "request_policy:all_shards response_policy:all_succeeded"}, Run: ping},
	}
}

// clientNames are the rows of what a client is called.
func clientNames() []Command {
	const open = ownConnection | Fast | ReadOnlyUser
	return []Command{
		{Name: "client getname", Arity: 2, Flags: open, Access: Access{Regrouped: acl.Fast | acl.Slow}, Cost: costConstant, Doc: Doc{Version: "2.6.9", Complexity: "O(1)",
			Syntax: "CLIENT GETNAME", Summary: "Returns the name of the connection.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client setname", Arity: 3, Flags: open, Access: Access{Regrouped: acl.Fast | acl.Slow}, Cost: costConstant, Doc: Doc{Version: "2.6.9", Complexity: "O(1)",
			Syntax: "CLIENT SETNAME connection-name", Summary: "Names the connection.",
			Info: whileLoading}, Run: ofConnection},
		// Clients of the HTTP gateway send it too, where no connection keeps what it says.
		{Name: "client setinfo", Arity: 4, Flags: NoScript | Fast | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "7.2.0", Complexity: "O(1)",
			Syntax: "CLIENT SETINFO LIB-NAME name | LIB-VER version", Summary: "Says which library the client uses.",
			Info: whileLoading}, Run: clientSetInfo},
	}
}

// clientInfo are the rows that describe the connection.
func clientInfo() []Command {
	const open = ownConnection | Fast | ReadOnlyUser
	return []Command{
		{Name: "client help", Arity: 2, Flags: ownConnection | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "CLIENT HELP", Summary: "Lists the subcommands.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client id", Arity: 2, Flags: open, Access: Access{Regrouped: acl.Fast | acl.Slow}, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "CLIENT ID", Summary: "Returns the number of the connection, which its node gives once.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client info", Arity: 2, Flags: ownConnection | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "CLIENT INFO", Summary: "Describes the connection.",
			Info: whileLoading, Tips: vagueOutput}, Run: ofConnection},
	}
}

// clientSettings are the rows of how a connection behaves.
func clientSettings() []Command {
	const (
		open     = ownConnection | Fast | ReadOnlyUser
		operator = ownConnection | Admin
	)
	return []Command{
		{Name: "client no-evict", Arity: 3, Flags: operator, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "CLIENT NO-EVICT ON | OFF", Summary: "Takes the setting; connections are never closed for want of memory.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client no-touch", Arity: 3, Flags: open, Cost: costConstant, Doc: Doc{Version: "7.2.0", Complexity: "O(1)",
			Syntax: "CLIENT NO-TOUCH ON | OFF", Summary: "Takes the setting; times of access are not kept.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client reply", Arity: 3, Flags: ownConnection | ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "3.2.0", Complexity: "O(1)",
			Syntax: "CLIENT REPLY ON | OFF | SKIP", Summary: "Says whether commands are answered.",
			Info: whileLoading}, Run: ofConnection},
	}
}

// clientOperators are the rows for those who run the node: other connections than their own.
func clientOperators() []Command {
	const operator = ownConnection | Admin
	return []Command{
		{Name: "client kill", Arity: -3, Flags: operator, Cost: costConstant, Doc: Doc{Version: "2.4.0", Complexity: "O(N) in connections of the node",
			Syntax: "CLIENT KILL ip:port | [ID id] [TYPE type] [USER username] [ADDR ip:port] [LADDR ip:port] [SKIPME YES | NO] [MAXAGE seconds] ...", Summary: "Closes connections of the node that answers.",
			Info: whileLoading, Changes: []Change{{"2.8.12", "Accepts filters in addition to an address."}, {"2.8.12", "Takes ID."}, {"3.2.0", "TYPE may be master."}, {"5.0.0", "TYPE is replica; slave is understood as well."}, {"6.2.0", "Takes LADDR."}, {"7.4.0", "Takes MAXAGE."}}}, Run: ofConnection},
		{Name: "client list", Arity: -2, Flags: operator, Cost: costConstant, Doc: Doc{Version: "2.4.0", Complexity: "O(N) in connections of the node",
			Syntax: "CLIENT LIST [TYPE type] [ID id [id ...]]", Summary: "Describes the connections of the node that answers.",
			Info: whileLoading, Tips: vagueOutput, Changes: []Change{{"2.8.12", "Tells the id."}, {"5.0.0", "Takes TYPE."}, {"6.0.0", "Tells the user."}, {"6.2.0", "Takes ID; tells argv-mem, tot-mem, laddr and redir."}, {"7.0.0", "Tells resp, multi-mem, rbs and rbp."}, {"7.0.3", "Tells ssub."}}}, Run: ofConnection},
		{Name: "client pause", Arity: -3, Flags: operator, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(1)",
			Syntax: "CLIENT PAUSE timeout [WRITE | ALL]", Summary: "Lets commands of the node's connections, or those that write, wait for so many milliseconds.",
			Info: whileLoading, Changes: []Change{{"6.2.0", "Takes WRITE and ALL."}}}, Run: ofConnection},
		{Name: "client unblock", Arity: -3, Flags: operator, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "CLIENT UNBLOCK client-id [TIMEOUT | ERROR]", Summary: "Ends the wait of a blocked connection of the node that answers.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client unpause", Arity: 2, Flags: operator, Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "CLIENT UNPAUSE", Summary: "Ends CLIENT PAUSE.",
			Info: whileLoading}, Run: ofConnection},
	}
}

// clientTracking are the rows of reads that the connection keeps copies of.
func clientTracking() []Command {
	return []Command{
		{Name: "client caching", Arity: 3, Flags: ownConnection, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "CLIENT CACHING YES | NO", Summary: "Says whether what the next command reads is tracked.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client getredir", Arity: 2, Flags: ownConnection, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "CLIENT GETREDIR", Summary: "Returns which connection is told of changes instead of this one.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client tracking", Arity: -3, Flags: ownConnection, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(n), where n is the number of prefixes",
			Syntax: "CLIENT TRACKING ON | OFF [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]", Summary: "Tells the connection when what it has read changes, so that it can keep copies.",
			Info: whileLoading}, Run: ofConnection},
		{Name: "client trackinginfo", Arity: 2, Flags: ownConnection, Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "CLIENT TRACKINGINFO", Summary: "Returns how reads of the connection are tracked.",
			Info: whileLoading}, Run: ofConnection},
	}
}

// transactions is the Transactions family.
func transactions() []Command {
	const own = ownConnection | ReadOnlyUser
	return []Command{
		{Name: "discard", Arity: 1, Flags: own | Fast, Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(N) in queued commands",
			Syntax: "DISCARD", Summary: "Forgets the transaction that is being queued, and the watched keys.",
			Info: "loading stale allow_busy"}, Run: ofConnection},
		{Name: "exec", Arity: 1, Flags: own, Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: "that of the queued commands",
			Syntax: "EXEC", Summary: "Runs the queued commands in one piece, unless a watched key has changed.",
			Info: "loading stale skip_slowlog"}, Run: ofConnection},
		{Name: "multi", Arity: 1, Flags: own | Fast, Cost: costConstant, Doc: Doc{Version: "1.2.0", Complexity: "O(1)",
			Syntax: "MULTI", Summary: "Begins to queue a transaction.",
			Info: "loading stale allow_busy"}, Run: ofConnection},
		{Name: "unwatch", Arity: 1, Flags: own | Fast, Cost: costConstant, Doc: Doc{Version: "2.2.0", Complexity: "O(1)",
			Syntax: "UNWATCH", Summary: "Forgets the watched keys.",
			Info: "loading stale allow_busy"}, Run: ofConnection},
		{Name: "watch", Arity: -2, Flags: own | Fast | NoMulti, Keys: allKeys.with(ro), Cost: costConstant, Doc: Doc{Version: "2.2.0", Complexity: "O(1) a key",
			Syntax: "WATCH key [key ...]", Summary: "Makes the next EXEC depend on these keys staying as they are.",
			Info: "loading stale allow_busy"}, Run: ofConnection},
	}
}

func echo(tx *Tx, a *Args) reply.Value {
	msg := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Bulk(msg)
}

func ping(tx *Tx, a *Args) reply.Value {
	switch a.Left() {
	case 0:
		return reply.Status("PONG")
	case 1:
		return reply.Bulk(a.String())
	}
	return ErrArity("ping")
}

// clientSetInfo judges the words; the port that holds the connection keeps them.
func clientSetInfo(_ *Tx, a *Args) reply.Value {
	option, value := a.String(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	return JudgeClientInfo(option, value)
}

// JudgeClientInfo is the answer to CLIENT SETINFO with these words.
func JudgeClientInfo(option string, value []byte) reply.Value {
	if !EqualFold([]byte(option), "LIB-NAME") && !EqualFold([]byte(option), "LIB-VER") {
		return reply.Error("ERR Unrecognized option '" + shown(option) + "'")
	}
	for _, c := range value {
		if c < '!' || c > '~' {
			return reply.Error("ERR " + shown(option) + " cannot contain spaces, newlines or special characters.")
		}
	}
	return reply.OK()
}
