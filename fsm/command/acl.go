package command

import "slices"

// aclRows is the ACL family: the users of a database. Passwords reach it as digests
// only; see Seal.
func aclRows() []Command {
	return slices.Concat(aclUserChanges(), aclUserReads(), aclRuleReads(), aclSecretRows(), aclFileRows())
}

// aclUserChanges are the rows that make, change and remove users.
func aclUserChanges() []Command {
	const change = Write | DenyOOM | Admin | NoScript
	return []Command{
		{Name: "acl deluser", Arity: -3, Flags: change &^ DenyOOM, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1) for each user",
			Syntax: "ACL DELUSER username [username ...]", Summary: "Deletes users; what they had proved is void at once.",
			Info: whileLoading}, Run: aclDelUser},
		{Name: "acl setuser", Arity: -3, Flags: change, Cost: costUser, Work: aclSetUserWork, Doc: Doc{Version: "6.0.0", Complexity: "O(n), where n is the number of rules",
			Syntax: "ACL SETUSER username [rule [rule ...]]", Summary: "Makes or changes a user.",
			Info: whileLoading, Changes: []Change{{"6.2.0", "Takes patterns of channels."}, {"7.0.0", "Takes selectors, and keys for reading or writing alone."}}}, Run: aclSetUser},
	}
}

// aclUserReads are the rows that describe users.
func aclUserReads() []Command {
	const (
		look = Admin | NoScript
		on   = "O(n), where n is the number of users"
	)
	return []Command{
		{Name: "acl getuser", Arity: 3, Flags: look, Cost: costUser, Doc: Doc{Version: "6.0.0", Complexity: "O(n), where n is the number of rules of the user",
			Syntax: "ACL GETUSER username", Summary: "Describes a user: flags, digests of passwords, commands, keys, channels, selectors.",
			Info: whileLoading, Changes: []Change{{"6.2.0", "Tells the patterns of channels."}, {"7.0.0", "Tells selectors, and keys and channels as rules."}}}, Run: aclGetUser},
		{Name: "acl list", Arity: 2, Flags: look, Cost: costUsers, Doc: Doc{Version: "6.0.0", Complexity: on,
			Syntax: "ACL LIST", Summary: "Lists the users as the rules that make them.",
			Info: whileLoading}, Run: aclList},
		{Name: "acl users", Arity: 2, Flags: look, Cost: costUsers, Doc: Doc{Version: "6.0.0", Complexity: on,
			Syntax: "ACL USERS", Summary: "Lists the names of the users.",
			Info: whileLoading}, Run: aclUsers},
		{Name: "acl whoami", Arity: 2, Flags: ReadOnlyUser | NoScript, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "ACL WHOAMI", Summary: "Returns the name of the user that asks.",
			Info: whileLoading}, Run: aclWhoAmI},
	}
}

// aclRuleReads are the rows that tell what rules may be, and what they allow and have refused.
func aclRuleReads() []Command {
	const look = Admin | NoScript
	return []Command{
		{Name: "acl cat", Arity: -2, Flags: NoScript, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1) without a category, O(n) of the number of commands with one",
			Syntax: "ACL CAT [category]", Summary: "Lists the categories of commands, or the commands of one.",
			Info: whileLoading}, Run: aclCat},
		{Name: "acl dryrun", Arity: -4, Flags: look, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "ACL DRYRUN username command [arg [arg ...]]", Summary: "Reports whether a user may run a command, without running it.",
			Info: whileLoading}, Run: aclDryRun},
		{Name: "acl log", Arity: -2, Flags: look, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "ACL LOG [count | RESET]", Summary: "Answers an empty list: refusals are not kept.",
			Info: whileLoading}, Run: aclLog},
	}
}

// aclSecretRows are the rows that make passwords and tokens.
func aclSecretRows() []Command {
	const (
		look   = Admin | NoScript
		chance = NoScript | NoMulti // random words are drawn by the node that serves the client
	)
	return []Command{
		{Name: "acl genpass", Arity: -2, Flags: chance, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "ACL GENPASS [bits]", Summary: "Draws a password in hexadecimal, of 256 bits if not said otherwise.",
			Info: whileLoading}, Run: aclGenPass},
		{Name: "acl gentoken", Arity: -3, Flags: chance | Admin, Cost: costConstant, Doc: Doc{Version: "extension", Complexity: "O(1)",
			Syntax: "ACL GENTOKEN username [password]", Summary: "Makes a token that ACL SETUSER takes as the user's password and that is a bearer token from then on.",
			Info: whileLoading}, Run: aclGenToken},
		{Name: "acl resttoken", Arity: 4, Flags: look, Cost: costConstant, Doc: Doc{Version: "extension", Complexity: "O(1)",
			Syntax: "ACL RESTTOKEN username password", Summary: "Gives a user's bearer token for the HTTP gateway; it dies with the password.",
			Info: whileLoading}, Run: aclRESTToken},
	}
}

// aclFileRows are the rows of files of users, and the help.
func aclFileRows() []Command {
	const look = Admin | NoScript
	return []Command{
		{Name: "acl help", Arity: 2, Flags: ReadOnlyUser | NoScript, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "ACL HELP", Summary: "Describes the subcommands.",
			Info: whileLoading}, Run: aclHelp},
		{Name: "acl load", Arity: 2, Flags: look, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "ACL LOAD", Summary: "Does nothing: users are replicated state, not a file.",
			Info: whileLoading}, Run: aclNothing},
		{Name: "acl save", Arity: 2, Flags: look, Cost: costConstant, Doc: Doc{Version: "6.0.0", Complexity: "O(1)",
			Syntax: "ACL SAVE", Summary: "Does nothing: users are replicated state, not a file.",
			Info: whileLoading}, Run: aclNothing},
	}
}
