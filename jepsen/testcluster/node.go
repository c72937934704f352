package testcluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
	"github.com/trireme-dev/trireme/jepsen/testcluster/disk"
)

// ErrRunning and ErrDown are returned for an act that needs a node in the other state.
var (
	ErrRunning = errors.New("node is running")
	ErrDown    = errors.New("node is down")
)

// Node is one member of a cluster under test, running or not. Its addresses and
// its data directory stay the same over restarts.
type Node struct {
	ID      string // its id at first, and its name in reports
	HTTP    string // address of the HTTP API
	Cluster string // address of the cluster port
	Gossip  string // address of the gossip port
	RESP    string // address of the RESP port, empty without
	DataDir string
	LogPath string     // both output streams, of all its processes
	Disk    *disk.Disk // its own file system, nil without

	argv []string
	env  []string
	apiClients
	onEnd func(Crash)

	unready error // why it can't be started

	mu      sync.Mutex
	name    string // its id now
	lives   int    // how often it was replaced
	tight   string // a further variable of its environment, or empty
	proc    *Process
	paused  bool
	ordered map[*Process]bool // processes whose end the harness ordered
	failpointFile
	behind  string // address of the HTTP API behind a relay
	excused int    // how many things done to its disk may leave its processes no choice but to end
}

// apiClients call the API of a node.
type apiClients struct {
	client *Client
	admin  *Client
	mail   *Client
	tls    *tls.Config // of clients, nil where the node's API is plain
}

// failpointFile arms the failpoints of a node.
type failpointFile struct {
	points string     // the file that arms failpoints
	arming sync.Mutex // held while that is written: faults and workloads arm at the same time
	armed  bool       // a failpoint may end the process
}

// Client sends commands to this node with the Standard token.
func (n *Node) Client() *Client { return n.client }

// Admin talks to this node's administrative paths.
func (n *Node) Admin() *Client { return n.admin }

// Messages talks to this node's /v2 with the messages token.
func (n *Node) Messages() *Client { return n.mail }

// TLS returns the TLS configuration for clients of this node's HTTP and RESP ports, or nil without TLS.
func (n *Node) TLS() *tls.Config { return n.tls.Clone() }

// Use has the node's next process run another binary.
func (n *Node) Use(binary string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.argv[0] = binary
}

// Start runs the node's process and does not wait for it to be ready.
func (n *Node) Start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil {
		return fmt.Errorf("start %s: %w", n.ID, ErrRunning)
	}
	if n.unready != nil {
		return fmt.Errorf("start %s: %w", n.ID, n.unready)
	}
	log, err := os.OpenFile(n.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("start %s: %w", n.ID, err)
	}
	defer log.Close() // the child holds its own copy
	proc, err := StartProcess(log, append(slices.Clone(n.env), n.tight), n.argv...)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%sat %s\n", startMark(n.ID, proc.Pid()), time.Now().Format(time.RFC3339Nano))
	n.proc, n.paused = proc, false
	go n.watch(proc)
	return nil
}

// watch reports the unexpected end of a process.
func (n *Node) watch(proc *Process) {
	<-proc.Done()
	n.mu.Lock()
	ordered := n.ordered[proc] || n.excused > 0 || n.atFailpoint(proc.ExitCode())
	delete(n.ordered, proc)
	if n.proc == proc {
		n.proc = nil
	}
	n.mu.Unlock()
	if !ordered {
		n.onEnd(Crash{Node: n.ID, Pid: proc.Pid(), ExitCode: proc.ExitCode(), Log: n.excerpt(proc.Pid())})
	}
}

// take removes the running process and marks its end as ordered.
func (n *Node) take() (*Process, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return nil, fmt.Errorf("%s: %w", n.ID, ErrDown)
	}
	proc := n.proc
	n.proc, n.paused = nil, false
	if !proc.ended() || n.excused > 0 {
		n.ordered[proc] = true
	}
	return proc, nil
}

// Kill is kill -9; it returns when the process is gone.
func (n *Node) Kill() error {
	proc, err := n.take()
	if err != nil {
		return err
	}
	proc.Kill()
	return nil
}

// Stop sends SIGTERM and waits up to grace. An exit code other than 0, or a
// process that had to be killed, is an error, unless the node is excused, or has ended at a failpoint that was armed meanwhile.
func (n *Node) Stop(grace time.Duration) error {
	proc, err := n.take()
	if err != nil {
		return err
	}
	excused := n.mayEnd() // a process on a frozen disk ends when that thaws, and the fault may be over then
	code, inTime := proc.Stop(grace)
	n.mu.Lock()
	excused = excused || n.excused > 0 || inTime && n.atFailpoint(code)
	n.mu.Unlock()
	if excused {
		return nil
	}
	if !inTime {
		return fmt.Errorf("%s did not end within %v of SIGTERM", n.ID, grace)
	}
	if code != 0 && !(code == -1 && n.silent(proc.Pid())) {
		return fmt.Errorf("%s ended with exit code %d after SIGTERM", n.ID, code)
	}
	return nil
}

