package workflow

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// SubmissionKind says what is submitted.
type SubmissionKind uint8

// The kinds of submissions.
const (
	// InitSubmission starts a run.
	InitSubmission SubmissionKind = iota
	// StepSubmission appends a result or a plan to a run.
	StepSubmission
	// CallSubmission asks for a call to a third party.
	CallSubmission
	// EndSubmission ends a run with success, by the attempt that has seen or recorded its last step.
	EndSubmission
)

// Submission is a message with workflow headers, as a publish or an item of a batch.
type Submission struct {
	Kind SubmissionKind
	// URL is the destination: the endpoint, or for a call the third party.
	URL string
	// RunID names the run. An InitSubmission without one gets one.
	RunID string
	// Body is the payload, a step's JSON, or the body of a call.
	Body []byte
	queue.Options
	Features Features
	CallerIP string
	// Step is decoded from Body, or for a call from its callback's headers.
	Step Step
	// Created is the creation of the run that is meant, in unix milliseconds; 0 if the SDK does not say it.
	Created int64
	// Commit are commands that take effect with the step or not at all, a JSON array of arrays. They count if the run was
	// started with CommitAs.
	Commit []byte

	// State is the run's state from this step on, JSON of which null removes it; empty leaves it as it is.
	State []byte
	// Updates is the JSON object of the updates that the run accepts, see ReadUpdates: from its start, or from this step on. Empty leaves
	// them as they are.
	Updates []byte
	// Attempt is the one that records the step and continues, zero if none does. End is the end of the run that follows at once.
	Attempt queue.AttemptRef
	End     *Ending

	// The rest is of an InitSubmission.

	// Deployment is the one that the run is to be on, empty for none.
	Deployment string

	// Keep are the events that the run keeps, see queue.RunOptions.
	Keep []string
	// KeepValues are the keys whose values the run keeps.
	KeepValues []string

	Origin Origin
	// Again: it is the second half of the handshake, and replaces what the run was started with.
	Again bool
	// Invoker is set if a step of another run waits for this one. Its Run is found by RunID and Created.
	Invoker *Invoker
	// Depth counts the runs above this one, each invoked by the next.
	Depth int
	// DedupID and ContentDedup ask for at most one run in the window in which messages are published once.
	DedupID      string
	ContentDedup bool
}

// Submissions is the argument of the operation Submit: each is judged on its own, in order. Those of one attempt are a chain: after one
// by which the attempt does not continue the others count for nothing, and have its receipt.
type Submissions struct{ Items []Submission }

// Broken reports whether submission i is of a chain that has ended before it, by the receipts before it.
func (s Submissions) Broken(i int, before []Receipt) bool {
	of := s.Items[i].Attempt
	return of != queue.AttemptRef{} && i > 0 && s.Items[i-1].Attempt == of && !before[i-1].Inline
}

// Receipt answers a submission, or a wait.
type Receipt struct {
	// ID is the message: the entry, or with Deduplicated the entry that won.
	ID           queue.ID
	Deduplicated bool
	// RunID and Created name the run.
	RunID   string
	Created int64
	// Refused is nil if the submission was accepted: ErrOver, ErrRefused, or one of package queue.
	Refused *queue.Error
	// Debounced: the run was there already, and starts with this input. Attached: it is the one of its singleton that lives.
	Debounced, Attached bool
	// Inline: the attempt that has recorded the step continues. Ended: it has ended the run after it.
	Inline, Ended bool
}

// Receipts is the result of the operation Submit, one for each submission.
type Receipts struct{ Items []Receipt }

// Await is the argument of the operation Await: a step waits for an event.
type Await struct {
	RunID, EventID string
	Step           Step
	// Open is the step's JSON as it was sent, without its closing brace.
	Open []byte
	// Timeout is in milliseconds, TimeoutText how it was written.
	Timeout     int64
	TimeoutText string
	// URL, with Options, is called when the event comes; TimeoutURL, with TimeoutOptions, if the wait times out.
	URL            string
	Options        queue.Options
	TimeoutURL     string
	TimeoutOptions queue.Options
	TimeoutBody    []byte
}

// Notification is the argument of the operation Notify.
type Notification struct {
	EventID string
	// RunID makes it the look-back form: only for that run, and stored if it does not wait.
	RunID string
	// Hook: a webhook was called. Only waiters that asked for one are meant, and every miss is the same ErrNotFound.
	Hook bool
	Body []byte
	// Until and After are for going on: what the Notified before says.
	Until, After uint64
	// Update: it is an update of the run RunID, which the run's rule for EventID has to accept. UpdateID is the sender's name for it, by which
	// it is taken once; empty if there is none.
	Update   bool
	UpdateID string
}

