package fsm

import "github.com/trireme-dev/trireme/fsm/command"

// topology answers the commands of the Cluster family from the replicated state alone.
type topology struct{ s *State }

// ClusterID is the id that the cluster was founded with.
func (t topology) ClusterID() string { return t.s.clusterID }

// Term is the number of the leader's term.
func (t topology) Term() uint64 { return t.s.opened.Number }

// Members are the nodes in the order of their ids.
func (t topology) Members() []command.Member {
	members := make([]command.Member, len(t.s.sessions))
	for i, c := range t.s.sessions {
		members[i] = command.Member{Node: c.node, Session: c.id, RESP: c.resp, Leads: c.node == t.s.opened.Leader}
	}
	return members
}

// RESPPorts returns the addresses of the nodes' RESP ports for clients, as far as they have one,
// in the order of the nodes' ids.
func (v *View) RESPPorts() (all []string) {
	for _, c := range v.s.sessions {
		if c.resp != "" {
			all = append(all, c.resp)
		}
	}
	return all
}
