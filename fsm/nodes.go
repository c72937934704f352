package fsm

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// MembershipStatus says how a node stands to the cluster. It only ever moves forward.
type MembershipStatus byte

// A node that leaves is still a server of raft's configuration: the
// leader takes it out and then has it removed. A removed node's id is never given
// again: late answers to its former self would confuse raft.
const (
	StatusMember MembershipStatus = iota
	Leaves
	Removed
)

// NodeRecord describes a node that belongs to the cluster, or did.
type NodeRecord struct {
	Node, Disk string
	Status     MembershipStatus
	// Replaces is the node whose place this one is to take; empty if it came in addition.
	Replaces string
}

// Fields codes the value in its wire format.
func (nr *NodeRecord) Fields(c *wire.Codec) {
	c.String(&nr.Node)
	c.String(&nr.Disk)
	wire.Uint(c, &nr.Status)
	c.String(&nr.Replaces)
}

// nodeRecords are all nodes that were ever admitted, by id.
type nodeRecords []NodeRecord

func (nr nodeRecords) place(id string) (int, bool) {
	return slices.BinarySearchFunc(nr, id, func(n NodeRecord, id string) int { return strings.Compare(n.Node, id) })
}

// get is the record of a node, a zero one if there is none.
func (nr nodeRecords) get(id string) (n NodeRecord, known bool) {
	i, known := nr.place(id)
	if known {
		n = nr[i]
	}
	return n, known
}

// put sets a node's record. The list is replaced, not changed: forks share it.
func (nr *nodeRecords) put(n NodeRecord) {
	i, known := nr.place(n.Node)
	next := slices.Clone(*nr)
	if known {
		next[i] = n
	} else {
		next = slices.Insert(next, i, n)
	}
	*nr = next
}

// admitNode remembers a node and its disk, unless its id was another disk's or left the
// cluster. It returns the record that the cluster then has: the caller compares it with the
// one it asked for.
func (s *State) admitNode(_ *env.Env, n NodeRecord) (NodeRecord, error) {
	known, found := s.nodes.get(n.Node)
	if found && (known.Disk != n.Disk || known.Status != StatusMember) {
		return known, nil
	}
	known.Node, known.Disk = n.Node, n.Disk
	if n.Replaces != "" {
		known.Replaces = n.Replaces
	}
	s.nodes.put(known)
	return known, nil
}

// NodeRef names a node and how it is to stand from now on.
type NodeRef struct {
	Node string
	// Leaving asks it to finish what it does; otherwise it is removed.
	Leaving bool
}

// Fields codes the value in its wire format.
func (nr *NodeRef) Fields(c *wire.Codec) {
	c.String(&nr.Node)
	c.Bool(&nr.Leaving)
}

// removeNode notes that a node leaves, or is gone. Its session ends when it is gone: what
// it has under way until then has an outcome.
func (s *State) removeNode(e *env.Env, n NodeRef) (Ack, error) {
	record, known := s.nodes.get(n.Node)
	record.Node = n.Node
	if n.Leaving {
		if known {
			record.Status = max(record.Status, Leaves)
			s.nodes.put(record)
		}
		return Ack{}, nil
	}
	record.Status = Removed
	s.nodes.put(record)
	if i, found := s.sessions.place(n.Node); found {
		s.dropSubscribers(e, s.sessions[i].id)
		s.sessions = slices.Delete(s.sessions, i, i+1)
	}
	return Ack{}, nil
}

// Node returns the record of a node.
func (v *View) Node(id string) (NodeRecord, bool) { return v.s.nodes.get(id) }

// Nodes are all that were ever admitted, in the order of their ids. The caller doesn't
// change the list.
func (v *View) Nodes() []NodeRecord { return v.s.nodes }
