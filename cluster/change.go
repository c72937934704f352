package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// changeWork bounds the leader's work on one question about servers.
const changeWork = 8 * time.Second

// leadingNow returns the term that this node leads, and has opened; the lock that keeps
// servers from being changed by two at a time is held until release is called.
func (n *Node) leadingNow() (term uint64, release func(), err error) {
	n.changing.Lock()
	if term = n.openTerm.Load(); term == 0 {
		n.changing.Unlock()
		return 0, nil, errNotLeading
	}
	return term, n.changing.Unlock, nil
}

// answerJoin adds a node, if this node leads.
func (n *Node) answerJoin(ctx context.Context, q joinRequest) ([]byte, error) {
	var a joinAnswer
	switch err := n.addNode(ctx, q); {
	case errors.Is(err, ErrNotJoined):
		a.Refused = errors.Unwrap(err).Error()
	case err != nil:
		a.Later = err.Error()
	}
	return json.Marshal(a)
}

// noJoin returns a rejection for good.
func noJoin(format string, args ...any) error {
	return notJoined{fmt.Errorf(format, args...)}
}

// notJoined is an ErrNotJoined with its reason.
type notJoined struct{ reason error }

func (nj notJoined) Error() string        { return ErrNotJoined.Error() + ": " + nj.reason.Error() }
func (nj notJoined) Is(target error) bool { return target == ErrNotJoined }
func (nj notJoined) Unwrap() error        { return nj.reason }

// addNode makes a node a non-voter of the cluster, or says why not.
func (n *Node) addNode(ctx context.Context, q joinRequest) error {
	term, release, err := n.leadingNow()
	if err != nil {
		return err
	}
	defer release()
	if err := n.mayJoin(ctx, q); err != nil || q.Check {
		return err
	}
	r, err := n.recordNode(term, fsm.NodeRecord{Node: q.Node, Disk: q.Disk, Replaces: q.Replaces})
	if err != nil {
		return err
	}
	if r.Disk != q.Disk || r.Status != fsm.StatusMember {
		return noJoin("the id %s is taken or was removed: choose a new one", q.Node)
	}
	return n.addServer(ctx, q)
}

// addServer adds a node that the log knows to raft's configuration.
func (n *Node) addServer(ctx context.Context, q joinRequest) error {
	if s, is := n.server(q.Node); is {
		return n.readdress(ctx, s, q.Addr)
	}
	if other, is := n.serverAt(q.Addr); is { // the one it replaces, which doesn't exist any more
		if err := n.readdress(ctx, other, RemovedAddress(other.ID)); err != nil {
			return err
		}
	}
	if err := n.setServer(ctx, consensus.Server{ID: q.Node, Addr: q.Addr}); err != nil {
		return err
	}
	n.log.Info("a node was added", "server", q.Node, "address", q.Addr, "replaces", q.Replaces)
	detail := q.Addr
	if q.Replaces != "" {
		detail += ", replaces " + q.Replaces
	}
	n.opts.Audit("take in", q.Node, detail)
	return nil
}

// RemovedAddress returns the address of a server whose own address another has now. Nobody
// can listen there: names of this domain have no address (RFC 2606).
func RemovedAddress(id string) string { return id + removedSuffix }

// IsRemovedAddress reports whether an address was made by RemovedAddress.
func IsRemovedAddress(addr string) bool { return strings.HasSuffix(addr, removedSuffix) }

// removedSuffix ends such addresses.
const removedSuffix = ".invalid:1"

// errRemovedAddress says that a server has no address any more.
var errRemovedAddress = errors.New("the server was replaced, and has no address any more")

// neverRemoved returns dial, except that it fails for addresses of RemovedAddress: a replaced server is not looked up in DNS.
func neverRemoved(dial dialer) dialer {
	return func(network, addr string, timeout time.Duration) (net.Conn, error) {
		if IsRemovedAddress(addr) {
			return nil, errRemovedAddress
		}
		return dial(network, addr, timeout)
	}
}

// dialer is net.DialTimeout, or its replacement in tests.
type dialer = func(network, addr string, timeout time.Duration) (net.Conn, error)

