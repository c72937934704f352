//go:build !linux

package yield

import "runtime"

// Processor lets all goroutines run that are ready.
func Processor() { runtime.Gosched() }
