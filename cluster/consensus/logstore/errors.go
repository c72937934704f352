package logstore

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

var (
	// ErrDamaged says that the files hold something else than what was written. The node must not vote or serve from them: its
	// operator moves the directory aside and the node comes back under a new id.
	ErrDamaged = errors.New("log store damaged")
	errHole    = errors.New("only the beginning or the end of the log can be deleted")
	// ErrChecksum is the kind of damage where the sum kept with a log entry or a stable value does not fit it. It always comes
	// together with ErrDamaged.
	ErrChecksum = wal.ErrChecksum
	// ErrLocked says that another process has the directory open.
	ErrLocked = errors.New("log store in use")
	// ErrLowSpace says that free disk space is below the floor, so that new writes must be refused before they reach the log.
	ErrLowSpace = errors.New("disk space below the floor")
	// ErrNoSpace says that a write met a full disk. The outcome of that write is unknown; the store stays usable.
	ErrNoSpace = errors.New("disk full")
	// ErrFailed is the answer to every call after a failure that ends the process: the call did nothing.
	ErrFailed = errors.New("log store has failed")
	// ErrClosed is the answer to every call after Close.
	ErrClosed = errors.New("log store closed")
)

const wayOut = "move the data directory aside and let this node join again as a new member"

// damaged makes the one line that an operator sees: what, where, what to do.
func damaged(path, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w; %s", ErrDamaged, path, fmt.Errorf(format, args...), wayOut)
}

// told returns an error as an operator sees it: an error about damage of the log says what to do.
func told(err error) error {
	if errors.Is(err, wal.ErrDamaged) && !errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w: %w; %s", ErrDamaged, err, wayOut)
	}
	return err
}

// locked names the directory and the way out.
func locked(dir string) error {
	return fmt.Errorf("%w: %s: another process has it open; stop that process or choose another data directory", ErrLocked, dir)
}

// catch turns a panic of the database, or a fault on its mapped file, into an error. It is deferred with the result of
// debug.SetPanicOnFault(true).
func catch(err *error, path string, old bool) {
	debug.SetPanicOnFault(old)
	if r := recover(); r != nil {
		*err = damaged(path, "panic in the database: %v", r)
	}
}

// severity classifies the errors of the database by what the process must do.
type severity int

const (
	harmless severity = iota // an answer, not a failure
	full                     // no space: stay
	noFiles                  // no file can be opened now, nothing was written: stay
	fatal                    // everything else: end the process
)

// severityOf judges an error as the database returned it, not yet wrapped.
//
// A failed sync is fatal whatever its number: the kernel has marked the pages clean, so a later sync says nothing about them.
// The database returns a sync's errno bare, a write's inside a PathError, and those of growing the file only as text.
func severityOf(err error) severity {
	switch {
	case err == nil, errors.Is(err, raft.ErrLogNotFound), errors.Is(err, boltdb.ErrKeyNotFound):
		return harmless
	case errors.Is(err, ErrFailed), errors.Is(err, ErrClosed), errors.Is(err, errReservedKey):
		return harmless
	case isSyncError(err):
		return fatal
	case isNoSpace(err):
		return full
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return noFiles
	}
	return fatal
}

func isSyncError(err error) bool {
	if _, bare := err.(syscall.Errno); bare {
		return true
	}
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return path.Op == "sync"
	}
	return strings.HasPrefix(err.Error(), "file sync error")
}

func isNoSpace(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	return strings.HasPrefix(err.Error(), "file resize error") && strings.HasSuffix(err.Error(), syscall.ENOSPC.Error())
}
