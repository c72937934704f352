package command

import "trireme/fsm/env"

// aclRows is the ACL family: the users of a database. Passwords reach it as digests
// only; see Seal.
func aclRows() []Command {
	const (
		look   = Admin | NoScript
		change = Write | DenyOOM | Admin | NoScript
		chance = NoScript | NoMulti // random words are drawn by the node that serves the client
		since  = env.Base
		o1     = "O(1)"
		on     = "O(n), where n is the number of users"
	)
	return []Command{
		{Name: "acl cat", Arity: -2, Flags: NoScript, Since: since, Version: "6.0.0", Complexity: "O(1) without a category, O(n) of the number of commands with one",
			Syntax: "ACL CAT [category]", Summary: "Lists the categories of commands, or the commands of one.", Run: aclCat},
		{Name: "acl deluser", Arity: -3, Flags: change &^ DenyOOM, Since: since, Version: "6.0.0", Complexity: "O(1) for each user",
			Syntax: "ACL DELUSER username [username ...]", Summary: "Deletes users; what they had proved is void at once.", Run: aclDelUser},
		{Name: "acl dryrun", Arity: -4, Flags: look, Since: since, Version: "7.0.0", Complexity: o1,
			Syntax: "ACL DRYRUN username command [arg [arg ...]]", Summary: "Tells whether a user may run a command, without running it.", Run: aclDryRun},
		{Name: "acl genpass", Arity: -2, Flags: chance, Since: since, Version: "6.0.0", Complexity: o1,
			Syntax: "ACL GENPASS [bits]", Summary: "Draws a password in hexadecimal, of 256 bits if not said otherwise.", Run: aclGenPass},
		{Name: "acl gentoken", Arity: -3, Flags: chance | Admin, Since: since, Version: "extension", Complexity: o1,
			Syntax: "ACL GENTOKEN username [password]", Summary: "Makes a token that ACL SETUSER takes as the user's password and that is a bearer token from then on.", Run: aclGenToken},
		{Name: "acl getuser", Arity: 3, Flags: look, Since: since, Version: "6.0.0", Complexity: o1,
			Syntax: "ACL GETUSER username", Summary: "Describes a user: flags, digests of passwords, commands, keys, channels, selectors.", Run: aclGetUser},
		{Name: "acl help", Arity: 2, Flags: ReadOnlyUser | NoScript, Since: since, Version: "6.0.0", Complexity: o1,
			Syntax: "ACL HELP", Summary: "Describes the subcommands.", Run: aclHelp},
		{Name: "acl list", Arity: 2, Flags: look, Since: since, Version: "6.0.0", Complexity: on,
			Syntax: "ACL LIST", Summary: "Lists the users as the rules that make them.", Run: aclList},
		{Name: "acl load", Arity: 2, Flags: look, Since: since, Version: "6.0.0", Complexity: o1,
			Syntax: "ACL LOAD", Summary: "Does nothing: users are replicated state, not a file.", Run: aclNothing},
		{Name: "acl log", Arity: -2, Flags: look, Since: since, Version: "6.0.0", Complexity: o1,
			Syntax: "ACL LOG [count | RESET]", Summary: "Answers an empty list: refusals are not kept.", Run: aclLog},
		{Name: "acl resttoken", Arity: 4, Flags: look, Since: since, Version: "extension", Complexity: o1,
			Syntax: "ACL RESTTOKEN username password", Summary: "Gives a user's bearer token for the HTTP gateway; it dies with the password.", Run: aclRESTToken},
		{Name: "acl save", Arity: 2, Flags: look, Since: since, Version: "6.0.0", Complexity: o1,
			Syntax: "ACL SAVE", Summary: "Does nothing: users are replicated state, not a file.", Run: aclNothing},
		{Name: "acl setuser", Arity: -3, Flags: change, Since: since, Version: "6.0.0", Complexity: "O(n), where n is the number of rules",
			Syntax: "ACL SETUSER username [rule [rule ...]]", Summary: "Makes or changes a user.", Run: aclSetUser},
		{Name: "acl users", Arity: 2, Flags: look, Since: since, Version: "6.0.0", Complexity: on,
			Syntax: "ACL USERS", Summary: "Lists the names of the users.", Run: aclUsers},
		{Name: "acl whoami", Arity: 2, Flags: ReadOnlyUser | NoScript, Since: since, Version: "6.0.0", Complexity: o1,
			Syntax: "ACL WHOAMI", Summary: "Returns the name of the user that asks.", Run: aclWhoAmI},
	}
}