// atFailpoint reports whether a process that ended with a code has done so because a failpoint was armed. The lock is held.
func (n *Node) atFailpoint(code int) bool {
	return n.armed && code == failpoint.ExitCode
}

// silent reports whether the process of that pid has not logged anything: what was signalled before has no handler yet
// and ends by the signal itself.
func (n *Node) silent(pid int) bool {
	_, text, found := strings.Cut(n.Tail(math.MaxInt), startMark(n.ID, pid))
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, startWords) // another may run by now
	return found && text == ""
}

// Pause stops the process with SIGSTOP and returns when it stands still; its sockets stay open
// and fill up.
func (n *Node) Pause() error {
	if err := n.signal(syscall.SIGSTOP, true); err != nil {
		return err
	}
	return awaitStopped(n.Pid())
}

// Resume lets a paused process go on.
func (n *Node) Resume() error { return n.signal(syscall.SIGCONT, false) }

func (n *Node) signal(s syscall.Signal, paused bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return fmt.Errorf("%s: %w", n.ID, ErrDown)
	}
	n.paused = paused
	return n.proc.Signal(s)
}

// Arm replaces what is armed in a binary built with failpoints; an empty
// specification disarms everything. While something is armed, an end with the exit
// code of failpoints counts as ordered.
func (n *Node) Arm(spec string) error {
	if spec != "" {
		n.setArmed()
	}
	n.arming.Lock()
	defer n.arming.Unlock()
	if err := os.WriteFile(n.points+".new", []byte(spec), 0o644); err != nil {
		return fmt.Errorf("arm %s: %w", n.ID, err)
	}
	return os.Rename(n.points+".new", n.points)
}

// setArmed holds for the rest of the run: a point may still be passed while it is
// being disarmed.
func (n *Node) setArmed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.armed = true
}

// Excuse lets the node's processes end by themselves until Blame, the one that runs and any that
// another fault starts meanwhile: what is done to its disk may leave them no choice. Each of
// several faults that overlap excuses the node, and the last of them to end blames it again.
func (n *Node) Excuse() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.excused++
}

// Blame takes one Excuse back.
func (n *Node) Blame() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.excused--
}

func (n *Node) mayEnd() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.excused > 0
}

// AwaitExit waits so long for a process that may be ending.
func (n *Node) AwaitExit(limit time.Duration) {
	n.mu.Lock()
	proc := n.proc
	n.mu.Unlock()
	if proc == nil {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-proc.Done():
		n.forget(proc)
	case <-timer.C:
	}
}

// forget makes sure that an ended process is not taken for a running one.
func (n *Node) forget(proc *Process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == proc {
		n.proc = nil
		n.ordered[proc] = n.excused > 0
	}
}

// Up says whether the node has a process that is not paused.
func (n *Node) Up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proc != nil && !n.paused
}

// Pid is the process id of the running process, 0 if there is none.
func (n *Node) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return 0
	}
	return n.proc.Pid()
}

// Ready asks whether the node has a leader and has caught up.
func (n *Node) Ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	status, _, err := n.admin.Get(ctx, "/readyz")
	return err == nil && status == http.StatusOK
}

// Tail returns the last lines of the node's log.
func (n *Node) Tail(lines int) string {
	text, err := os.ReadFile(n.LogPath)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// disasters begin the part of a log that tells why a process ended.
var disasters = []string{"WARNING: DATA RACE", "panic: ", "fatal error: ", "unexpected fault address"}

// excerpt returns what the process of that pid said at its end: forty lines from
// the first sign of disaster on, or the last forty.
func (n *Node) excerpt(pid int) string {
	text := n.Tail(math.MaxInt)
	_, text, _ = strings.Cut(text, startMark(n.ID, pid))
	for _, sign := range disasters {
		if at := strings.Index(text, sign); at >= 0 {
			lines := strings.Split(text[at:], "\n")
			return strings.Join(lines[:min(len(lines), 40)], "\n")
		}
	}
	return n.Tail(40)
}

// startMark is the line in the log that separates processes.
func startMark(id string, pid int) string {
	return fmt.Sprintf("%s%s as pid %d ", startWords, id, pid)
}

const startWords = "testcluster: started "

// Crash is the end of a process that the harness did not order.
type Crash struct {
	Node     string `json:"node"`
	Pid      int    `json:"pid"`
	ExitCode int    `json:"exitCode"`
	Log      string `json:"log"` // the last lines of the node's output
}
