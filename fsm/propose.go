package fsm

import (
	"context"
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
)

// What a Proposer says when it has no outcome.
var (
	// ErrNoLeader: there is no leader, and the request was never sent: not applied.
	ErrNoLeader = errors.New("no leader")
	// ErrTooLarge: the request can't be a log entry: not applied.
	ErrTooLarge = errors.New("request is larger than a log entry may be")
	// ErrLowSpace: this cluster's disks are nearly full: not applied.
	ErrLowSpace = errors.New("free disk space is below the floor: writes are refused")
	// ErrShare: the database has used more than its share of the cluster's time, and the request's own was over before
	// its turn came: not applied.
	ErrShare = errors.New("database has used more than its share of the cluster's time")
	// ErrFeatureLevel: the operation needs a higher feature level than the one in force, because there may be nodes that
	// can't apply it: not applied.
	ErrFeatureLevel = errors.New("this needs a higher feature level: upgrade every node of the cluster first")
	// ErrPoison: this node applies nothing, and answers nothing, because an entry of the log has ended its process twice:
	// not applied.
	ErrPoison = errors.New("this node waits for its operator before an entry of the log that has ended it twice (trireme recover)")
	// ErrStopping: the node is shutting down and never sent the request: not applied.
	ErrStopping = errors.New("node is stopping")
	// ErrUnknown: the request was sent and its outcome can't be known; it may have
	// been applied, or may still be.
	ErrUnknown = errors.New("outcome not known")
	// ErrReadShare: the node serves as many long reads of the database as it may have at once, and the request's own did
	// not have its turn in time.
	ErrReadShare = errors.New("too many long reads of the database")
	// ErrTooStale: a read that asks for a state newer than this node could reach in time.
	ErrTooStale = errors.New("this node has not caught up in time")
)

// Proposer puts a request into the log and returns its outcome: a value of the
// operation's result type, an *Error of the operation, or one of the errors above.
type Proposer interface {
	Propose(ctx context.Context, code uint16, body []byte) (any, error)
}

// Permitted is ErrFeatureLevel for an operation that must not be in the log at that level: nodes stop where they meet one
// that they don't know.
func Permitted(code uint16, level env.Level) error {
	if _, err := find(code, level); err != nil {
		return ErrFeatureLevel
	}
	return nil
}

// RevocationBarrier is a Proposer whose nodes may judge session reads for a while by a
// state that lacks what was just applied. WaitRevoked returns when none does any more.
type RevocationBarrier interface {
	WaitRevoked(ctx context.Context) error
}

// Do proposes an operation and returns its typed result. One that takes rights away is
// only acknowledged when it has settled; if it can't be, that is ErrUnknown.
func Do[A, R any](ctx context.Context, p Proposer, op *Operation[A, R], arg A) (R, error) {
	var zero R
	v, err := p.Propose(ctx, op.Code, op.body(&arg))
	if err != nil {
		return zero, err
	}
	r, ok := v.(R)
	if !ok {
		return r, fmt.Errorf("fsm: %s answered a %T", op.Name, v)
	}
	if op.revoking == nil || !op.revoking(&arg) {
		return r, nil
	}
	if s, settles := p.(RevocationBarrier); settles && s.WaitRevoked(ctx) != nil {
		return zero, ErrUnknown
	}
	return r, nil
}

// Consistency is the promise of a read.
type Consistency uint8

// The read modes.
const (
	// Linearizable reads see everything that was acknowledged before they began.
	Linearizable Consistency = iota
	// SessionRead reads see at least the index that the request names, and every
	// revocation that was acknowledged before they began.
	SessionRead
	// Stale reads see some past committed state, and say how old it may be.
	Stale
)

// Reading says how to read.
type Reading struct {
	Mode Consistency
	// AtLeast is the lowest index to read at, in any mode.
	AtLeast uint64
	// Long says that the read is known to take long: writes then don't wait for it.
	Long bool
	// Database is the database whose share of long reads it uses, empty for the default one. The result does not depend on it.
	Database string
}

// ReadAt says what state a read saw.
type ReadAt struct {
	Index uint64
	// Now is the cluster time of the read in unix milliseconds.
	Now int64
	// AgeMillis bounds how long ago this node last knew itself up to date.
	AgeMillis int64
}

// ShortRead is the most commands of a read that is not Long.
const ShortRead = lockedCommands

// Reader runs fn on a state that is as new as r asks. If what fn runs looks at more than
// writes should wait for, it is run once more on a fork, and only that counts; see
// Machine.View.
type Reader interface {
	Read(ctx context.Context, r Reading, fn func(*View)) (ReadAt, error)
}
