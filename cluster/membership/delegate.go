package membership

import (
	"fmt"

	"github.com/hashicorp/memberlist"
)

// delegate is this node's metadata for memberlist, and rejects nodes of other clusters.
type delegate struct {
	meta    []byte
	cluster string
}

func (d *delegate) NodeMeta(int) []byte { return d.meta }

func (d *delegate) NotifyMsg([]byte) {}

func (d *delegate) GetBroadcasts(int, int) [][]byte { return nil }

func (d *delegate) LocalState(bool) []byte { return nil }

func (d *delegate) MergeRemoteState([]byte, bool) {}

func (d *delegate) NotifyAlive(n *memberlist.Node) error { return d.admit(n) }

// NotifyMerge rejects the whole list of a caller if one of its nodes is of another cluster.
func (d *delegate) NotifyMerge(nodes []*memberlist.Node) error {
	for _, n := range nodes {
		if err := d.admit(n); err != nil {
			return err
		}
	}
	return nil
}

func (d *delegate) admit(n *memberlist.Node) error {
	m, err := readMember(n.Meta)
	if err != nil || m.Cluster != d.cluster {
		return fmt.Errorf("%w: %s at %s", errForeign, n.Name, n.Address())
	}
	return nil
}
