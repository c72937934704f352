package cluster

import (
	"slices"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// answerReadIndex answers another node's question for a read point. A voter that asks says in which term it is, after its
// reads have arrived. Where that voter and this leader are a majority, its question is the quorum check: nobody else is
// asked.
func (n *Node) answerReadIndex(from transport.Hello, payload []byte, answer func([]byte, error)) {
	term := n.consensus.Term()
	r := wire.NewReader(payload)
	said := r.Uvarint() // 0 from older versions
	if r.Done() == nil && said == term && n.decides(from) {
		if p, late, err := n.quorum.stampRead(term, false); err == nil && !late {
			answer(p.Encode(), nil)
			return
		}
	}
	n.quorum.join(func(p readPoint, err error) { answer(p.Encode(), err) })
}

// decides reports whether the caller is a voter that makes a majority with this node, and is the process that this node
// has dialed: a process on a copy of that voter's disk knows nothing of its votes.
func (n *Node) decides(from transport.Hello) bool {
	others, needed := n.consensus.Voters()
	return needed <= 1 && slices.ContainsFunc(others, func(p consensus.Server) bool { return p.ID == from.Node }) && n.incarnations != nil &&
		n.incarnations.Current(from.Node, membership.Incarnation{Disk: from.Disk, Processes: from.Processes})
}
