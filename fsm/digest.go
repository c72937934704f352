package fsm

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// DigestReport is one node's hash of the state at an index.
type DigestReport struct {
	Index  uint64
	Node   string
	Digest string
}

// Fields codes the value in its wire format.
func (dr *DigestReport) Fields(c *wire.Codec) {
	c.Uvarint(&dr.Index)
	c.String(&dr.Node)
	c.String(&dr.Digest)
}

// DigestVerdict names the nodes whose hash differs from that of a majority.
type DigestVerdict struct {
	Index     uint64
	Divergent []string
}

// Fields codes the value in its wire format.
func (dv *DigestVerdict) Fields(c *wire.Codec) {
	c.Uvarint(&dv.Index)
	wire.Each(c, &dv.Divergent, (*wire.Codec).String)
}

// digestRound is a comparison of the nodes' hashes of the state at an index.
type digestRound struct {
	index   uint64
	reports []DigestReport // in the order of the nodes, one at most for a node
}

func (dr *digestRound) fork() digestRound {
	return digestRound{index: dr.index, reports: append([]DigestReport(nil), dr.reports...)}
}

// report compares what the nodes have said so far: a value that more than half of the nodes report is right, and who differs
// is named.
func (dr *digestRound) report(n DigestReport, nodes int) DigestVerdict {
	v := DigestVerdict{Index: n.Index}
	if n.Index != dr.index {
		return v
	}
	i, found := slices.BinarySearchFunc(dr.reports, n, func(a, b DigestReport) int { return strings.Compare(a.Node, b.Node) })
	if found {
		dr.reports[i] = n
	} else {
		dr.reports = slices.Insert(dr.reports, i, n)
	}
	for _, right := range dr.reports {
		agree := 0
		for _, o := range dr.reports {
			if o.Digest == right.Digest {
				agree++
			}
		}
		if agree <= nodes/2 {
			continue
		}
		for _, o := range dr.reports {
			if o.Digest != right.Digest {
				v.Divergent = append(v.Divergent, o.Node)
			}
		}
		break
	}
	return v
}

func (s *State) takeDigest(e *env.Env, _ Empty) (Ack, error) {
	s.digests = digestRound{index: e.Index}
	return Ack{}, nil
}

// reportDigest takes in the hash of a node, of those that are registered.
func (s *State) reportDigest(_ *env.Env, n DigestReport) (DigestVerdict, error) {
	return s.digests.report(n, len(s.sessions)), nil
}
