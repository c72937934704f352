package testcluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// ErrEnded is returned for a signal to a process that has already ended.
var ErrEnded = errors.New("process has ended")

// Process is one child process.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process was reaped
	err  error         // of Wait, valid after done
}

// StartProcess runs argv with the given environment, both output streams going
// to out. The kernel kills the child when the harness ends, however it ends.
func StartProcess(out io.Writer, env []string, argv ...string) (*Process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := startOnThread(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// starts hands processes to the one thread that starts them. The kernel kills a
// child when the *thread* that started it ends, so that thread must never end.
var starts = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range work {
			start()
		}
	}()
	return work
})

func startOnThread(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	starts() <- func() { result <- cmd.Start() }
	return <-result
}

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended and been reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitCode is the exit status of an ended process, -1 if a signal ended it.
func (p *Process) ExitCode() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// Signal sends a signal, or returns ErrEnded.
func (p *Process) Signal(s syscall.Signal) error {
	select {
	case <-p.done:
		return fmt.Errorf("pid %d: %w", p.Pid(), ErrEnded)
	default:
		err := p.cmd.Process.Signal(s)
		if errors.Is(err, os.ErrProcessDone) { // it ended a moment ago
			err = fmt.Errorf("pid %d: %w", p.Pid(), ErrEnded)
		}
		return err
	}
}

// Kill is kill -9; it returns when the process is gone.
func (p *Process) Kill() {
	if p.Signal(syscall.SIGKILL) == nil || !p.ended() {
		<-p.done
	}
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Stop sends SIGTERM and waits for the end; after grace it kills. It returns the
// exit code, and whether the process ended by itself in time.
func (p *Process) Stop(grace time.Duration) (code int, inTime bool) {
	p.Signal(syscall.SIGCONT) // a stopped process would never see SIGTERM
	p.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.ExitCode(), true
	case <-timer.C:
		p.Kill()
		return p.ExitCode(), false
	}
}
