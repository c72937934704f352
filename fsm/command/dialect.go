package command

// dialect holds what commands do differently for the two kinds of clients. Those of RESP get what Redis 7.0 does; those of
// HTTP get what the reference service does, for which their libraries are written. Nothing else in this package knows such
// a difference: a handler asks tx.dialect(). (origin.go and permit.go have the words of refusals, which differ too.)
//
// A call from a script follows Redis, whoever called the script. Only numbers follow the client, because scripts pass them on.
type dialect struct {
	// longNumbers says that scores have 17 digits and coordinates 17 decimals, as in Redis 7.0. Otherwise they have the
	// fewest digits that read back alike.
	longNumbers bool
	// configuredEncodings says that OBJECT ENCODING follows the parameters, which can be set over RESP alone.
	configuredEncodings bool
	// approximate says which entries a trim with ~ may leave.
	approximate leeway
	// scanCount is the default COUNT of SCAN, HSCAN, SSCAN and ZSCAN.
	scanCount int64
	// limitsRanks says that ZRANGESTORE takes LIMIT with ranks too.
	limitsRanks bool
	// groupless says that XINFO CONSUMERS of a group that does not exist lists nothing, instead of failing.
	groupless bool
	// deletesAcknowledged says that XACKDEL deletes an entry also if it was acknowledged before.
	deletesAcknowledged bool
	// fieldSeconds makes seconds of the deadline of a field for HEXPIRETIME. Redis rounds up. Of the reference service it is
	// known that it answers one second less for a deadline that HEXPIRE has set; that it rounds down is inferred: rounding to
	// the nearest second would have answered as Redis half of the time.
	fieldSeconds func(ms int64) int64
	// reportsLostPath says that JSON.SET and JSON.MERGE fail where the parent of a new value is missing. RedisJSON is silent.
	reportsLostPath bool
	// copiesToItself says that COPY onto the key itself is 0 and no error.
	copiesToItself bool
	// fiveUserFields says that ACL GETUSER has a field of selectors only if there are some.
	fiveUserFields bool
	// hidesCommands says that COMMAND lists nothing.
	hidesCommands bool
	// allSections says that INFO shows all sections by default, and of one that isn't known the heading.
	allSections bool
	// oneParameter says that CONFIG GET shows notify-keyspace-events alone.
	oneParameter bool
	// anonymousReaders says that XREADGROUP with NOACK makes no consumer.
	anonymousReaders bool
	// unknownFlags says that scripts may carry flags that only their service knows, and FCALL_RO may call functions that
	// are not marked.
	unknownFlags bool
}

// leeway names the entries that an approximate trim may leave of those that it was told to cut.
type leeway uint8

const (
	noLeeway    leeway = iota
	wholeNodes         // what shares a node of Redis's tree with an entry to keep
	lessThanAll        // everything, as long as it is fewer than trimLeeway entries
)

// trimLeeway is below how many entries too many the reference service leaves a stream alone.
const trimLeeway = 100

// The dialects.
var (
	// uncommitted is for calls without a client: of tests, and of the state machine itself.
	uncommitted = dialect{scanCount: 10, fieldSeconds: ceil}

	redis7 = dialect{longNumbers: true, configuredEncodings: true, approximate: wholeNodes, scanCount: 10, fieldSeconds: ceil}
	// scriptOfService is for the calls of a script that was called over HTTP.
	scriptOfService = dialect{configuredEncodings: true, approximate: wholeNodes, scanCount: 10, fieldSeconds: ceil}

	service = dialect{approximate: lessThanAll, scanCount: 1000, limitsRanks: true, groupless: true, deletesAcknowledged: true,
		fieldSeconds: floor, reportsLostPath: true, copiesToItself: true, fiveUserFields: true, hidesCommands: true,
		allSections: true, oneParameter: true, anonymousReaders: true, unknownFlags: true}
)

// dialect returns the dialect of the call that runs.
func (tx *Tx) dialect() *dialect {
	client := tx.Origin
	if tx.run != nil {
		client = tx.run.origin
	}
	switch {
	case tx.Origin.isREST():
		return &service
	case client == RESP:
		return &redis7
	case client.isREST():
		return &scriptOfService
	}
	return &uncommitted
}

// floor is the whole seconds of a number of milliseconds.
func floor(ms int64) int64 { return ms / 1000 }
