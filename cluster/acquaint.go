package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrRolledBack says that a node's data directory is an older copy of what it had: a process of the same disk that the
// directory knows nothing of has spoken with the other node. Such a voter has forgotten whom it voted for and what it
// acknowledged (reliability P7).
var ErrRolledBack = errors.New("the node's data directory is an older copy")

// olderCopyFile marks a directory of which another node has said that it is an older copy. Starts alone must not make it
// a newer one.
const olderCopyFile = "older-copy.txt"

// started is a process that has had a disk: which of its starts it was, and a name that it drew.
type started struct {
	Boot    uint64 `json:"boot"`
	Process string `json:"process"`
}

// introduction is what a process says of itself: it is the last of its disk's processes, of which the disk remembers
// the newest.
type introduction struct {
	disk      string
	processes []started // the oldest first
}

// last is the process that introduces itself; nothing if it takes no part, or is of a version that doesn't say.
func (i introduction) last() (s started) {
	if n := len(i.processes); n > 0 {
		s = i.processes[n-1]
	}
	return s
}

// follows tells whether the disk remembers a process, or can't: it was too many starts ago.
func (i introduction) follows(before started) bool {
	for _, p := range i.processes {
		if p.Boot == before.Boot {
			return p.Process == before.Process
		}
	}
	return len(i.processes) == keptProcesses && before.Boot < i.processes[0].Boot
}

// introduction is this process's; empty if it only looks around.
func (n *Node) introduction() introduction {
	if n.acquaintances == nil {
		return introduction{}
	}
	return introduction{n.identity.DiskID, n.acquaintances.mine}
}

// met judges the process that has introduced itself as a node of this cluster.
func (n *Node) met(node string, i introduction) error {
	if n.acquaintances == nil || node == n.opts.NodeID { // it only looks around; it calls itself
		return nil
	}
	return n.acquaintances.meet(node, i)
}

// acquaint asks the node that has an address which process it is, before raft speaks with it there. If the link doesn't
// answer at once it asks over a connection of its own: one from before a cut may hold an answer up for seconds after the
// cut was healed.
func (n *Node) acquaint(addr string, timeout time.Duration) error {
	quick, cancel := context.WithTimeout(n.port.ctx, linkPatience)
	defer cancel()
	h, err := n.peers.hello(quick, addr)
	if errors.Is(err, context.DeadlineExceeded) {
		timeout = max(timeout, linkPatience)
		long, cancel := context.WithTimeout(n.port.ctx, timeout)
		defer cancel()
		h, err = n.peers.visit(long, n.expected(addr), addr, timeout)
	}
	if err != nil {
		return err
	}
	return n.met(h.Node, introduction{h.Disk, h.Processes})
}

// introduce speaks once with each other server, so that a process on an old copy hears of it soon.
func (n *Node) introduce(ctx context.Context) {
	spoken := map[string]bool{}
	for {
		open := 0
		for _, s := range n.servers() {
			id := string(s.ID)
			if id == n.opts.NodeID || spoken[id] {
				continue
			}
			ask, cancel := context.WithTimeout(ctx, dialTime)
			_, err := n.peers.hello(ask, string(s.Address))
			cancel()
			if spoken[id] = err == nil; err != nil {
				open++
			}
		}
		if open == 0 || !pause(ctx, introduceEvery) {
			return
		}
	}
}

// linkPatience is how long an answer over a link is waited for, before another connection is tried.
const linkPatience = 100 * time.Millisecond

// introduceEvery is how often a node tries to speak with those that it has not spoken with.
const introduceEvery = time.Second

// rolledBack stops this node for good: another one knows a later state of its disk.
func (n *Node) rolledBack(why error) {
	reason := fmt.Sprintf("%s runs on an older copy of its data directory: it has forgotten what it acknowledged and whom it voted for; "+
		"put the newest state of the whole directory back, or replace the node by one with a new id (%v)", n.opts.NodeID, why)
	if err := writeSynced(filepath.Join(n.opts.DataDir, olderCopyFile), []byte(reason+"\n"), os.Rename); err != nil {
		n.log.Error("the directory can't be marked as an older copy", "error", err)
	}
	n.fatal(reason)
}

// checkMark refuses a directory that rolledBack has marked.
func checkMark(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, olderCopyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: %s", ErrRolledBack, text), err)
}
