//go:build !linux

package timerslack

import "time"

// Raise does nothing: other systems have no slack to choose.
func Raise(time.Duration) error { return nil }
