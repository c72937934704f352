package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor times in /proc, which Linux fixes at a hundredth of a
// second for programs (proc(5), USER_HZ).
const tick = 10 * time.Millisecond

// ProcessorTime returns the processor time that the child has used so far, in its own code and
// in the kernel, to a hundredth of a second.
func (c *Child) ProcessorTime() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Pid()))
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may hold anything; user and system time are fields 14 and 15.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%s: /proc has no times: %q", c.Name, b)
	}
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", c.Name, err)
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}
