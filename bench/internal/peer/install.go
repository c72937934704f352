package peer

import (
	"context"
	"os"
	"os/exec"
)

// packages names the Debian package of each program that peers need.
var packages = []struct{ program, name string }{
	{"redis-server", "redis-server"}, {"redis-benchmark", "redis-tools"}, {"webdis", "webdis"},
}

// Install installs missing Debian packages when run by root, and says what it
// does. What stays missing shows in the rows that need it, so failures are
// only logged.
func Install(ctx context.Context, log func(string, ...any)) {
	var missing []string
	for _, p := range packages {
		if _, err := exec.LookPath(p.program); err != nil {
			missing = append(missing, p.name)
		}
	}
	if len(missing) == 0 {
		return
	}
	if os.Geteuid() != 0 {
		log("missing peers %v: not root, so they are not installed", missing)
		return
	}
	log("installing %v", missing)
	for _, args := range [][]string{{"update", "-q"}, append([]string{"install", "-q", "-y", "--no-install-recommends"}, missing...)} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		// Packages of servers start them at once unless told not to.
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			log("apt-get %v: %v: %.500s", args, err, out)
		}
	}
}
