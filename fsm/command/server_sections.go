package command

import (
	"fmt"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/channel"
)

// field is a line of INFO.
func field[T any](name string, v T) string { return fmt.Sprint(name, ":", v) }

// human is a size in bytes as INFO shows it to people.
func human(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return strconv.FormatInt(bytes, 10) + "B"
	case bytes < 1<<20:
		return fmt.Sprintf("%.2fK", float64(bytes)/(1<<10))
	case bytes < 1<<30:
		return fmt.Sprintf("%.2fM", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.2fG", float64(bytes)/(1<<30))
}

func infoServer(tx *Tx) []string {
	lines := []string{field("redis_version", RedisVersion), field("redis_mode", "cluster")}
	if h := tx.Host; h != nil {
		up := max(0, tx.Now-h.StartedMs) / 1000
		lines = append(lines, field("os", h.Process.OS), field("arch_bits", strconv.IntSize), field("process_id", h.Process.ID),
			field("trireme_version", h.Version), field("run_id", id40(h.NodeID)), field("trireme_node_id", h.NodeID), field("tcp_port", h.Port),
			field("uptime_in_seconds", up), field("uptime_in_days", up/86400), field("hz", 10), field("configured_hz", 10))
	}
	return append(lines, field("server_time_usec", tx.Now*1000))
}

// totals are the node's sums, of nothing where no node answers by itself.
func (tx *Tx) totals() Totals {
	if f := tx.figures(); f != nil {
		return f.Totals()
	}
	return Totals{}
}

func infoClients(tx *Tx) []string {
	t := tx.totals()
	return []string{field("connected_clients", t.Connected), field("cluster_connections", 0), field("maxclients", t.MostConnections),
		field("blocked_clients", t.Blocked), field("tracking_clients", t.Tracking), field("pubsub_clients", t.Subscribed),
		field("watching_clients", t.Watching), field("clients_in_timeout_table", 0), field("total_watched_keys", t.WatchedKeys)}
}

// infoMemory tells logical sizes, the same on every node, and what the process has.
func infoMemory(tx *Tx) []string {
	used := tx.DB.Used()
	main, expires := tx.DB.Overhead()
	overhead := main + expires
	lines := []string{field("used_memory", used), field("used_memory_human", human(used)), field("used_memory_overhead", overhead),
		field("used_memory_dataset", used-overhead)}
	if h := tx.Host; h != nil {
		values, bytes := tx.DB.ColdValues()
		lines = append(lines, field("cold_values", values), field("cold_value_bytes", bytes))
		p := h.Process
		lines = append(lines, field("used_memory_rss", p.Resident), field("used_memory_rss_human", human(p.Resident)),
			field("used_memory_peak", p.Peak), field("used_memory_peak_human", human(p.Peak)),
			field("total_system_memory", p.Total), field("total_system_memory_human", human(p.Total)), field("mem_allocator", "go"))
		libraries, functions := tx.Scripts.Counts()
		lines = append(lines, field("number_of_cached_scripts", tx.Scripts.Scripts()), field("number_of_functions", functions),
			field("number_of_libraries", libraries), field("mem_fragmentation_bytes", p.Resident-used))
		if used > 0 {
			lines = append(lines, fmt.Sprintf("mem_fragmentation_ratio:%.2f", float64(p.Resident)/float64(used)))
		}
	}
	return append(lines, field("maxmemory", tx.lowestLimit()), field("maxmemory_human", human(tx.lowestLimit())), field("maxmemory_policy", tx.policy()),
		field("lazyfree_pending_objects", 0), field("lazyfreed_objects", max(0, tx.DB.Freed()-tx.totals().FreedBefore)))
}

// infoPersistence: every acknowledged write is on the disks of a majority, which a client
// of Redis knows as an append-only file that is synced always.
func infoPersistence(tx *Tx) []string {
	changes := int64(0)
	if tx.Host != nil && !tx.Saved { // what this node has not in its last snapshot
		changes = tx.DB.Unsaved()
	}
	lines := []string{field("loading", 0), field("async_loading", 0), field("rdb_changes_since_last_save", changes), field("rdb_bgsave_in_progress", 0)}
	if h := tx.Host; h != nil {
		lines = append(lines, field("rdb_last_save_time", h.SavedMs/1000))
	}
	return append(lines, field("rdb_last_bgsave_status", "ok"), field("aof_enabled", 1), field("aof_rewrite_in_progress", 0),
		field("aof_last_bgrewrite_status", "ok"), field("aof_last_write_status", "ok"))
}

func infoStats(tx *Tx) []string {
	t := tx.totals()
	errors, expired := int64(0), int64(0)
	if tx.Host != nil { // what this node has counted
		expired = max(0, tx.DB.Expired()-t.ExpiredBefore)
	}
	if f := tx.figures(); f != nil {
		for _, e := range f.Errors() {
			errors += e.Count
		}
	}
	return []string{field("total_connections_received", t.Received), field("total_commands_processed", t.Processed),
		field("instantaneous_ops_per_sec", t.PerSecond), field("total_net_input_bytes", t.In), field("total_net_output_bytes", t.Out),
		field("rejected_connections", t.Rejected), field("expired_keys", expired), field("evicted_keys", max(0, int64(tx.DB.Evicted())-t.EvictedBefore)), field("keyspace_hits", t.Hits), field("keyspace_misses", t.Misses),
		field("pubsub_channels", tx.Channels.Number(channel.Plain)), field("pubsub_patterns", tx.Channels.Patterns()),
		field("pubsubshard_channels", tx.Channels.Number(channel.Shard)), field("tracking_total_keys", t.TrackedKeys),
		field("tracking_total_prefixes", t.TrackedPrefixes), field("total_error_replies", errors)}
}

func infoReplication(tx *Tx) []string {
	offset := field("master_repl_offset", tx.offset())
	switch h := tx.Host; {
	case h == nil:
		return []string{field("role", "master")}
	case !h.Leads:
		host, port := cutPort(h.Leader)
		status := "up"
		if h.Leader == "" {
			status = "down"
		}
		return []string{field("role", "slave"), field("master_host", host), field("master_port", port), field("master_link_status", status),
			field("master_sync_in_progress", 0), field("slave_repl_offset", tx.offset()), field("slave_read_only", 0), field("connected_slaves", 0), offset}
	default:
		lines := []string{field("role", "master"), field("connected_slaves", len(h.Others))}
		for i, addr := range h.Others {
			host, port := cutPort(addr)
			lines = append(lines, fmt.Sprintf("slave%d:ip=%s,port=%s,state=online,offset=%d,lag=0", i, host, port, tx.offset()))
		}
		return append(lines, field("master_failover_state", "no-failover"), offset)
	}
}

func infoCPU(tx *Tx) []string {
	if tx.Host == nil {
		return nil
	}
	seconds := func(micros int64) string { return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6) }
	return []string{field("used_cpu_sys", seconds(tx.Host.Process.SystemMicros)), field("used_cpu_user", seconds(tx.Host.Process.UserMicros))}
}

