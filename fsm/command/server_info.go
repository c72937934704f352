package command

import (
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Host describes a node to its own clients and is not replicated. INFO, ROLE, SLOWLOG and LATENCY
// show it; an apply never sees it, because replies of an apply may become state.
type Host struct {
	// NodeID and Version name the node and its binary.
	NodeID, Version string
	// Port is the port of the HTTP listener.
	Port int
	// StartedMs is the time at which the process started, SavedMs that of its last
	// snapshot, in unix milliseconds (0 = not known).
	StartedMs, SavedMs int64
	// Leads reports whether the node leads. Leader is the cluster address of the leader,
	// empty without one, and Others are those of the other nodes.
	Leads  bool
	Leader string
	Others []string
	// Process holds the operating system's figures of the process.
	Process Process
	// Figures, if set, are the node's figures of a database.
	Figures func(db string) Figures
}

// Process holds the operating system's figures of a node's process.
type Process struct {
	ID       int
	OS, Arch string
	// Resident and Peak are its memory in bytes, Total is that of the machine.
	Resident, Peak, Total int64
	// UserMicros and SystemMicros are the time of processors that it has used.
	UserMicros, SystemMicros int64
}

// RedisVersion is the version of Redis whose commands are spoken.
const RedisVersion = "8.2.0"

// infoSection is a section of INFO.
type infoSection struct {
	name  string
	lines func(*Tx) []string
}

// infoSections are in the order of Redis.
var infoSections = []infoSection{
	{"Server", infoServer},
	{"Clients", infoClients},
	{"Memory", infoMemory},
	{"Persistence", infoPersistence},
	{"Stats", infoStats},
	{"Replication", infoReplication},
	{"CPU", infoCPU},
	{"Modules", func(*Tx) []string { return nil }},
	{"Commandstats", infoCommands},
	{"Errorstats", infoErrors},
	{"Latencystats", infoLatency},
	{"Cluster", func(*Tx) []string { return []string{"cluster_enabled:1"} }},
	{"Keyspace", infoKeyspace},
}

// byDefault reports whether INFO shows a section that was not asked for.
func (s infoSection) byDefault() bool { return s.name != "Commandstats" && s.name != "Latencystats" }

// info answers text of sections: each once, in their order, those of the default without a name.
func info(tx *Tx, a *Args) reply.Value {
	asked := a.Rest()
	if tx.dialect().allSections {
		return infoOverHTTP(tx, asked)
	}
	names := map[string]bool{"default": len(asked) == 0}
	for _, name := range asked {
		names[ascii.Lower(string(name))] = true
	}
	var out strings.Builder
	for _, s := range infoSections {
		if names["all"] || names["everything"] || names["default"] && s.byDefault() || names[ascii.Lower(s.name)] {
			s.write(&out, tx)
		}
	}
	return reply.Verbatim(out.String())
}

// infoOverHTTP answers as the reference service does: by default all sections, and of one that
// isn't known the heading only.
func infoOverHTTP(tx *Tx, asked [][]byte) reply.Value {
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
		if ascii.EqualFold(s.name, name) {
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

// offset returns the index up to which this node has applied the log, as ROLE and INFO show it. All databases write into one
// log: a database other than default sees no offset, for it would count the writes of others.
func (tx *Tx) offset() uint64 {
	if tx.Database != defaultDatabase {
		return 0
	}
	return tx.Index
}

// defaultDatabase is the database that is always there.
const defaultDatabase = "default"

// role tells a leader as master with its followers, a follower as slave of its leader.
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
			others = append(others, reply.Array(reply.Bulk(host), reply.Bulk(port), reply.Bulk(fmt.Sprint(tx.offset()))))
		}
		return reply.Array(reply.Bulk("master"), reply.Int(int64(tx.offset())), reply.Array(others...))
	}
	state := "connected"
	if h.Leader == "" {
		state = "connect"
	}
	host, port := cutPort(h.Leader)
	n, _ := ParseInt([]byte(port))
	return reply.Array(reply.Bulk("slave"), reply.Bulk(host), reply.Int(n), reply.Bulk(state), reply.Int(int64(tx.offset())))
}

// lastSave returns the time at which this node has written its last snapshot, in unix seconds.
func lastSave(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.Host == nil {
		return errNoHost
	}
	return reply.Int(tx.Host.SavedMs / 1000)
}
