package command

import (
	"fmt"
	"strings"

	"trireme/fsm/reply"
)

// Host is what a node knows of itself and is not replicated. INFO and ROLE tell it; an
// apply never sees it, because its replies may become state.
type Host struct {
	// NodeID and Version name the node and its binary.
	NodeID, Version string
	// Port is that of the HTTP listener.
	Port int
	// StartedMs is when the process started, SavedMs when its last snapshot was written,
	// in unix milliseconds; 0 is not known.
	StartedMs, SavedMs int64
	// Leads tells whether the node leads. Leader is the cluster address of the leader,
	// empty without one, and Others are those of the other nodes.
	Leads  bool
	Leader string
	Others []string
}

// RedisVersion is the version of Redis whose commands are spoken.
const RedisVersion = "8.2.0"

// infoSection is a section of INFO.
type infoSection struct {
	name  string
	lines func(*Tx) []string
}

var infoSections = []infoSection{
	{"Server", infoServer},
	{"Clients", func(*Tx) []string { return []string{"blocked_clients:0"} }},
	{"Memory", infoMemory},
	{"Stats", func(*Tx) []string { return []string{"evicted_keys:0"} }},
	{"Replication", infoReplication},
	{"Cluster", func(*Tx) []string { return []string{"cluster_enabled:1"} }},
	{"Keyspace", infoKeyspace},
}

// info answers text of sections; without a name, all of them. A section that isn't known
// has a heading only.
func info(tx *Tx, a *Args) reply.Value {
	asked := a.Rest()
	if len(asked) == 0 {
		asked = [][]byte{[]byte("default")}
	}
	var out strings.Builder
	for _, name := range asked {
		if EqualFold(name, "DEFAULT") || EqualFold(name, "ALL") || EqualFold(name, "EVERYTHING") {
			for _, s := range infoSections {
				s.write(&out, tx)
			}
			continue
		}
		infoNamed(string(name)).write(&out, tx)
	}
	return reply.Verbatim(out.String())
}

func infoNamed(name string) infoSection {
	for _, s := range infoSections {
		if strings.EqualFold(s.name, name) {
			return s
		}
	}
	return infoSection{clean(name), func(*Tx) []string { return nil }}
}

func (s infoSection) write(out *strings.Builder, tx *Tx) {
	if out.Len() > 0 {
		out.WriteString("\r\n")
	}
	out.WriteString("# " + s.name + "\r\n")
	for _, line := range s.lines(tx) {
		out.WriteString(line + "\r\n")
	}
}

func infoServer(tx *Tx) []string {
	lines := []string{"redis_version:" + RedisVersion, "redis_mode:cluster", fmt.Sprintf("server_time_usec:%d", tx.Now*1000)}
	if h := tx.Host; h != nil {
		lines = append(lines, "trireme_version:"+h.Version, "run_id:"+h.NodeID, fmt.Sprintf("tcp_port:%d", h.Port),
			fmt.Sprintf("uptime_in_seconds:%d", max(0, tx.Now-h.StartedMs)/1000))
	}
	return lines
}

func infoMemory(tx *Tx) []string {
	used := tx.DB.Used()
	return []string{fmt.Sprintf("used_memory:%d", used), fmt.Sprintf("used_memory_human:%.2fM", float64(used)/(1<<20)),
		fmt.Sprintf("maxmemory:%d", tx.MaxMemory), "maxmemory_policy:noeviction"}
}

func infoReplication(tx *Tx) []string {
	if h := tx.Host; h != nil && !h.Leads {
		host, port := cutPort(h.Leader)
		return []string{"role:slave", "master_host:" + host, "master_port:" + port}
	} else if h != nil {
		return []string{"role:master", fmt.Sprintf("connected_slaves:%d", len(h.Others))}
	}
	return []string{"role:master"}
}

func infoKeyspace(tx *Tx) []string {
	if keys := tx.DB.Live(tx.Env); keys > 0 {
		return []string{fmt.Sprintf("db0:keys=%d,expires=%d,avg_ttl=0", keys, tx.DB.Deadlines())}
	}
	return nil
}

// cutPort splits an address at its last colon.
func cutPort(addr string) (host, port string) {
	at := strings.LastIndexByte(addr, ':')
	if at < 0 {
		return addr, "0"
	}
	return addr[:at], addr[at+1:]
}

// errNoHost is the answer of a command about the node where no node answers by itself.
var errNoHost = reply.Error("ERR a node says this for itself only, not in a request that writes")

// role tells a leader as master with its followers, a follower as slave of its leader.
// The offset is the log index.
func role(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	h := tx.Host
	switch {
	case h == nil:
		return errNoHost
	case h.Leads:
		var others []reply.Value
		for _, addr := range h.Others {
			host, port := cutPort(addr)
			others = append(others, reply.Array(reply.Bulk(host), reply.Bulk(port), reply.Bulk(fmt.Sprint(tx.Index))))
		}
		return reply.Array(reply.Bulk("master"), reply.Int(int64(tx.Index)), reply.Array(others...))
	}
	state := "connected"
	if h.Leader == "" {
		state = "connect"
	}
	host, port := cutPort(h.Leader)
	n, _ := ParseInt([]byte(port))
	return reply.Array(reply.Bulk("slave"), reply.Bulk(host), reply.Int(n), reply.Bulk(state), reply.Int(int64(tx.Index)))
}

// lastSave is when this node has written its last snapshot, in seconds.
func lastSave(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.Host == nil {
		return errNoHost
	}
	return reply.Int(tx.Host.SavedMs / 1000)
}