func infoCommands(tx *Tx) (lines []string) {
	f := tx.figures()
	if f == nil {
		return nil
	}
	for _, c := range f.Calls() {
		micros := c.Nanos / 1000
		each := 0.0
		if c.Calls > 0 {
			each = float64(micros) / float64(c.Calls)
		}
		lines = append(lines, fmt.Sprintf("cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d", c.Name, c.Calls, micros, each, c.Rejected, c.Failed))
	}
	return lines
}

func infoErrors(tx *Tx) (lines []string) {
	f := tx.figures()
	if f == nil {
		return nil
	}
	for _, e := range f.Errors() {
		lines = append(lines, fmt.Sprintf("errorstat_%s:count=%d", clean(e.Class), e.Count))
	}
	return lines
}

// infoLatency bounds times: they are kept in spans of powers of two.
func infoLatency(tx *Tx) (lines []string) {
	f := tx.figures()
	if f == nil {
		return nil
	}
	for _, c := range f.Calls() {
		if c.Calls == 0 {
			continue
		}
		at := func(p float64) float64 { return float64(c.Percentile(p)) / 1000 }
		lines = append(lines, fmt.Sprintf("latency_percentiles_usec_%s:p50=%.3f,p99=%.3f,p99.9=%.3f", c.Name, at(50), at(99), at(99.9)))
	}
	return lines
}

func infoKeyspace(tx *Tx) []string {
	if keys := tx.DB.Live(tx.Env); keys > 0 {
		return []string{fmt.Sprintf("db0:keys=%d,expires=%d,avg_ttl=0", keys, tx.DB.Deadlines())}
	}
	return nil
}
