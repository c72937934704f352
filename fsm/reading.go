package fsm

import (
	"context"
)

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
