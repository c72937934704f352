package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/dedup"
)

// outcome says what a failed request may have done.
type outcome string

const (
	// notApplied: nothing was changed, and nothing will be: safe to try again.
	notApplied outcome = "not-applied"
	// unknown: it may have been applied, or may still be.
	unknown outcome = "unknown"
	// applied: an earlier request of the same id was applied; its reply is lost.
	applied outcome = "applied"
)

// errPanic is the error of a handler that panicked.
var errPanic = errors.New("httpapi: handler panicked")

// failure is a reply that doesn't come from a command.
type failure struct {
	status  int
	outcome outcome
	text    string
}

func (f *failure) Error() string { return f.text }

// failures is the only table that maps errors of the engine to the replies that clients read.
var failures = []struct {
	err error
	failure
}{
	{fsm.ErrNoLeader, failure{http.StatusServiceUnavailable, notApplied, "ERR no leader: the cluster has no majority or is electing"}},
	{fsm.ErrPoison, failure{http.StatusServiceUnavailable, notApplied, "ERR " + fsm.ErrPoison.Error()}},
	{fsm.ErrQuarantined, failure{http.StatusServiceUnavailable, notApplied, "ERR " + fsm.ErrQuarantined.Text}},
	{fsm.ErrTooLarge, failure{http.StatusBadRequest, notApplied, "ERR request is larger than a log entry may be"}},
	{fsm.ErrLowSpace, failure{http.StatusServiceUnavailable, notApplied, "ERR free disk space is below the floor, writes are refused"}},
	{fsm.ErrShare, failure{http.StatusServiceUnavailable, notApplied, "ERR database has used more than its share of the cluster's time"}},
	{fsm.ErrReadShare, failure{http.StatusServiceUnavailable, notApplied, "ERR too many long reads of the database are running on this node"}},
	{fsm.ErrFeatureLevel, failure{http.StatusBadRequest, notApplied, "ERR this needs a higher feature level: upgrade every node of the cluster first"}},
	{fsm.ErrStopping, failure{http.StatusServiceUnavailable, notApplied, "ERR this node is shutting down"}},
	{fsm.ErrTooStale, failure{http.StatusServiceUnavailable, notApplied, "ERR this node has not caught up in time"}},
	{fsm.ErrRetryMismatch, failure{http.StatusBadRequest, notApplied, "ERR request id was used for another request"}},
	{fsm.ErrRetriesFull, failure{http.StatusServiceUnavailable, notApplied, "ERR table of request ids is full. Limit: " +
		strconv.Itoa(dedup.Capacity) + " bytes for " + strconv.Itoa(dedup.Retention/60_000) + " minutes"}},
	{fsm.ErrReplyNotKept, failure{http.StatusConflict, applied, "ERR request was applied before, its reply was longer than " +
		strconv.Itoa(dedup.MaxReply) + " bytes and was not kept"}},
	{fsm.ErrUnknown, failure{http.StatusServiceUnavailable, unknown, "ERR outcome not known: the write may have been applied or may still be"}},
}

// failureOf explains an error of the engine; wrote reports whether the request was a
// write that the engine was given.
func failureOf(err error, wrote bool) *failure {
	var own *failure
	if errors.As(err, &own) {
		return own
	}
	for i := range failures {
		if errors.Is(err, failures[i].err) {
			return &failures[i].failure
		}
	}
	var refused *fsm.Error
	if errors.As(err, &refused) {
		// The operation itself says that it has changed nothing.
		return &failure{http.StatusInternalServerError, notApplied, "ERR internal error"}
	}
	f := &failure{http.StatusInternalServerError, notApplied, "ERR internal error"}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		f.status, f.text = http.StatusServiceUnavailable, "ERR request ended before its outcome was known"
	}
	if wrote {
		f.outcome = unknown
	}
	return f
}

// badRequest returns a request refused before anything ran.
func badRequest(text string) *failure {
	return &failure{http.StatusBadRequest, notApplied, text}
}
