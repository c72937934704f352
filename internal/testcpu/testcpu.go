package testcpu

import (
	"os"
	"strconv"
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

// Scale returns the size that a scaling test has: n, times what TRIREME_SCALE in the environment says.
func Scale(n int) int {
	if times, err := strconv.Atoi(os.Getenv("TRIREME_SCALE")); err == nil && times > 0 {
		return n * times
	}
	return n
}
