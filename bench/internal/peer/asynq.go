package peer

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// RunAsynq has asynq deliver tasks to a sink of its own, with that many producers and
// workers, from the redis-server, and returns how many a second. The program is built from
// bench/asynq.
func (en *Env) RunAsynq(ctx context.Context, r *Redis, tasks, parallel int) (float64, error) {
	bin, err := program(en.Asynq)
	if err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, bin, "-redis", r.Addr, "-tasks", strconv.Itoa(tasks), "-parallel", strconv.Itoa(parallel)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("asynq: %w: %.300s", err, out)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
