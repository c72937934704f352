package command

import "trireme/fsm/reply"

// changeSince is what a version of Redis changed about a command, as COMMAND DOCS tells it.
type changeSince struct{ version, what string }

// The changes that several commands share.
var (
	takesElements   = changeSince{"2.4.0", "Takes several elements."}
	takesFraction   = changeSince{"6.0.0", "The timeout may have a fraction."}
	takesConditions = changeSince{"7.0.0", "Takes NX, XX, GT and LT."}
	tellsMissing    = changeSince{"2.8.0", "Answers -2 for a key that is missing."}
	takesAnyCase    = changeSince{"7.0.0", "Units may be in upper case."}
	takesCount      = changeSince{"6.2.0", "Takes a count."}
	takesAsync      = changeSince{"4.0.0", "Takes ASYNC."}
	takesSync       = changeSince{"6.2.0", "Takes SYNC."}
	takesReferences = changeSince{"8.2.0", "Takes KEEPREF, DELREF and ACKED."}
	takesOpenEnds   = changeSince{"6.2.0", "The ends of the interval may be excluded."}
)

// changesOf are those of each command since it appeared, the oldest first. Versions beyond the
// one that we are compared with are named where the option is served here.
var changesOf = map[string][]changeSince{
	"acl getuser":       {{"6.2.0", "Tells the patterns of channels."}, {"7.0.0", "Tells selectors, and keys and channels as rules."}},
	"acl setuser":       {{"6.2.0", "Takes patterns of channels."}, {"7.0.0", "Takes selectors, and keys for reading or writing alone."}},
	"auth":              {{"6.0.0", "Takes the name of a user."}},
	"bgsave":            {{"3.2.2", "Takes SCHEDULE."}},
	"bitcount":          {{"7.0.0", "Takes BYTE and BIT."}},
	"bitop":             {{"8.2.0", "Takes DIFF, DIFF1, ANDOR and ONE."}},
	"bitpos":            {{"7.0.0", "Takes BYTE and BIT."}},
	"blpop":             {takesFraction},
	"brpop":             {takesFraction},
	"brpoplpush":        {takesFraction},
	"bzpopmax":          {takesFraction},
	"bzpopmin":          {takesFraction},
	"client kill":       {{"2.8.12", "Takes takesConditions beside an address."}, {"2.8.12", "Takes ID."}, {"3.2.0", "TYPE may be master."}, {"5.0.0", "TYPE is replica; slave is understood as well."}, {"6.2.0", "Takes LADDR."}, {"7.4.0", "Takes MAXAGE."}},
	"client list":       {{"2.8.12", "Tells the id."}, {"5.0.0", "Takes TYPE."}, {"6.0.0", "Tells the user."}, {"6.2.0", "Takes ID; tells argv-mem, tot-mem, laddr and redir."}, {"7.0.0", "Tells resp, multi-mem, rbs and rbp."}, {"7.0.3", "Tells ssub."}},
	"client pause":      {{"6.2.0", "Takes WRITE and ALL."}},
	"cluster slots":     {{"4.0.0", "Tells the ids of nodes."}, {"7.0.0", "Tells more about the network of nodes."}},
	"command info":      {{"7.0.0", "Without names it tells of all commands."}},
	"config get":        {{"7.0.0", "Takes several patterns."}},
	"config set":        {{"7.0.0", "Takes several parameters."}},
	"exists":            {{"3.0.3", "Takes several keys."}},
	"expire":            {takesConditions},
	"expireat":          {takesConditions},
	"flushall":          {takesAsync, takesSync},
	"flushdb":           {takesAsync, takesSync},
	"geoadd":            {{"6.2.0", "Takes CH, NX and XX."}},
	"georadius":         {{"6.2.0", "COUNT takes ANY."}, takesAnyCase},
	"georadius_ro":      {{"6.2.0", "COUNT takes ANY."}},
	"georadiusbymember": {takesAnyCase},
	"geosearch":         {takesAnyCase},
	"geosearchstore":    {takesAnyCase},
	"hdel":              {{"2.4.0", "Takes several fields."}},
	"hello":             {{"6.2.0", "Without a version it tells of the connection alone."}},
	"hset":              {{"4.0.0", "Takes several fields."}},
	"info":              {{"7.0.0", "Takes several sections."}},
	"lpop":              {takesCount},
	"lpush":             {takesElements},
	"lpushx":            {{"4.0.0", "Takes several elements."}},
	"pexpire":           {takesConditions},
	"pexpireat":         {takesConditions},
	"pttl":              {tellsMissing},
	"renamenx":          {{"3.2.0", "Both names may be the same."}},
	"restore":           {{"3.0.0", "Takes REPLACE."}, {"5.0.0", "Takes ABSTTL."}, {"5.0.0", "Takes IDLETIME and FREQ."}},
	"rpop":              {takesCount},
	"rpush":             {takesElements},
	"rpushx":            {{"4.0.0", "Takes several elements."}},
	"sadd":              {takesElements},
	"scan":              {{"6.0.0", "Takes TYPE."}},
	"script flush":      {{"6.2.0", "Takes ASYNC and SYNC."}},
	"set":               {{"2.6.12", "Takes EX, PX, NX and XX."}, {"6.0.0", "Takes KEEPTTL."}, {"6.2.0", "Takes GET, EXAT and PXAT."}, {"7.0.0", "Takes NX and GET together."}, {"8.4.0", "Takes IFEQ, IFNE, IFDEQ and IFDNE."}},
	"shutdown":          {{"7.0.0", "Takes NOW, FORCE and ABORT."}},
	"slowlog get":       {{"4.0.0", "Tells the address and the name of the client."}},
	"spop":              {{"3.2.0", "Takes a count."}},
	"srandmember":       {{"2.6.0", "Takes a count."}},
	"srem":              {takesElements},
	"ttl":               {tellsMissing},
	"xadd":              {{"6.2.0", "Takes NOMKSTREAM, MINID and LIMIT."}, {"7.0.0", "An id may leave its second number to the server."}, takesReferences},
	"xautoclaim":        {{"7.0.0", "Tells the ids that were deleted, and forgets them."}},
	"xgroup create":     {{"7.0.0", "Takes ENTRIESREAD."}},
	"xgroup setid":      {{"7.0.0", "Takes ENTRIESREAD."}},
	"xinfo groups":      {{"7.0.0", "Tells entries-read and lag."}},
	"xinfo stream":      {{"6.0.0", "Takes FULL."}, {"7.0.0", "Tells max-deleted-entry-id, entries-added, recorded-first-entry-id, entries-read and lag."}},
	"xpending":          {{"6.2.0", "Takes IDLE, and intervals without their ends."}},
	"xrange":            {takesOpenEnds},
	"xrevrange":         {takesOpenEnds},
	"xsetid":            {{"7.0.0", "Takes ENTRIESADDED and MAXDELETEDID."}},
	"xtrim":             {{"6.2.0", "Takes MINID and LIMIT."}, takesReferences},
	"zadd":              {takesElements, {"3.0.2", "Takes XX, NX, CH and INCR."}, {"6.2.0", "Takes GT and LT."}},
	"zrange":            {{"6.2.0", "Takes REV, BYSCORE, BYLEX and LIMIT."}},
	"zrangebyscore":     {{"2.0.0", "Takes WITHSCORES."}},
	"zrank":             {{"7.2.0", "Takes WITHSCORE."}},
	"zrem":              {takesElements},
	"zrevrangebyscore":  {{"2.1.6", "The bounds may be excluded."}},
	"zrevrank":          {{"7.2.0", "Takes WITHSCORE."}},
}

// history is what COMMAND DOCS tells of the row's changes: pairs of a version and what it
// changed.
func (c *Command) history() []reply.Value {
	var all []reply.Value
	for _, since := range changesOf[c.Name] {
		all = append(all, reply.Array(reply.Bulk(since.version), reply.Bulk(since.what)))
	}
	return all
}