// Notified is the result of the operation Notify.
type Notified struct {
	// Woken are the waiters that it has taken out, in the order in which they began to wait.
	Woken []Woken
	// Stored: the run did not wait, and will find the notification when it does.
	Stored bool
	// More: others still wait, of those that began to wait before Until, or keep it. The caller goes on with the same notification, Until and
	// After.
	More         bool
	Until, After uint64
	// Kept are the runs that keep the event and did not wait for it.
	Kept []Keeper
	// Update says what became of an update, nil of anything else.
	Update *Verdict
}

// NobodyHasRoom is the refusal of a notification that reached nobody because no run that keeps the event has room for it, nil of any other.
func (n *Notified) NobodyHasRoom() error {
	if len(n.Woken) > 0 || len(n.Kept) == 0 || slices.ContainsFunc(n.Kept, func(k Keeper) bool { return !k.Full }) {
		return nil
	}
	return refusal(ErrFull, "workflow run %s has as many stored notifications as it may have, and nobody else was notified", n.Kept[0].RunID)
}

// Keeper is a run for which an event is kept; Full if there is no room for it any more.
type Keeper struct {
	RunID   string
	Created int64
	URL     string
	Full    bool
}

// Verdict says whether a run has accepted an update.
type Verdict struct {
	// ID is the sender's name for the update, or one that was made.
	ID                     string
	Accepted, Deduplicated bool
	// Version is that of the state that the update was held against.
	Version uint64
	// Rule is the run's, and Refused why it did not accept the update.
	Rule, Refused string
}

// Woken is a waiter that was notified.
type Woken struct {
	Waiter *Waiter
	// Message is the entry of its result.
	Message queue.ID
	RunID   string
	Created int64
}

// Ending is the argument of the operation End: the endpoint ends its run, with a result or without.
type Ending struct {
	RunID     string
	Result    []byte
	HasResult bool
}

// RunRef names a run.
type RunRef struct {
	ID      string
	Created int64
	State   RunState
}

// Cancellation is the argument of the operation CancelRuns.
type Cancellation struct {
	Filter
	// Limit is the most runs to cancel, 0 for as many as one entry may.
	Limit int
	// Strict: the one run that RunIDs names has to be there, or the answer is ErrNotFound.
	Strict bool
	// After is the cursor of the entry before.
	After uint64
}

// Cancelled is the result of the operation CancelRuns.
type Cancelled struct {
	Count int
	// More: there may be more behind Cursor.
	More   bool
	Cursor uint64
}

// DeadSelection names dead letters: IDs, or those that Filter chooses.
type DeadSelection struct {
	IDs    []queue.Stamp
	Filter DeadFilter
	// Limit is the most to take, at most MaxRevived; 0 is MaxRevived.
	Limit int
	After queue.Stamp
	// Strict: every one of IDs has to be there, or the answer is ErrNotFound.
	Strict bool
	// None: nothing is chosen. It keeps a list of ids that is empty from meaning everything.
	None bool
}

// DeadFilter chooses dead letters by their runs and by when and how they failed.
type DeadFilter struct {
	Filter
	// Callbacks are the states of the failure callback.
	Callbacks []CallbackState
	// Statuses are status codes of the last answer.
	Statuses []int
}

// Revival is the argument of the operation Revive: resume or restart.
type Revival struct {
	DeadSelection
	// Restart begins anew with the payload; otherwise the finished steps are kept.
	Restart bool
	// RunID is the id of the new run; only for one dead letter.
	RunID string
	// Options replace those of the run that they name, and Deployment, if it is not empty, the one that the run was on.
	Options    queue.Options
	Deployment string
}

// Revived is the result of the operation Revive.
type Revived struct {
	Runs   []RunRef
	More   bool
	Cursor queue.Stamp
}

// DeadDeleted is the result of the operation DeleteDeadRuns.
type DeadDeleted struct {
	Count  int
	More   bool
	Cursor queue.Stamp
}

// CallbackChange is the argument of the operation ChangeCallback: the failure callback of a dead letter is called once
// more, or cancelled.
type CallbackChange struct {
	Dead   queue.Stamp
	Cancel bool
}

// MaxRevived is the most dead letters that one entry resumes, restarts or deletes (the specification's 50).
const MaxRevived = 50
