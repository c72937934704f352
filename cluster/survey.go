package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"trireme/doctor"
	"trireme/fsm"
)

// errSurveyed is what others hear from a node that doesn't run yet, while it looks around.
var errSurveyed = errors.New("the node doesn't run yet: somebody examines its machine")

// Survey is Examine for a node that doesn't run yet: it opens the cluster port for as long
// as it takes, asks the nodes that the options name, and takes part in nothing. The error
// says what keeps this node from its directory, its port or the cluster; what could be
// found out nevertheless comes with it.
func Survey(ctx context.Context, o Options) ([]doctor.Peer, error) {
	o.defaults()
	id, err := readIdentity(o.DataDir, o.NodeID)
	if errors.Is(err, fs.ErrNotExist) {
		id, err = &identity{NodeID: o.NodeID}, nil // nothing is written by looking around
	}
	if err != nil {
		return nil, err
	}
	n := &Node{opts: o, log: o.Log, started: time.Now(), machine: fsm.NewMachine(), identity: id}
	opened := n.openSurvey()
	defer func() {
		n.peers.links.close()
		n.port.Close()
		n.port.wg.Wait()
	}()
	others, err := n.named(ctx)
	all := n.examine(ctx, others)
	if opened != nil {
		for i := range all {
			all[i].Back = doctor.Reach{Err: opened}
		}
	}
	return all, errors.Join(opened, err)
}

// openSurvey opens the cluster port for those who are asked to reach back, and for
// nothing else. Without it the port can be called from.
func (n *Node) openSurvey() error {
	p, err := listenPort(n.opts.Bind, n.opts.Advertise)
	if err != nil {
		p = &port{Listener: noListener{}, advertise: n.opts.Advertise, open: map[net.Conn]bool{}}
		p.ctx, p.cancel = context.WithCancel(context.Background())
	}
	n.port, n.peers = p, newPeers(p)
	p.self, p.connect, p.secure = n.greet, n.opts.Dial, n.opts.Security
	p.expect, p.removed, p.rolledBack = func(string) string { return "" }, func(error) {}, func(error) {}
	p.refuse = func(net.Addr, error) {}
	p.admit = func(g greeting, what purpose) error {
		if what != forPeer {
			return fmt.Errorf("%w: %w", ErrRefused, errSurveyed)
		}
		return n.admit(g, what)
	}
	p.serve = func(c connection, g greeting) {
		serveLink(c, g, func(_ greeting, _ callKind, _ []byte, answer func([]byte, error)) { answer(nil, errSurveyed) })
	}
	if err == nil {
		p.start()
	}
	return err
}

// noListener is that of a port that could not be opened.
type noListener struct{}

func (noListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (noListener) Close() error              { return nil }
func (noListener) Addr() net.Addr            { return advertised("") }

// named are the nodes that the options name: those of the first configuration, or those
// of the cluster that this node is to join.
func (n *Node) named(ctx context.Context) (all []doctor.Peer, err error) {
	list := n.opts.InitialCluster
	if len(n.opts.Join) > 0 {
		found, err := n.discover(ctx)
		if err != nil {
			return nil, fmt.Errorf("the cluster to join doesn't answer: %w", err)
		}
		if mine := n.clusterID(); mine != "" && mine != found.Cluster {
			return nil, fmt.Errorf("%w: %s has cluster id %s, this node's disk %s", ErrOtherCluster, found.from, found.Cluster, mine)
		}
		list = found.Servers
	}
	for _, p := range list {
		if p.ID != n.opts.NodeID {
			all = append(all, doctor.Peer{ID: p.ID, Addr: p.Addr})
		}
	}
	return all, nil
}
