package command

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// streamRows is the Stream family. The handlers stand in the files stream_*.go.
func streamRows() []Command {
	return slices.Concat(streamEntries(), streamReads(), streamPending(), streamAcknowledgements(), streamGroups(), streamInfo(), streamSettings())
}

// Words that rows of several themes share.
const streamPend = "O(log n) for each ID, where n is the number of pending entries"

// streamEntries are the rows that add and remove entries.
func streamEntries() []Command {
	const (
		write = Write | Fast
		each  = "O(log n) for each ID, where n is the length of the stream"
		trim  = "<MAXLEN | MINID> [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]"
	)
	return []Command{
		{Name: "xadd", Arity: -5, Flags: Write | DenyOOM | Fast, Keys: firstKey.with(rwUpdate), Cost: costConstant, Work: trimmedWork, Doc: Doc{Version: "5.0.0", Complexity: "O(log n), where n is the length of the stream; O(m) where m entries are trimmed",
			Syntax: "XADD key [NOMKSTREAM] [IDMPAUTO producer | IDMP producer id] [" + trim + "] <* | id> field value [field value ...]", Summary: "Appends an entry to a stream, which is made if it is missing, and returns the entry's ID.",
			Tips: vagueOutput, Changes: []Change{{"6.2.0", "Takes NOMKSTREAM, MINID and LIMIT."}, {"7.0.0", "An id may leave its second number to the server."}, takesReferences, {"8.6.0", "Takes IDMP and IDMPAUTO."}}}, Run: xAdd},
		{Name: "xdel", Arity: -3, Flags: write, Keys: firstKey.with(rwDelete), Cost: costConstant, Counts: answered, Doc: Doc{Version: "5.0.0", Complexity: each,
			Syntax: "XDEL key id [id ...]", Summary: "Deletes entries of a stream and returns how many there were."}, Run: xDel},
		{Name: "xdelex", Arity: -5, Flags: write, Keys: firstKey.with(rwDelete), Cost: costConstant, Work: referencesWork, Doc: Doc{Version: "8.2.0", Complexity: each,
			Syntax: "XDELEX key [KEEPREF | DELREF | ACKED] IDS numids id [id ...]", Summary: "Deletes entries with or without what is pending of them; returns for each 1 if it is deleted, 2 if a group needs it, -1 if it is not there."}, Run: xDelEx},
		{Name: "xtrim", Arity: -4, Flags: Write, Keys: firstKey.with(rwDelete), Cost: costValues, Work: streamTrimWork, Counts: answered, Doc: Doc{Version: "5.0.0", Complexity: "O(m), where m is the number of entries trimmed",
			Syntax: "XTRIM key " + trim, Summary: "Removes the first entries of a stream until it has at most so many, or none below an ID, and returns how many went.",
			Tips: vagueOutput, Changes: []Change{{"6.2.0", "Takes MINID and LIMIT."}, takesReferences}}, Run: xTrim},
	}
}

// streamReads are the rows that read entries.
func streamReads() []Command {
	const read = ReadOnly | ReadOnlyUser
	return []Command{
		{Name: "xlen", Arity: 2, Flags: read | Fast, Keys: firstKey.with(ro), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "XLEN key", Summary: "Returns the number of entries of a stream."}, Run: xLen},
		{Name: "xrange", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(log n + m), where n is the length of the stream and m of the result",
			Syntax: "XRANGE key start end [COUNT count]", Summary: "Returns the entries between two IDs, both included unless behind (; - and + are the ends.",
			Changes: []Change{takesOpenEnds}}, Run: xRange},
		{Name: "xrevrange", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(log n + m), where n is the length of the stream and m of the result",
			Syntax: "XREVRANGE key end start [COUNT count]", Summary: "XRANGE backwards.",
			Changes: []Change{takesOpenEnds}}, Run: xRevRange},
		{Name: "xread", Arity: -4, Flags: read | Blocking, Waiting: Waiting{Waits: blockTimeout, Pin: pinStreams, Wait: waitForStream}, Keys: streamKeys.uses(keyUse{does: roAccess, word: "STREAMS", from: 1, last: -1, step: 1, limit: 2}), Cost: costConstant, Work: streamsWork, Doc: Doc{Version: "5.0.0", Complexity: "O(log n + m) for each stream, where n is its length and m the number of entries returned",
			Syntax: "XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]", Summary: "Returns the entries of streams behind an ID each, waiting for one if asked to; $ is the last ID there was, + the last entry."},
			Access: Access{Categories: acl.Blocking}, Run: xRead},
		{Name: "xreadgroup", Arity: -7, Flags: Write | Blocking | ReportsMiss | MayGrow, Waiting: Waiting{Waits: blockTimeout, Wait: waitForGroup}, Keys: streamKeys.uses(keyUse{does: roAccess, word: "STREAMS", from: 4, last: -1, step: 1, limit: 2}), Cost: costConstant, Work: streamsWork, Counts: elements, Doc: Doc{Version: "5.0.0", Complexity: "O(m log n) for each stream, where n is its length and m the number of entries returned",
			Syntax: "XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]", Summary: "Delivers entries to a consumer of a group: for > those that nobody of the group was given, otherwise its own pending ones behind an ID."},
			Access: Access{Categories: acl.Blocking}, Run: xReadGroup},
	}
}

