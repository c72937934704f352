package mutant

// Name names a fault.
type Name string

// EnvName is the variable that chooses a fault; read only under the build tag.
const EnvName = "TRIREME_MUTANT"

// The faults. Each says what the product does instead of what it should.
const (
	// AppliedTwice: a repeated request is applied again.
	AppliedTwice Name = "applied-twice"
	// SessionsForgotten: snapshots lack which requests of a session were applied.
	SessionsForgotten Name = "sessions-forgotten-by-snapshot"
	// RepliesForgotten: snapshots lack the replies kept for clients that try again.
	RepliesForgotten Name = "replies-forgotten-by-snapshot"
	// DedupForgotten: snapshots lack the deduplication ids of messages.
	DedupForgotten Name = "dedup-forgotten-by-snapshot"
	// DedupApart: a message is made although its deduplication id is known.
	DedupApart Name = "dedup-not-looked-up"
	// SentIsRefused: a request that was sent and has no answer is said to be not applied.
	SentIsRefused Name = "unknown-said-to-be-refused"
	// SentAgain: what was sent under an ended session is sent again under the next.
	SentAgain Name = "sent-again-under-another-session"
	// AcknowledgedEarly: a write is acknowledged when it is sent, before it is committed.
	AcknowledgedEarly Name = "acknowledged-before-commit"
	// ClockBackwards: the state takes an entry's stamp although it is behind its own time.
	ClockBackwards Name = "clock-goes-back"
	// ClockBelowCeiling: a new leader's clock begins where the log ends, below read times that were given.
	ClockBelowCeiling Name = "clock-begins-below-the-ceiling"
	// ReadAheadOfEntries: read times overtake the stamps of entries under way.
	ReadAheadOfEntries Name = "reads-overtake-entries"
	// LocalClock: reads take the time of this node's wall clock, not of the cluster.
	LocalClock Name = "expiry-by-local-clock"
	// UnfencedRead: the leader gives read points without asking whether it still leads.
	UnfencedRead Name = "read-without-fence"
	// LocalRead: a node reads its own state without waiting for the index of the read.
	LocalRead Name = "read-without-waiting"
	// ClaimsOfOthers: a new leader takes over at once what is delivered one at a time.
	ClaimsOfOthers Name = "order-not-kept-across-leaders"
	// QueueTooWide: one message more of a queue is delivered at a time than its parallelism allows.
	QueueTooWide Name = "queue-too-wide"
	// TermIgnored: an Advance of a leader that was deposed claims attempts, and takes over those of its successor.
	TermIgnored Name = "claim-without-term"
	// FailedVanishes: a message that has failed makes no dead letter.
	FailedVanishes Name = "failed-without-dead-letter"
	// LostIsLast: a lost attempt that was the last one allowed makes a dead letter.
	LostIsLast Name = "dead-without-an-answer"
	// AnyAttempt: a result of an earlier attempt is taken for the current one.
	AnyAttempt Name = "result-of-another-attempt"
	// TickTwice: a tick that was dealt with fires again.
	TickTwice Name = "tick-fires-twice"
	// TickSkipped: a new leader passes over the ticks of the time before it.
	TickSkipped Name = "ticks-skipped-by-a-new-leader"
	// StepTwice: a second result of a step is accepted.
	StepTwice Name = "second-result-of-a-step"
	// NotifyRemembered: a notification that meets no waiter is kept for the next.
	NotifyRemembered Name = "plain-notify-remembered"
	// WaiterKept: a waiter that was notified stays, and is notified again. It is taken out in two places, when it is woken and
	// when its step has a result, and only without both does it stay.
	WaiterKept Name = "waiter-woken-twice"
	// ReviveTwice: a dead run is not consumed by its revival.
	ReviveTwice Name = "dead-run-revived-twice"
	// TornFork: a snapshot shares what is under way with the running state.
	TornFork Name = "snapshot-shares-the-state"
	// LostOfOver: the word that an attempt was lost meets a message that is over (this was a fault of the product).
	LostOfOver Name = "lost-attempt-of-a-dropped-message"
)

// PoisonKey: a write whose first argument is the key PoisonWord ends the process, as no fault of a release does that can be
// caught. It is no fault for checkers to find, and none of All: the run "poison" rehearses with it what operators do then.
const PoisonKey Name = "poison-key"

// PoisonWord is that key.
const PoisonWord = "poison"

// Fault is a fault and what the product does then instead of what it should.
type Fault struct {
	Name  Name
	Means string
}

// All lists the faults, in the order above.
func All() []Fault {
	return []Fault{
		{AppliedTwice, "a repeated request is applied again"},
		{SessionsForgotten, "snapshots lack which requests of a session were applied"},
		{RepliesForgotten, "snapshots lack the replies kept for clients that try again"},
		{DedupForgotten, "snapshots lack the deduplication ids of messages"},
		{DedupApart, "a message is made although its deduplication id is known"},
		{SentIsRefused, "a request that was sent and has no answer is said to be not applied"},
		{SentAgain, "what was sent under an ended session is sent again under the next"},
		{AcknowledgedEarly, "a write is acknowledged when it is sent, before it is committed"},
		{ClockBackwards, "the state takes an entry's stamp although it is behind its own time"},
		{ClockBelowCeiling, "a new leader's clock begins where the log ends, below read times that were given"},
		{ReadAheadOfEntries, "read times overtake the stamps of entries under way"},
		{LocalClock, "reads take the time of this node's wall clock, not of the cluster"},
		{UnfencedRead, "the leader gives read points without asking whether it still leads"},
		{LocalRead, "a node reads its own state without waiting for the index of the read"},
		{ClaimsOfOthers, "a new leader takes over at once what is delivered one at a time"},
		{QueueTooWide, "one message more of a queue is delivered at a time than its parallelism allows"},
		{TermIgnored, "an Advance of a leader that was deposed claims attempts, and takes over those of its successor"},
		{FailedVanishes, "a message that has failed makes no dead letter"},
		{LostIsLast, "a lost attempt that was the last one allowed makes a dead letter"},
		{AnyAttempt, "a result of an earlier attempt is taken for the current one"},
		{TickTwice, "a tick that was dealt with fires again"},
		{TickSkipped, "a new leader passes over the ticks of the time before it"},
		{StepTwice, "a second result of a step is accepted"},
		{NotifyRemembered, "a notification that meets no waiter is kept for the next"},
		{WaiterKept, "a waiter that was notified stays, and is notified again"},
		{ReviveTwice, "a dead run is not consumed by its revival"},
		{TornFork, "a snapshot shares what is under way with the running state"},
		{LostOfOver, "the word that an attempt was lost meets a message that is over (this was a fault of the product)"},
	}
}
