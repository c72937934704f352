package failpoint

// The points that the product evaluates. A test arms them by these names.
const (
	// BeforePropose stands before a batch is handed to raft.
	BeforePropose = "before-propose"
	// AfterPropose stands after raft accepted a batch, before its outcome.
	AfterPropose = "after-propose"
	// AfterFsync stands after the log store synced entries, before it says so.
	AfterFsync = "after-fsync-before-reply"
	// ApplyBeforeReply stands after an entry was applied, before any waiter learns the outcome.
	ApplyBeforeReply = "apply-before-reply"
	// MidSnapshot is reached in the middle of writing a snapshot.
	MidSnapshot = "mid-snapshot"
	// MidRestore is reached in the middle of reading a snapshot.
	MidRestore = "mid-restore"
	// AfterClaim stands after a delivery was claimed, before it is attempted.
	AfterClaim = "after-claim"
	// AfterAnswer stands after a destination answered, before the result is put into the log.
	AfterAnswer = "after-answer-before-result"
)

// WallClock is the name under which a specification sets WallOffset. It is no point.
const WallClock = "wall-clock"

// Environment variables that arm points; read only under the build tag.
const (
	// EnvSpec holds a specification that is armed at start.
	EnvSpec = "TRIREME_FAILPOINTS"
	// EnvFile names a file whose content replaces what is armed when it changes.
	EnvFile = "TRIREME_FAILPOINTS_FILE"
)

// ExitCode is the exit status of a process ended by the action exit, so that a
// harness can tell a crash it ordered from one it did not.
const ExitCode = 86