// streamPending are the rows of what was delivered and is not acknowledged yet.
func streamPending() []Command {
	const (
		read  = ReadOnly | ReadOnlyUser
		write = Write | Fast
	)
	return []Command{
		{Name: "xautoclaim", Arity: -6, Flags: write | ReportsMiss | MayGrow, Keys: firstKey.with(rwDelete), Cost: costConstant, Work: autoClaimWork, Counts: claimedOrLost, Doc: Doc{Version: "6.2.0", Complexity: "O(m log n), where n is the number of pending entries and m the count",
			Syntax: "XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]", Summary: "Takes over pending entries that are idle and returns the ID to go on with, the entries, and the IDs of those that are deleted.",
			Tips: vagueOutput, Changes: []Change{{"7.0.0", "Tells the ids that were deleted, and forgets them."}}}, Run: xAutoClaim},
		{Name: "xclaim", Arity: -6, Flags: write | ReportsMiss | MayGrow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Work: claimWork, Counts: claimed, Doc: Doc{Version: "5.0.0", Complexity: streamPend,
			Syntax: "XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]", Summary: "Takes over pending entries of other consumers and returns them.",
			Tips: vagueOutput}, Run: xClaim},
		{Name: "xnack", Arity: -7, Flags: write | ReportsMiss | MayGrow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "8.8.0", Complexity: streamPend,
			Syntax: "XNACK key group <SILENT | FAIL | FATAL> IDS numids id [id ...] [RETRYCOUNT count] [FORCE]", Summary: "Gives pending entries back, so that any consumer may claim them at once, and returns how many: SILENT counts one delivery less, FATAL as many as there can be."}, Run: xNack},
		{Name: "xpending", Arity: -3, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(n), where n is the number of entries looked at; of consumers without a range",
			Syntax: "XPENDING key group [[IDLE min-idle-time] start end count [consumer]]", Summary: "Returns what is pending in a group: a summary, or entries with consumer, idle time and number of deliveries.",
			Tips: vagueOutput, Changes: []Change{{"6.2.0", "Takes IDLE, and intervals without their ends."}}}, Run: xPending},
	}
}

// streamAcknowledgements are the rows that end what is pending.
func streamAcknowledgements() []Command {
	const write = Write | Fast
	return []Command{
		{Name: "xack", Arity: -4, Flags: write | ReportsMiss, Keys: firstKey.with(rwUpdate), Cost: costConstant, Counts: answered, Doc: Doc{Version: "5.0.0", Complexity: streamPend,
			Syntax: "XACK key group id [id ...]", Summary: "Acknowledges entries that were delivered to a group, which are not pending any more, and returns how many were."}, Run: xAck},
		{Name: "xackdel", Arity: -6, Flags: write | ReportsMiss, Keys: firstKey.with(rwDelete), Cost: costConstant, Work: referencesWork, Doc: Doc{Version: "8.2.0", Complexity: streamPend,
			Syntax: "XACKDEL key group [KEEPREF | DELREF | ACKED] IDS numids id [id ...]", Summary: "Acknowledges entries and deletes them; returns for each 1 if it is deleted, 2 if another group needs it, -1 if it was not pending."}, Run: xAckDel},
	}
}

