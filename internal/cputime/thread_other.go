//go:build !linux

package cputime

import "time"

// ofThread is 0: it is not known here.
func ofThread() time.Duration { return 0 }
