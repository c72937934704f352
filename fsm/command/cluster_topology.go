package command

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// Topology describes the cluster from the replicated state: the same on every node that
// has applied as much of the log.
type Topology interface {
	// ClusterID is the id that the cluster was founded with.
	ClusterID() string
	// Term is the leader's term, by its first entry.
	Term() uint64
	// Members are the nodes that have ever registered and were not removed, in the order of
	// their ids.
	Members() []Member
}

// Member is a node of the cluster.
type Member struct {
	// Node is its id, Session the session of its process.
	Node    string
	Session uint64
	// RESP is the address of its RESP port for clients, host:port; empty if it has none.
	RESP string
	// Leads says that it has opened the term.
	Leads bool
}

// singleNode is the topology of a machine outside a cluster.
type singleNode struct{}

func (singleNode) ClusterID() string { return "" }

func (singleNode) Term() uint64 { return 0 }

func (singleNode) Members() []Member { return nil }

func (tx *Tx) topology() Topology {
	if tx.Topology == nil {
		return singleNode{}
	}
	return tx.Topology
}

// clusterNode is a member as clients of Redis Cluster see it.
type clusterNode struct {
	Member
	id     string // 40 hexadecimal digits
	host   string
	port   int64
	myself bool
	master bool
}

// id40 is an id of the form that Redis has, which stays the same as long as the names do.
func id40(words ...string) string {
	sum := sha1.Sum([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:])
}

// clusterNodes are the members, the master first: the leader, unless it has no RESP port
// and another node has one.
func (tx *Tx) clusterNodes() []clusterNode {
	members := tx.topology().Members()
	if len(members) == 0 { // a machine by itself
		members = []Member{{Leads: true}}
	}
	nodes, master := make([]clusterNode, len(members)), 0
	for i, m := range members {
		host, port := cutPort(m.RESP)
		n, _ := strconv.Atoi(port)
		nodes[i] = clusterNode{Member: m, id: id40(tx.topology().ClusterID(), "node", m.Node), host: reachable(host), port: int64(n), myself: tx.serves(&m) || len(members) == 1}
		if better := &nodes[master]; (m.RESP != "") == (better.RESP != "") && m.Leads || m.RESP != "" && better.RESP == "" {
			master = i
		}
	}
	nodes[0], nodes[master] = nodes[master], nodes[0]
	nodes[0].master = true
	return nodes
}

// reachable is a host that clients can use: what stands for all addresses of a node stands
// for none here, and then clients take the one that they have used.
func reachable(host string) string {
	if host = strings.Trim(host, "[]"); host == "0.0.0.0" || host == "::" {
		return ""
	}
	return host
}

// serves reports whether it is this node's client that asks.
func (tx *Tx) serves(m *Member) bool {
	if tx.Host != nil {
		return tx.Host.NodeID == m.Node
	}
	return tx.Session != 0 && tx.Session == m.Session
}

// myself is the node that the client asks; the master, if that isn't known.
func myself(nodes []clusterNode) *clusterNode {
	for i := range nodes {
		if nodes[i].myself {
			return &nodes[i]
		}
	}
	return &nodes[0]
}

// shardID is the id of the one shard.
func (tx *Tx) shardID() string { return id40(tx.topology().ClusterID(), "shard") }

func clusterMyID(tx *Tx, _ *Args) reply.Value { return reply.Bulk(myself(tx.clusterNodes()).id) }

func clusterMyShardID(tx *Tx, _ *Args) reply.Value { return reply.Bulk(tx.shardID()) }

func clusterInfo(tx *Tx, _ *Args) reply.Value {
	epoch := tx.topology().Term()
	lines := []string{
		"cluster_state:ok", fmt.Sprintf("cluster_slots_assigned:%d", slots), fmt.Sprintf("cluster_slots_ok:%d", slots),
		"cluster_slots_pfail:0", "cluster_slots_fail:0", fmt.Sprintf("cluster_known_nodes:%d", len(tx.clusterNodes())), "cluster_size:1",
		fmt.Sprintf("cluster_current_epoch:%d", epoch), fmt.Sprintf("cluster_my_epoch:%d", epoch),
		"cluster_stats_messages_sent:0", "cluster_stats_messages_received:0", "total_cluster_links_buffer_limit_exceeded:0",
	}
	return reply.Verbatim(strings.Join(lines, "\r\n") + "\r\n")
}

// line describes the node as a line of CLUSTER NODES does.
func (n *clusterNode) line(master *clusterNode, epoch uint64) string {
	flags, follows, slots := []string{}, "-", " 0-16383"
	if n.myself {
		flags = append(flags, "myself")
	}
	if n.master {
		flags = append(flags, "master")
	} else {
		flags, follows, slots = append(flags, "slave"), master.id, ""
	}
	if n.RESP == "" {
		flags = append(flags, "noaddr")
	}
	return fmt.Sprintf("%s %s:%d@%d %s %s 0 0 %d connected%s\n", n.id, n.host, n.port, busPort(n.port), strings.Join(flags, ","), follows, epoch, slots)
}

// busPort returns the port that clients expect of the cluster bus, which does not exist here.
func busPort(port int64) int64 {
	if port == 0 {
		return 0
	}
	return (port + 10000) % 65536
}

func clusterNodes(tx *Tx, _ *Args) reply.Value {
	nodes := tx.clusterNodes()
	var out strings.Builder
	for i := range nodes {
		out.WriteString(nodes[i].line(&nodes[0], tx.topology().Term()))
	}
	return reply.Verbatim(out.String())
}

func clusterReplicas(tx *Tx, a *Args) reply.Value {
	id, nodes := a.String(), tx.clusterNodes()
	if err, ok := a.Done(); !ok {
		return err
	}
	for i := range nodes {
		switch {
		case nodes[i].id != id:
		case !nodes[i].master:
			return reply.Error("ERR The specified node is not a master")
		default:
			var lines []reply.Value
			for j := range nodes[1:] {
				lines = append(lines, reply.Bulk(strings.TrimSuffix(nodes[1+j].line(&nodes[0], tx.topology().Term()), "\n")))
			}
			return reply.Array(lines...)
		}
	}
	return reply.Error("ERR Unknown node " + shownLast(id))
}

// clusterSlots tells of the nodes that clients can reach; of the first one, if there are
// none such.
func clusterSlots(tx *Tx, _ *Args) reply.Value {
	row := []reply.Value{reply.Int(0), reply.Int(slots - 1)}
	for i, n := range tx.clusterNodes() {
		if i == 0 || n.RESP != "" {
			row = append(row, reply.Array(reply.Bulk(n.host), reply.Int(n.port), reply.Bulk(n.id), reply.Map()))
		}
	}
	return reply.Array(reply.Array(row...))
}

func clusterShards(tx *Tx, _ *Args) reply.Value {
	var nodes []reply.Value
	for i, n := range tx.clusterNodes() {
		if i > 0 && n.RESP == "" {
			continue
		}
		role := "replica"
		if n.master {
			role = "master"
		}
		nodes = append(nodes, reply.Map(reply.Bulk("id"), reply.Bulk(n.id), reply.Bulk("port"), reply.Int(n.port), reply.Bulk("ip"), reply.Bulk(n.host),
			reply.Bulk("endpoint"), reply.Bulk(n.host), reply.Bulk("role"), reply.Bulk(role), reply.Bulk("replication-offset"), reply.Int(0),
			reply.Bulk("health"), reply.Bulk("online")))
	}
	return reply.Array(reply.Map(reply.Bulk("slots"), reply.Array(reply.Int(0), reply.Int(slots-1)), reply.Bulk("nodes"), reply.Array(nodes...)))
}
