package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// Restate is one node of Restate with its defaults, and the address at which the program
// built from bench/restate serves its workflow.
type Restate struct {
	bin                     string
	admin, ingress, service string
	child                   *proc.Child
	dir                     string
}

// restateServers is a pattern of the server's path in the npm package, below the folder of the program.
const restateServers = "node_modules/@restatedev/restate-server-*/bin/restate-server"

// StartRestate starts the server.
func (en *Env) StartRestate(ctx context.Context) (*Restate, error) {
	bin, err := program(en.Restate)
	if err != nil {
		return nil, err
	}
	server, err := filepath.Glob(filepath.Join(en.RestateServer, restateServers))
	if err != nil || len(server) == 0 {
		return nil, fmt.Errorf("%w: restate-server below %s", ErrMissing, en.RestateServer)
	}
	if server[0], err = filepath.Abs(server[0]); err != nil {
		return nil, err
	}
	addrs, err := en.Ports.Addrs(4)
	if err != nil {
		return nil, err
	}
	r := &Restate{bin: bin, admin: "http://" + addrs[0], ingress: "http://" + addrs[1], service: addrs[2]}
	if r.dir, err = en.dir("restate"); err != nil {
		return nil, err
	}
	env := []string{
		"RESTATE_ADMIN__BIND_ADDRESS=" + addrs[0], "RESTATE_INGRESS__BIND_ADDRESS=" + addrs[1],
		"RESTATE_BIND_ADDRESS=" + addrs[3], "RESTATE_ADVERTISED_ADDRESS=http://" + addrs[3] + "/", "RESTATE_LISTEN_MODE=tcp", "DO_NOT_TRACK=1",
	}
	if r.child, err = proc.Start(en.Logs, "restate", env, server[0], "--base-dir", r.dir, "--node-name", "bench", "--no-logo"); err != nil {
		return nil, err
	}
	limit, cancel := within(ctx)
	defer cancel()
	for _, path := range []string{r.admin + "/health", r.ingress + "/restate/health"} {
		if err := r.child.Await(limit, func() error { _, err := get(limit, path, ""); return err }); err != nil {
			return nil, errors.Join(err, r.Stop())
		}
	}
	return r, nil
}

// Flows holds the rate at which workflows ended, and their durations in microseconds.
type Flows struct{ PerSecond, P50, P99 float64 }

// Run has clients run workflows of three empty steps for a while, one each at a time.
func (r *Restate) Run(ctx context.Context, clients int, warm, length time.Duration) (f Flows, err error) {
	out, err := exec.CommandContext(ctx, r.bin, "-admin", r.admin, "-ingress", r.ingress, "-service", r.service,
		"-clients", strconv.Itoa(clients), "-warm", warm.String(), "-for", length.String()).CombinedOutput()
	if err == nil {
		_, err = fmt.Sscan(strings.TrimSpace(string(out)), &f.PerSecond, &f.P50, &f.P99)
	}
	if err != nil {
		return f, fmt.Errorf("restate: %w: %.300s", err, out)
	}
	return f, nil
}

// Stop ends the server and removes its data.
func (r *Restate) Stop() error { return errors.Join(r.child.Kill(), os.RemoveAll(r.dir)) }
