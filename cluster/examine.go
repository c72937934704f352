package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/internal/certs"
)

const (
	// examineTimeout bounds the examination of one other node, in both directions.
	examineTimeout = 5 * time.Second
	// clockSamples is the number of times that another clock is read; the quickest answer counts.
	clockSamples = 4
)

// probeRequest asks the other side to open a connection to the asking node.
type probeRequest struct{ Node, Addr string }

// probeAnswer is the result of a probe.
type probeAnswer struct {
	Took   time.Duration
	Failed string
}

// PeerReport holds a node's findings about another node of its cluster.
type PeerReport struct {
	// ID and Addr are the other node's id and cluster address, Suffrage is voter or
	// nonvoter, empty if that isn't known.
	ID, Addr, Suffrage string
	// There is this node's call to it, Back its call to this node.
	There, Back Reach
	// Offset is the time by which its clock is ahead of this node's, with an error of at most Blur.
	Offset, Blur time.Duration
	// Version and Level are its binary's, State is raft's.
	Version string
	Level   uint32
	State   string
	// SlowDisk is how long its disk has been slow; 0 if it is not, or only for a few seconds.
	SlowDisk time.Duration
	// From and Until are the begin and the end of its certificate's validity, zero without TLS. Signed says that the node has signed
	// it itself, with the cluster secret.
	From, Until time.Time
	Signed      bool
	// Gossip is its gossip address, empty if it has none; Key is the error of asking there
	// with this node's key, nil if the keys agree.
	Gossip string
	Key    error
}

// Reach is a call from one node to another.
type Reach struct {
	// Took is the time for a connection and an answer.
	Took time.Duration
	// Err says why there was no answer.
	Err error
	// Unasked says that the other side's version doesn't know how to try.
	Unasked bool
}

// Examine asks every other server, over new connections, how it is reached from here and
// whether it reaches this node, and looks at its clock, version and gossip key.
func (n *Node) Examine(ctx context.Context) []PeerReport {
	var others []PeerReport
	for _, s := range n.others() {
		others = append(others, PeerReport{ID: s.ID, Addr: s.Addr, Suffrage: s.Suffrage()})
	}
	return n.examine(ctx, others)
}

// Address returns the address at which other nodes reach this one's cluster port.
func (n *Node) Address() string { return n.mux.Advertise() }

// FeatureLevel returns the feature level in force, as far as this node knows.
func (n *Node) FeatureLevel() uint32 { return uint32(n.level()) }

// examine examines all concurrently.
func (n *Node) examine(ctx context.Context, all []PeerReport) []PeerReport {
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	each(all, func(i int, _ PeerReport) { n.examineOne(ctx, &all[i]) })
	return all
}

func (n *Node) examineOne(ctx context.Context, p *PeerReport) {
	begin := time.Now()
	c, err := n.mux.DialNode(p.ID, p.Addr, transport.ForRPC, transport.DialTimeout)
	if err != nil {
		p.There.Err = err
		return
	}
	l, closeConn := transport.Single(c)
	defer closeConn()
	h, err := askStatus(ctx, l)
	p.There = Reach{Took: time.Since(begin), Err: err}
	if err != nil {
		return
	}
	if secure, is := c.(*tls.Conn); is {
		leaf := secure.ConnectionState().PeerCertificates[0]
		p.From, p.Until, p.Signed = leaf.NotBefore, leaf.NotAfter, certs.BySecret(leaf)
	}
	p.Version, p.Level, p.State, p.Gossip = h.Version, h.Level, h.State, h.Gossip
	p.SlowDisk = time.Duration(h.SlowDiskMs) * time.Millisecond
	p.Offset, p.Blur = clockOf(ctx, l)
	p.Back = n.askBack(ctx, l)
	if h.Phase != phaseStarted {
		p.Gossip = "" // it opens when the node serves
	}
	if p.Gossip != "" {
		p.Key = n.compareKeys(p.Gossip)
	}
}

// clockOf returns by how much the other side's wall clock is ahead of this one's. The error is at most blur: half of
// the quickest answer's time, plus a millisecond because clocks are sent in milliseconds.
func clockOf(ctx context.Context, l *transport.Conn) (offset, blur time.Duration) {
	blur = time.Hour
	for range clockSamples {
		begin := time.Now()
		h, err := askStatus(ctx, l)
		half := time.Since(begin) / 2
		if err != nil || half+time.Millisecond > blur {
			continue
		}
		blur = half + time.Millisecond
		offset = time.Duration(h.Wall-wallTime(begin.Add(half))) * time.Millisecond
	}
	return offset, blur
}

// askBack asks the other side to open a connection to this node.
func (n *Node) askBack(ctx context.Context, l *transport.Conn) (r Reach) {
	body, err := json.Marshal(probeRequest{n.opts.NodeID, n.mux.Advertise()})
	if err == nil {
		body, err = l.Ask(ctx, callProbe, body)
	}
	var a probeAnswer
	switch {
	case IsUnknownCall(err):
		r.Unasked = true
		return r
	case err == nil:
		err = json.Unmarshal(body, &a)
	}
	if r.Took, r.Err = a.Took, err; err == nil && a.Failed != "" {
		r.Err = errors.New(a.Failed)
	}
	return r
}

// IsUnknownCall reports whether another node doesn't know what it was asked: its version is older.
func IsUnknownCall(err error) bool {
	return err != nil && err.Error() == errUnknownCall.Error() // it came as text
}

// answerProbe opens a connection to the asking node. That the hello is accepted is proof enough: the other side has
// judged this node.
func (n *Node) answerProbe(_ context.Context, q probeRequest) ([]byte, error) {
	begin := time.Now()
	c, err := n.mux.DialNode(q.Node, q.Addr, transport.ForRPC, transport.DialTimeout)
	a := probeAnswer{Took: time.Since(begin)}
	if err != nil {
		a.Failed = err.Error()
	} else {
		c.Close()
	}
	return json.Marshal(a)
}

// compareKeys asks a gossip port which cluster this is, as a node does that wants to
// join: the answer can only be read with the same key.
func (n *Node) compareKeys(addr string) error {
	c, err := n.opts.Dial("tcp", addr, transport.DialTimeout)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(transport.HandshakeTimeout)); err != nil {
		return err
	}
	d, err := membership.AskDiscovery(c, n.opts.GossipKey)
	if err != nil {
		return err
	}
	if mine := n.clusterID(); mine != "" && d.Cluster != mine {
		return fmt.Errorf("%w: it has cluster id %s, this node %s", ErrOtherCluster, d.Cluster, mine)
	}
	return nil
}
