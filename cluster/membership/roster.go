package membership

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hashicorp/memberlist"
)

// roster keeps copies of the members. memberlist may change the nodes that it hands out at any time; they are safe to
// read only during its notifications.
type roster struct {
	mu    sync.Mutex
	nodes map[string]listed // by name
}

// listed is one node of the roster.
type listed struct {
	addr   string
	member Member
	known  bool // whether its metadata could be read
}

func newRoster() *roster { return &roster{nodes: map[string]listed{}} }

// NotifyJoin implements memberlist.EventDelegate.
func (r *roster) NotifyJoin(n *memberlist.Node) {
	m, err := readMember(n.Meta)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes[n.Name] = listed{addr: n.Address(), member: m, known: err == nil}
}

// NotifyUpdate implements memberlist.EventDelegate.
func (r *roster) NotifyUpdate(n *memberlist.Node) { r.NotifyJoin(n) }

// NotifyLeave implements memberlist.EventDelegate.
func (r *roster) NotifyLeave(n *memberlist.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, n.Name)
}

// addresses returns the gossip addresses of all members.
func (r *roster) addresses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, n := range r.nodes {
		all = append(all, n.addr)
	}
	return all
}

// members returns the members whose metadata could be read, in the order of their ids.
func (r *roster) members() []Member {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Member
	for _, n := range r.nodes {
		if n.known {
			all = append(all, n.member)
		}
	}
	slices.SortFunc(all, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
