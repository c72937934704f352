package nemesis

import (
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster/network"
)

// links are the faults of the network that are under way. Each rule of a link is made of
// all of them, so that the end of one leaves the others.
type links struct {
	mu  sync.Mutex
	all map[Step]int // to the node that is inject
}

// inject begins a fault of the network.
func (l *links) inject(c *testcluster.Cluster, step Step, node int) error {
	if c.Net == nil {
		return fmt.Errorf("%w: %s", ErrNeeds, step.Fault)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[Step]int{}
	}
	l.all[step] = node
	l.apply(c.Net)
	return nil
}

// mend ends it.
func (l *links) mend(c *testcluster.Cluster, step Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, step)
	l.apply(c.Net)
}

// apply sets every link.
func (l *links) apply(n network.Network) {
	clients := n.Clients()
	for from := range clients + 1 {
		for to := range clients + 1 {
			if from == to {
				continue
			}
			var rule network.Rule
			for step, node := range l.all {
				step.corrupt(&rule, from, to, node, clients)
			}
			n.Set(from, to, rule)
		}
	}
}

// corrupt adds what the fault of a node does to the link from one end to another.
func (s Step) corrupt(r *network.Rule, from, to, node, clients int) {
	peers := from != clients && to != clients
	touches := from == node || to == node
	switch s.Fault {
	case Isolate:
		r.Drop = r.Drop || peers && touches
	case SplitAll:
		r.Drop = r.Drop || peers
	case OneWay:
		r.Drop = r.Drop || peers && (s.Amount == 0 && from == node || s.Amount != 0 && to == node)
	case Bridge:
		r.Drop = r.Drop || peers && !touches
	case CutClients:
		r.Drop = r.Drop || !peers && touches
	}
	if touches {
		s.degrade(r)
	}
}

// degrade adds what the fault does to every link of its node.
func (s Step) degrade(r *network.Rule) {
	part := float64(s.Amount) / 100
	switch s.Fault {
	case Delay:
		r.Delay = time.Duration(s.Amount) * time.Millisecond
		r.Jitter, r.Reorder = r.Delay/2, 0.05
	case Loss:
		r.Loss = part
	case Duplicate:
		r.Duplicate = part
	case Corrupt:
		r.Corrupt = part
	case Rate:
		r.Rate = int64(s.Amount) << 10
	}
}
