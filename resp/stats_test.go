package resp_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestInfo lets clients do this and that, and looks for it in what the node says of
// itself.
func TestInfo(t *testing.T) {
	counted := stats.New(command.NewTable())
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Stats = counted })
	nodes.Nodes[0].Machine().SetHost(&command.Host{NodeID: "n1", Leads: true, Figures: counted.Of})
	c, waits := resptest.Login(t, nodes.Addrs[0]), resptest.Login(t, nodes.Addrs[0])
	waits.Start("BLPOP", "none", "0")
	c.AwaitBlocked("1")
	c.Want("OK", "SET", "k", "v")
	c.Want(`"v"`, "GET", "k")
	c.Do("LPUSH", "k", "v")
	c.Do("MULTI")
	c.Do("GET", "missing")
	c.Do("EXEC")
	c.Want("OK", "CLIENT", "TRACKING", "ON")
	c.Do("WATCH", "k", "l")
	text := c.Do("INFO", "everything").Text()
	for _, line := range []string{
		"connected_clients:2", "blocked_clients:1", "tracking_clients:1", "watching_clients:1", "total_watched_keys:2", "keyspace_hits:1", "keyspace_misses:1",
		"role:master", "cluster_enabled:1", "aof_enabled:1", "db0:keys=1,expires=0,avg_ttl=0", "errorstat_WRONGTYPE:count=1", "total_error_replies:1",
	} {
		if !strings.Contains(text, "\r\n"+line+"\r\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	for _, head := range []string{"cmdstat_set:calls=1,usec=", "cmdstat_get:calls=2,", "cmdstat_client|tracking:calls=1,", "latency_percentiles_usec_get:p50="} {
		if !strings.Contains(text, "\r\n"+head) {
			t.Errorf("nothing of %s in\n%s", head, text)
		}
	}
	if v := c.Do("LATENCY", "HISTOGRAM", "set"); len(v.Elems()) != 4 && len(v.Elems()) != 2 {
		t.Errorf("histogram: %d elements", len(v.Elems()))
	}
	c.Want("OK", "CLIENT", "TRACKING", "OFF")
	c.Want("OK", "CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a", "PREFIX", "b")
	c.Want("OK", "SET", "gone", "v", "PX", "1")
	c.Do("EVAL", "return 1", "0")
	c.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f',function() end) redis.register_function('g',function() end)")
	expired := func() bool { return strings.Contains(c.Do("INFO", "stats").Text(), "\r\nexpired_keys:1\r\n") }
	until(t, "the key does not count as expired", expired)
	text = c.Do("INFO").Text()
	for _, line := range []string{"tracking_total_prefixes:2", "number_of_cached_scripts:1", "number_of_functions:2", "number_of_libraries:1"} {
		if !strings.Contains(text, "\r\n"+line+"\r\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	c.Want("OK", "CONFIG", "RESETSTAT")
	if expired() {
		t.Error("the reset leaves expired keys")
	}
	if text := c.Do("INFO", "commandstats").Text(); strings.Contains(text, "cmdstat_set") {
		t.Errorf("after the reset: %s", text)
	}
}
