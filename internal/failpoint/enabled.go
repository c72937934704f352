//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// Enabled says whether this binary was built with the tag failpoints.
const Enabled = true

// poll is the least interval between two reads of the control file.
const poll = 20 * time.Millisecond

// registry holds what is armed, and since when the control file was looked at.
type registry struct {
	mu      sync.Mutex
	armed   map[string]*action
	file    string
	looked  time.Time
	changed time.Time
}

var points = load(os.Getenv(EnvSpec), os.Getenv(EnvFile))

// load arms what the environment asks for. A specification that can't be read
// ends the process: a fault test that runs without its fault proves nothing.
func load(spec, file string) *registry {
	armed, err := parse(spec)
	if err != nil {
		fmt.Fprintf(os.Stderr, "failpoint: %s: %v\n", EnvSpec, err)
		os.Exit(ExitCode)
	}
	return &registry{armed: armed, file: file}
}

// Eval does what is armed under name: nothing, a panic, an exit of the process with ExitCode, or a pause.
func Eval(name string) { points.eval(name) }

func (r *registry) eval(name string) {
	if a, ok := r.take(name); ok {
		a.run(name)
	}
}

// WallOffset returns the difference from the machine's wall clock that this process simulates, as armed under WallClock.
func WallOffset() time.Duration {
	a, _ := points.take(WallClock)
	return a.offset
}

// take returns the armed action and spends one of its budget. The action runs
// outside the lock, so that a pause at one point does not delay the others.
func (r *registry) take(name string) (action, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reload(time.Now())
	a := r.armed[name]
	if a == nil || a.budget == 0 {
		return action{}, false
	}
	if a.budget > 0 {
		a.budget--
	}
	return *a, true
}

// reload arms the content of the control file if it changed since the last look. A file that is missing or can't be read yet
// leaves everything as it was: the harness may be writing it.
func (r *registry) reload(now time.Time) {
	if r.file == "" || now.Sub(r.looked) < poll {
		return
	}
	r.looked = now
	info, err := os.Stat(r.file)
	if err != nil || info.ModTime().Equal(r.changed) {
		return
	}
	spec, err := os.ReadFile(r.file)
	if err != nil {
		return
	}
	r.changed = info.ModTime()
	armed, err := parse(string(spec))
	if err != nil {
		fmt.Fprintf(os.Stderr, "failpoint: %s: %v\n", r.file, err)
		return
	}
	r.armed = armed
}

// run carries the action out.
func (a action) run(name string) {
	switch a.kind {
	case doPanic:
		panic("failpoint " + name)
	case doExit:
		fmt.Fprintf(os.Stderr, "failpoint %s: exit\n", name)
		os.Exit(ExitCode)
	case doSleep:
		time.Sleep(a.pause)
	}
}
