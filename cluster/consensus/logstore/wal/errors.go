package wal

import (
	"errors"
	"fmt"
)

var (
	// ErrDamaged says that the files hold something else than what was appended.
	ErrDamaged = errors.New("damaged")
	// ErrChecksum is the kind of damage where a checksum does not fit. It always comes together with ErrDamaged.
	ErrChecksum = errors.New("checksum mismatch")
	// errTooLarge says that entries do not fit a record.
	errTooLarge = errors.New("wal: entries too large")
)

// damageError is damage of a file.
type damageError struct {
	path string
	err  error
}

func damaged(path, format string, args ...any) error {
	return &damageError{path, fmt.Errorf(format, args...)}
}

// Error names the file and what is wrong with it.
func (e *damageError) Error() string { return e.path + ": " + e.err.Error() }

// Unwrap returns what is wrong, and that it is damage.
func (e *damageError) Unwrap() []error { return []error{ErrDamaged, e.err} }

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
