package testcpu

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Used is the processor time of all threads of this process so far, the collector's too.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