// streamGroups are the rows of consumer groups.
func streamGroups() []Command {
	second := keyPlaces{First: 2, Last: 2, Step: 1}
	return []Command{
		{Name: "xgroup create", Arity: -5, Flags: Write | DenyOOM, Keys: second.with(rwInsert), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(log n), where n is the number of groups",
			Syntax: "XGROUP CREATE key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]", Summary: "Makes a consumer group that reads a stream behind an ID.",
			Changes: []Change{{"7.0.0", "Takes ENTRIESREAD."}}}, Run: xGroupCreate},
		{Name: "xgroup createconsumer", Arity: 5, Flags: Write | DenyOOM, Keys: second.with(rwInsert), Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(log n), where n is the number of consumers",
			Syntax: "XGROUP CREATECONSUMER key group consumer", Summary: "Makes a consumer of a group; returns 0 if there was one."}, Run: xGroupCreateConsumer},
		{Name: "xgroup delconsumer", Arity: 5, Flags: Write, Keys: second.with(rwDelete), Cost: costConstant, Work: consumerWork, Doc: Doc{Version: "5.0.0", Complexity: "O(n), where n is the number of entries pending with the consumer",
			Syntax: "XGROUP DELCONSUMER key group consumer", Summary: "Removes a consumer with what is pending with it, and returns how much that was."}, Run: xGroupDelConsumer},
		{Name: "xgroup destroy", Arity: 4, Flags: Write, Keys: second.with(rwDelete), Cost: costConstant, Work: consumerWork, Doc: Doc{Version: "5.0.0", Complexity: "O(n), where n is the number of consumers",
			Syntax: "XGROUP DESTROY key group", Summary: "Removes a consumer group; returns 0 if there was none."}, Run: xGroupDestroy},
		{Name: "xgroup help", Arity: 2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "XGROUP HELP", Summary: "Returns the subcommands.",
			Info: whileLoading}, Run: xGroupHelp},
		{Name: "xgroup setid", Arity: -5, Flags: Write, Keys: second.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(log n), where n is the number of groups",
			Syntax: "XGROUP SETID key group <id | $> [ENTRIESREAD entries-read]", Summary: "Sets the ID of the last entry delivered to a group.",
			Changes: []Change{{"7.0.0", "Takes ENTRIESREAD."}}}, Run: xGroupSetID},
	}
}

// streamInfo are the rows that describe a stream.
func streamInfo() []Command {
	const read = ReadOnly | ReadOnlyUser
	second := keyPlaces{First: 2, Last: 2, Step: 1}
	return []Command{
		{Name: "xinfo consumers", Arity: 4, Flags: read, Keys: second.with(roAccess), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(n), where n is the number of consumers",
			Syntax: "XINFO CONSUMERS key group", Summary: "Returns the consumers of a group with their pending entries and idle times.",
			Tips: vagueOutput}, Run: xInfoConsumers},
		{Name: "xinfo groups", Arity: 3, Flags: read, Keys: second.with(roAccess), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(n), where n is the number of groups",
			Syntax: "XINFO GROUPS key", Summary: "Returns the groups of a stream with what they read and what they have before them.",
			Changes: []Change{{"7.0.0", "Tells entries-read and lag."}}}, Run: xInfoGroups},
		{Name: "xinfo help", Arity: 2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "XINFO HELP", Summary: "Returns the subcommands.",
			Info: whileLoading}, Run: xInfoHelp},
		{Name: "xinfo stream", Arity: -3, Flags: read, Keys: second.with(roAccess), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1); O(n) with FULL, where n is what it shows",
			Syntax: "XINFO STREAM key [FULL [COUNT count]]", Summary: "Returns the counters and ends of a stream, with FULL its entries and groups too.",
			Changes: []Change{{"6.0.0", "Takes FULL."}, {"7.0.0", "Tells max-deleted-entry-id, entries-added, recorded-first-entry-id, entries-read and lag."}}}, Run: xInfoStream},
	}
}

// streamSettings are the rows that set a stream's counters and what it remembers of producers.
func streamSettings() []Command {
	const write = Write | Fast
	return []Command{
		{Name: "xcfgset", Arity: -4, Flags: write, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "8.6.0", Complexity: "O(n), where n is the number of ids that are forgotten",
			Syntax: "XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE count]", Summary: "Sets how long a stream remembers the ids of XADD IDMP, and how many of each producer; a new value clears what is remembered."}, Run: xCfgSet},
		{Name: "xsetid", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]", Summary: "Sets the last ID of a stream and its counters.",
			Changes: []Change{{"7.0.0", "Takes ENTRIESADDED and MAXDELETEDID."}}}, Run: xSetID},
	}
}
