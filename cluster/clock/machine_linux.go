package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns by how much the clock of the kernel that counts suspensions is ahead of the time since a moment of
// this process. It is not ok where there is no such clock.
func sinceBoot(moment time.Time) (ahead time.Duration, ok bool) {
	var boot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil {
		return 0, false
	}
	return time.Duration(boot.Nano()) - time.Since(moment), true
}
