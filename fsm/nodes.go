package fsm

import (
	"slices"
	"strings"

	"trireme/fsm/env"
	"trireme/fsm/wire"
)

// Standing is how a node stands to the cluster. Standings only ever move forward.
type Standing byte

// The standings. A node that leaves is still a server of raft's configuration: the
// leader takes it out and then has it removed. A removed node's id is never given
// again: late answers to its former self would confuse raft (reliability P11).
const (
	Belongs Standing = iota
	Leaves
	Removed
)

// NodeRecord is what the cluster remembers of a node that belongs to it, or did.
type NodeRecord struct {
	Node, Disk string
	Standing   Standing
	// Replaces is the node whose place this one is to take; empty if it came in addition.
	Replaces string
}

// Encode writes the fields.
func (n *NodeRecord) Encode(w *wire.Writer) {
	w.String(n.Node)
	w.String(n.Disk)
	w.Uvarint(uint64(n.Standing))
	w.String(n.Replaces)
}

// Decode reads the fields.
func (n *NodeRecord) Decode(r *wire.Reader) {
	n.Node, n.Disk, n.Standing, n.Replaces = r.String(), r.String(), Standing(r.Uvarint()), r.String()
}

// nodeRecords are all nodes that were ever admitted, by id.
type nodeRecords []NodeRecord

func (s nodeRecords) place(id string) (int, bool) {
	return slices.BinarySearchFunc(s, id, func(n NodeRecord, id string) int { return strings.Compare(n.Node, id) })
}

// get is the record of a node, a zero one if there is none.
func (s nodeRecords) get(id string) (n NodeRecord, known bool) {
	i, known := s.place(id)
	if known {
		n = s[i]
	}
	return n, known
}

// put sets a node's record. The list is replaced, not changed: forks share it.
func (s *nodeRecords) put(n NodeRecord) {
	i, known := s.place(n.Node)
	next := slices.Clone(*s)
	if known {
		next[i] = n
	} else {
		next = slices.Insert(next, i, n)
	}
	*s = next
}

// admitNode remembers a node and its disk, unless its id was another disk's or left the
// cluster. The result is what is remembered then: the caller compares it with what it
// asked for.
func (s *State) admitNode(_ *env.Env, n NodeRecord) (NodeRecord, error) {
	known, found := s.nodes.get(n.Node)
	if found && (known.Disk != n.Disk || known.Standing != Belongs) {
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

// Encode writes the fields.
func (n *NodeRef) Encode(w *wire.Writer) { w.String(n.Node); w.Bool(n.Leaving) }

// Decode reads the fields, of which entries of old have the first.
func (n *NodeRef) Decode(r *wire.Reader) {
	if n.Node = r.String(); r.Len() > 0 {
		n.Leaving = r.Bool()
	}
}

// removeNode notes that a node leaves, or is gone. Its session ends when it is gone: what
// it has under way until then has an outcome.
func (s *State) removeNode(e *env.Env, n NodeRef) (Opened, error) {
	record, known := s.nodes.get(n.Node)
	record.Node = n.Node
	if n.Leaving {
		if known {
			record.Standing = max(record.Standing, Leaves)
			s.nodes.put(record)
		}
		return Opened{}, nil
	}
	record.Standing = Removed
	s.nodes.put(record)
	if i, found := s.sessions.place(n.Node); found {
		s.dropSubscribers(e, s.sessions[i].id)
		s.sessions = slices.Delete(s.sessions, i, i+1)
	}
	return Opened{}, nil
}

// Node is what the cluster remembers of a node.
func (v *View) Node(id string) (NodeRecord, bool) { return v.s.nodes.get(id) }

// Nodes are all that were ever admitted, in the order of their ids. The caller doesn't
// change the list.
func (v *View) Nodes() []NodeRecord { return v.s.nodes }
