package rdb

import "errors"

// A payload that can't be restored whatever the state is need not go through the log: a stand-in of a few bytes, for which
// reading has the same error, goes in its place.

// typeRefused is the type of a payload of RefusedPayload, before its error. No version of Redis has a type of that number.
const typeRefused = 0xFF

// The errors of a payload of typeRefused.
const (
	refusedForRoom = 1
	refusedForWork = 2
)

// RefusedPayload is a payload for which Restore and Functions return the same error as they did for another one. The error must be one
// of this package, for ErrRoom and ErrWork of a caller whose bounds have stand-ins.
func RefusedPayload(err error) []byte {
	switch {
	case errors.Is(err, ErrRoom):
		return Frame([]byte{typeRefused, refusedForRoom})
	case errors.Is(err, ErrWork):
		return Frame([]byte{typeRefused, refusedForWork})
	case errors.Is(err, ErrFormat):
		return Frame([]byte{typeRefused})
	}
	return nil // without a checksum: ErrPayload
}

// refusalOf returns the error that a value of RefusedPayload was made for, nil for any other value.
func refusalOf(b []byte) error {
	if len(b) != 2 || b[0] != typeRefused {
		return nil
	}
	switch b[1] {
	case refusedForRoom:
		return ErrRoom
	case refusedForWork:
		return ErrWork
	}
	return nil
}
