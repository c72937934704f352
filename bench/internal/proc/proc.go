package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// grace is the time between SIGTERM and SIGKILL in Stop.
const grace = 15 * time.Second

// Child is one process. Its standard output and error go to one log file.
type Child struct {
	Name string // names the log file
	Log  string // path of the log file
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has been reaped
	err  error         // from Wait, valid once done is closed
}

// spawner runs functions on one operating-system thread that never ends:
// Pdeathsig fires when the thread that forked ends, not only the process.
var spawner = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Start runs argv with env added to this process's environment, its output
// appended to logs/name.log. The kernel kills the child when we die.
func Start(logs, name string, env []string, argv ...string) (*Child, error) {
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(logs, name+".log")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	spawner() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	c := &Child{Name: name, Log: path, cmd: cmd, done: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// Pid is the process id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Resident is the memory that the process has, in bytes: what it never gave back included.
func (c *Child) Resident() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Pid()))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("the status of %s has no VmRSS", c.Name)
}

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Kill ends the process with SIGKILL and returns when it has been reaped, so
// that nothing of it can answer any more. Killing an ended child is no error.
func (c *Child) Kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", c.Name, err)
	}
	<-c.done
	return nil
}

// Stop asks with SIGTERM, waits up to 15 s and then kills.
func (c *Child) Stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", c.Name, err)
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(grace):
		return errors.Join(fmt.Errorf("%s did not stop within %v", c.Name, grace), c.Kill())
	}
}

// Await polls ready every 20 ms until it returns nil. It fails when ctx ends
// or the process does, with the end of the log.
func (c *Child) Await(ctx context.Context, ready func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-c.done:
			return fmt.Errorf("%s ended: %v; its log ends with: %s", c.Name, c.err, c.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; its log ends with: %s", c.Name, err, c.tail())
		case <-tick.C:
		}
	}
}

// tail is the end of the log, for error messages.
func (c *Child) tail() string {
	b, err := os.ReadFile(c.Log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b[max(0, len(b)-600):]))
}
