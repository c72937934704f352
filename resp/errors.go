package resp

import (
	"context"
	"errors"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// The port's own errors, in Redis's words where Redis has them.
const (
	textMaxClients = "ERR max number of clients reached"
	textNoAuth     = "NOAUTH Authentication required."
	textWrongPass  = "WRONGPASS invalid username-password pair or user is disabled."
	textNoLeader   = "TRYAGAIN no leader"
	textUnknown    = "UNKNOWN outcome not known"
)

var (
	errNoAuth    = reply.Error(textNoAuth)
	errWrongPass = reply.Error(textWrongPass)
	errSyntax    = reply.Error("ERR syntax error")
)

// failures maps errors of the engine to replies. The first word of a reply gives the command's
// outcome: after TRYAGAIN it was not applied and may be repeated; after UNKNOWN it may have been
// applied, or may still be.
var failures = []struct {
	err  error
	text string
}{
	{fsm.ErrNoLeader, textNoLeader},
	{fsm.ErrPoison, "TRYAGAIN " + fsm.ErrPoison.Error()},
	{fsm.ErrQuarantined, "ERR " + fsm.ErrQuarantined.Text},
	{fsm.ErrTooLarge, "ERR request is larger than a log entry may be"},
	{fsm.ErrLowSpace, "TRYAGAIN free disk space is below the floor, writes are refused"},
	{fsm.ErrShare, "TRYAGAIN database has used more than its share of the cluster's time"},
	{fsm.ErrReadShare, "TRYAGAIN too many long reads of the database are running on this node"},
	{fsm.ErrStopping, "TRYAGAIN this node is shutting down"},
	{fsm.ErrTooStale, "TRYAGAIN this node has not caught up in time"},
	{fsm.ErrUnknown, textUnknown},
	{fsm.ErrRevoked, textNoAuth},
}

// failureOf returns the reply for an error of the engine. wrote reports whether the request was a write, whose
// outcome is unknown after an error that is not in the table.
func failureOf(err error, wrote bool) reply.Value {
	for i := range failures {
		if errors.Is(err, failures[i].err) {
			return reply.Error(failures[i].text)
		}
	}
	var refused *fsm.Error
	switch {
	case errors.As(err, &refused): // the operation itself says that it has changed nothing
	case wrote:
		return reply.Error(textUnknown)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return reply.Error("TRYAGAIN request ended before it was answered")
	}
	return reply.Error("ERR internal error")
}
