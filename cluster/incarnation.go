package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
)

// olderCopyFile marks a directory of which another node has said that it is an older copy. Starts alone must not make it
// a newer one.
const olderCopyFile = "older-copy.txt"

// processes returns the processes of this node's disk, up to this one; none if the node takes no part in incarnation checks.
func (n *Node) processes() []transport.Process {
	if n.incarnations == nil {
		return nil
	}
	return n.incarnations.Mine()
}

// judgeIncarnation judges the process that says it is a node of this cluster. It is recorded if it has proved that:
// raft's promises are only counted on connections that this node has dialed, after verifyPeer.
func (n *Node) judgeIncarnation(node string, i membership.Incarnation, proved bool) error {
	if n.incarnations == nil || node == n.opts.NodeID { // it takes no part; it calls itself
		return nil
	}
	if !proved {
		return n.incarnations.Judge(node, i)
	}
	return n.incarnations.Record(node, i)
}

// verifyPeer asks the node that has an address which process it is, before raft speaks with it there. If the open
// connection doesn't answer at once it asks over a new one: a connection from before a network cut may hold an answer up
// for seconds after the cut has healed.
func (n *Node) verifyPeer(addr string, timeout time.Duration) error {
	quick, cancel := context.WithTimeout(n.mux.Context(), openConnTimeout)
	defer cancel()
	h, err := n.peers.status(quick, addr)
	if errors.Is(err, context.DeadlineExceeded) {
		timeout = max(timeout, openConnTimeout)
		long, cancel := context.WithTimeout(n.mux.Context(), timeout)
		defer cancel()
		h, err = n.peers.statusOf(long, n.expected(addr), addr, timeout)
	}
	if err != nil {
		return err
	}
	return n.judgeIncarnation(h.Node, membership.Incarnation{Disk: h.Disk, Processes: h.Processes}, true)
}

// announceIncarnation calls each other server once, so that a process on an older copy of its disk learns of it soon.
func (n *Node) announceIncarnation(ctx context.Context) {
	called := map[string]bool{}
	for {
		open := 0
		for _, s := range n.consensus.Servers() {
			id := s.ID
			if id == n.opts.NodeID || called[id] {
				continue
			}
			ask, cancel := context.WithTimeout(ctx, transport.DialTimeout)
			_, err := n.peers.status(ask, s.Addr)
			cancel()
			if called[id] = err == nil; err != nil {
				open++
			}
		}
		if open == 0 || !pause(ctx, announceInterval) {
			return
		}
	}
}

const (
	// openConnTimeout bounds the wait for an answer over an open connection before another connection is tried.
	openConnTimeout = 100 * time.Millisecond
	// announceInterval is the interval at which a node tries to call the nodes that it has not reached.
	announceInterval = time.Second
)

// excluded stops this node: another one, which this node has called at the address of a server, rejects it for good.
func (n *Node) excluded(why error) {
	switch {
	case errors.Is(why, transport.ErrRolledBack):
		n.rolledBack(why)
	case errors.Is(why, transport.ErrCopied):
		n.stopCopy(why)
	case n.running.Load(): // otherwise Open returns the error
		n.removed(why)
	}
}

// rolledBack stops this node for good: another one knows a later state of its disk. The data stays where it is.
func (n *Node) rolledBack(why error) {
	reason := fmt.Sprintf("%s runs on an older copy of its data directory: it has forgotten what it acknowledged and whom it voted for; "+
		"put the newest state of the whole directory back, or replace the node by one with a new id (start it with an empty directory, --join and --replace %s); "+
		"nothing was deleted (%v)", n.opts.NodeID, n.opts.NodeID, why)
	if err := membership.WriteSynced(filepath.Join(n.opts.DataDir, olderCopyFile), []byte(reason+"\n"), os.Rename); err != nil {
		n.log.Error("the directory can't be marked as an older copy", "error", err)
	}
	n.fatal(reason)
}

// checkOlderCopy refuses a directory that rolledBack has marked.
func checkOlderCopy(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, olderCopyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: %s", transport.ErrRolledBack, text), err)
}
