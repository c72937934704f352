package workflow

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// The codes of refusals, to be compared by errors.Is. Those of package queue (invalid, not found, quota, memory) are used
// where they fit.
var (
	// ErrOver: the run is over, or was never there: 400, upon which an SDK gives the run up.
	ErrOver = &queue.Error{Code: "run-over", Text: "workflow run is over"}
	// ErrRefused: the step can't be right, now or later: 412, upon which an SDK fails the step.
	ErrRefused = &queue.Error{Code: "run-refused", Text: "workflow step refused"}
	// ErrConflict: what is asked for does not fit the state of what it names: 400.
	ErrConflict = &queue.Error{Code: "run-conflict", Text: "not possible in this state"}
	// ErrExists: a run of the id lives: 400. The text is known to clients.
	ErrExists = &queue.Error{Code: "run-exists", Text: "a workflow already exists, can not initialize a new one with same id"}
	// ErrEnded: an update came after the end of its run: 409.
	ErrEnded = &queue.Error{Code: "run-ended", Text: "workflow run is over"}
	// ErrInUse: active runs, or a rule, need a deployment as it is: 412.
	ErrInUse = &queue.Error{Code: "deployment-in-use", Text: "deployment is in use"}
	// ErrFull: a run has as many stored notifications as it may have: 429.
	ErrFull = &queue.Error{Code: "run-full", Text: "too many stored notifications"}
)

func refusal(kind *queue.Error, format string, args ...any) *queue.Error {
	return &queue.Error{Code: kind.Code, Text: fmt.Sprintf(format, args...)}
}

func runOverError(id string) *queue.Error {
	return refusal(ErrOver, "workflow run %s is over or not known", id)
}

func notFound(format string, args ...any) *queue.Error {
	return refusal(queue.ErrNotFound, format, args...)
}

func invalid(format string, args ...any) *queue.Error {
	return refusal(queue.ErrInvalid, format, args...)
}
