package cli

import (
	"errors"
	"fmt"
)

// The exit codes of every subcommand.
const (
	ExitDone        = 0
	ExitFailed      = 1 // the node refused, or the command failed
	ExitUsage       = 2 // wrong arguments, flags or settings; nothing was sent
	ExitUnreachable = 3 // no answer from the node, or none that is one
	ExitDenied      = 4 // the token is wrong, or may not do this
	ExitUnknown     = 5 // the thing that was named does not exist
)

// Error is a failure with the exit code that it ends the process with.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func errorf(code int, format string, args ...any) error {
	return &Error{code, fmt.Errorf(format, args...)}
}

// Usagef returns an error of wrong usage: what the user gave, and what to give instead.
func Usagef(format string, args ...any) error { return errorf(ExitUsage, format, args...) }

// ExitCode returns the exit code that an error ends the process with.
func ExitCode(err error) int {
	var e *Error
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &e):
		return e.Code
	}
	return ExitFailed
}
