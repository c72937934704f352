package rdb

import "errors"

// A payload that can't be restored whatever the state is need not go through the log: a stand-in of a few bytes, for which
// reading has the same error, goes in its place.

// typeStandIn is the type of a payload of StandIn, before its error. No version of Redis has a type of that number.
const typeStandIn = 0xFF

// The errors of a payload of typeStandIn.
const (
	standsForRoom = 1
	standsForWork = 2
)

// StandIn is a payload for which Restore and Functions return the same error as they did for another one. The error must be one
// of this package, for ErrRoom and ErrWork of a caller whose bounds have stand-ins.
func StandIn(err error) []byte {
	switch {
	case errors.Is(err, ErrRoom):
		return Frame([]byte{typeStandIn, standsForRoom})
	case errors.Is(err, ErrWork):
		return Frame([]byte{typeStandIn, standsForWork})
	case errors.Is(err, ErrFormat):
		return Frame([]byte{typeStandIn})
	}
	return nil // without a checksum: ErrPayload
}

// standsFor returns the error that a value of StandIn was made for, nil for any other value.
func standsFor(b []byte) error {
	if len(b) != 2 || b[0] != typeStandIn {
		return nil
	}
	switch b[1] {
	case standsForRoom:
		return ErrRoom
	case standsForWork:
		return ErrWork
	}
	return nil
}
