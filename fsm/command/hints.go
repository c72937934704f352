package command

import "strings"

// hints are what COMMAND INFO tells clients of commands beside their flags, in the words of
// Redis: tips, and flags that have a meaning for clients alone. They don't depend on what a
// command does here but on how clients of a cluster are used to handle it.
var hints = func() map[string][]string {
	const vague, unordered, shards, nodes, several = "nondeterministic_output", "nondeterministic_output_order", "request_policy:all_shards", "request_policy:all_nodes", "request_policy:multi_shard"
	m := map[string][]string{}
	for _, row := range []struct {
		names string
		tips  []string
	}{
		{"client info,client list,cluster getkeysinslot,cluster info,cluster links,cluster nodes,cluster replicas,cluster shards,cluster slots," +
			"dump,hrandfield,hscan,lastsave,object encoding,object freq,object idletime,object refcount,pttl,spop,srandmember,sscan,time,ttl," +
			"xadd,xautoclaim,xclaim,xinfo consumers,xpending,xtrim,zrandmember,zscan", []string{vague}},
		{"command,command docs,command info,command list,function list,hgetall,hkeys,hvals,module list,sdiff,sinter,smembers,sunion", []string{unordered}},
		{"config set,latency reset,script flush,script load,slowlog reset", []string{nodes, "response_policy:all_succeeded"}},
		{"dbsize", []string{shards, "response_policy:agg_sum"}},
		{"del,exists,touch,unlink", []string{several, "response_policy:agg_sum"}},
		{"flushall,flushdb,function delete,function flush,function load,function restore,memory purge,ping", []string{shards, "response_policy:all_succeeded"}},
		{"function kill,script kill", []string{shards, "response_policy:one_succeeded"}},
		{"function stats,info,memory doctor,memory malloc-stats,memory stats", []string{vague, shards, "response_policy:special"}},
		{"keys", []string{shards, unordered}},
		{"latency doctor,latency graph,latency histogram,latency history,latency latest", []string{vague, nodes, "response_policy:special"}},
		{"mget", []string{several}},
		{"mset", []string{several, "response_policy:all_succeeded"}},
		{"msetnx", []string{several, "response_policy:agg_min"}},
		{"randomkey", []string{shards, vague}},
		{"scan", []string{vague, "request_policy:special"}},
		{"script exists", []string{shards, "response_policy:agg_logical_and"}},
		{"slowlog get", []string{nodes, vague}},
		{"slowlog len", []string{nodes, "response_policy:agg_sum", vague}},
		{"wait", []string{shards, "response_policy:agg_min"}},
	} {
		for _, name := range strings.Split(row.names, ",") {
			m[name] = row.tips
		}
	}
	return m
}()

// moreFlags are the flags that follow from the families, by which clients know what to
// send to a server that loads its data or has lost its leader, and which of the keys a
// command must name.
func (c *Command) moreFlags() (flags []string) {
	head, sub := container(c.Name), strings.Contains(c.Name, " ")
	switch {
	case c.Group == "scripting" && !sub:
		flags = append(flags, "stale", "skip_monitor", "no_mandatory_keys")
	case c.Name == "cluster help" || c.Group == "connection" && c.Name != "ping" || c.Group == "transactions" || c.Group == "pubsub" || c.Group == "acl" || loadable[head]:
		flags = append(flags, "loading", "stale")
	case c.Group == "cluster" && sub || c.Name == "script load":
		flags = append(flags, "stale")
	case c.Name == "readonly" || c.Name == "readwrite" || strings.HasSuffix(c.Name, " help"):
		flags = append(flags, "loading", "stale")
	}
	if c.Group == "pubsub" && c.Name != "pubsub help" {
		flags = append(flags, "pubsub")
	}
	return append(flags, soleFlags[c.Name]...)
}

// loadable are commands of the server that need no data.
var loadable = map[string]bool{"command": true, "config": true, "info": true, "lastsave": true, "latency": true, "monitor": true, "role": true, "slowlog": true, "time": true}

// soleFlags are those that few commands have.
var soleFlags = map[string][]string{
	"auth": {"no_auth", "allow_busy"}, "hello": {"no_auth", "allow_busy"}, "quit": {"no_auth", "allow_busy"}, "reset": {"no_auth", "allow_busy"},
	"discard": {"allow_busy"}, "multi": {"allow_busy"}, "watch": {"allow_busy"}, "unwatch": {"allow_busy"}, "function kill": {"allow_busy"},
	"function stats": {"allow_busy"}, "script kill": {"allow_busy"}, "exec": {"skip_slowlog"}, "shutdown": {"allow_busy", "loading", "no_multi", "stale"}, "debug": {"loading", "stale"},
	"save": {"no_async_loading", "no_multi"}, "bgsave": {"no_async_loading"}, "bgrewriteaof": {"no_async_loading"},
}