// mayJoin judges a node that wants to join.
func (n *Node) mayJoin(ctx context.Context, q joinRequest) error {
	known, found := n.record(q.Node)
	switch level := n.level(); {
	case q.Cluster != n.clusterID():
		return noJoin("it has cluster id %s, this is %s", q.Cluster, n.clusterID())
	case q.Arch != runtime.GOARCH:
		return noJoin("%v: it runs on %s, the cluster on %s", ErrArchitecture, q.Arch, runtime.GOARCH)
	case env.Level(q.Level) < level:
		return noJoin("%v: the cluster is at feature level %d, it knows %d", ErrLevel, level, q.Level)
	case found && known.Status != fsm.StatusMember:
		return noJoin("%s was removed, and its id is not given again: choose a new one", q.Node)
	case found && known.Disk != q.Disk:
		return noJoin("%v: %s; give the node a new id and --replace %s, or put the old disk back", ErrWipedDisk, q.Node, q.Node)
	}
	if err := n.mayReplace(q, found); err != nil {
		return err
	}
	h, err := n.peers.statusOf(ctx, "", q.Addr, transport.DialTimeout)
	switch {
	case err != nil:
		return fmt.Errorf("%s can't be reached at %s, which it says is its cluster address (--cluster-advertise): %w", q.Node, q.Addr, err)
	case h.Node != q.Node || h.Disk != q.Disk:
		return noJoin("at %s, which it says is its cluster address (--cluster-advertise), there is %s", q.Addr, h.Node)
	}
	return nil
}

// mayReplace judges whether a node may have the place and the address that it wants.
func (n *Node) mayReplace(q joinRequest, admitted bool) error {
	if q.Replaces != "" && !admitted {
		if q.Replaces == q.Node {
			return noJoin("--replace names the node itself: a node that takes another's place has an id of its own")
		}
		if !n.stays(q.Replaces) {
			return noJoin("--replace %s: %v", q.Replaces, ErrNoServer)
		}
	}
	if other, is := n.serverAt(q.Addr); is && other.ID != q.Node && other.ID != q.Replaces {
		return noJoin("its address %s is that of %s: --replace %s takes that one's place", q.Addr, other.ID, other.ID)
	}
	return nil
}

// readdress changes the address at which a server is called.
func (n *Node) readdress(ctx context.Context, s consensus.Server, addr string) error {
	if s.Addr == addr {
		return nil
	}
	if err := n.setServer(ctx, consensus.Server{ID: s.ID, Addr: addr, Voter: s.Voter}); err != nil {
		return err
	}
	n.log.Info("a server has another address", "server", s.ID, "address", addr, "former", s.Addr)
	n.opts.Audit("change address", s.ID, fmt.Sprintf("%s, formerly %s", addr, s.Addr))
	return nil
}

// moved takes note of a server's new address, if this node leads and finds it there.
func (n *Node) moved(ctx context.Context, q joinRequest) error {
	_, release, err := n.leadingNow()
	if err != nil {
		return err
	}
	defer release()
	s, is := n.server(q.Node)
	known, _ := n.record(q.Node)
	if !is || known.Disk != q.Disk || known.Status != fsm.StatusMember {
		return fmt.Errorf("%w: %s", ErrNoServer, q.Node)
	}
	if other, taken := n.serverAt(q.Addr); taken && other.ID != s.ID {
		return fmt.Errorf("%w: %s is the address of %s", ErrUnsafe, q.Addr, other.ID)
	}
	h, err := n.peers.statusOf(ctx, "", q.Addr, transport.DialTimeout)
	if err != nil || h.Node != q.Node || h.Disk != q.Disk {
		return fmt.Errorf("%s was not found at %s: %w", q.Node, q.Addr, err)
	}
	if s.Addr != q.Addr {
		first, cancel := context.WithTimeout(ctx, firstTimeout)
		defer cancel()
		if err := n.comparePresent(first, s, h.incarnation()); err != nil {
			return err
		}
	}
	return n.readdress(ctx, s, q.Addr)
}
