package resp_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestEvictedKeysAreTold fills three nodes to more than their limit. A client of each node that keeps a copy of the
// oldest key is told when it is evicted, a subscriber hears the event of every key that is, and all nodes count the same.
func TestEvictedKeysAreTold(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	limits := fsm.Settings{MaxMemory: 50_000, Policy: keyspace.AllKeysLRU}
	if _, err := fsm.Do(context.Background(), nodes.Cluster.Nodes[0], fsm.Configure, limits); err != nil {
		t.Fatal(err)
	}
	nodes.Nodes[0].Machine().SetHost(&command.Host{Figures: stats.New(command.NewTable()).Of})
	writer := resptest.Login(t, nodes.Addrs[0])
	writer.Want("OK", "CONFIG", "SET", "maxmemory-samples", "64") // all keys, so that the oldest goes first
	writer.Want("OK", "CONFIG", "SET", "notify-keyspace-events", "Ee")
	writer.Want("OK", "SET", "oldest", "v")
	subscriber := resptest.Login(t, nodes.Addrs[2])
	subscriber.Do("SUBSCRIBE", "__keyevent@0__:evicted", "end")
	subscriber.Next()
	var readers []*resptest.Client
	for _, addr := range nodes.Addrs {
		c := resptest.Login(t, addr)
		c.Do("HELLO", "3")
		c.Want("OK", "CLIENT", "TRACKING", "ON")
		c.Want(`"v"`, "GET", "oldest")
		readers = append(readers, c)
	}
	const writes = 120
	for i := range writes {
		writer.Want("OK", "SET", fmt.Sprint("k", i), strings.Repeat("v", 1000))
	}
	for _, c := range readers {
		c.WantNext("1> \"invalidate\"\n2> 1) \"oldest\"")
		c.Want("(nil)", "GET", "oldest")
	}
	count := evictedKeys(t, readers[0])
	for i, c := range readers {
		if n := evictedKeys(t, c); n != count || n < writes/2 {
			t.Errorf("node %d has evicted %d keys, the first %d", i, n, count)
		}
	}
	writer.Do("PUBLISH", "end", "")
	heard := map[string]bool{}
	for v := subscriber.Next(); v.Elems()[1].Text() != "end"; v = subscriber.Next() {
		heard[v.Elems()[2].Text()] = true
	}
	if len(heard) != count || !heard["oldest"] {
		t.Errorf("%d events of %d evicted keys, that of the oldest: %v", len(heard), count, heard["oldest"])
	}
	if left := readers[1].Do("DBSIZE"); !left.Equal(reply.Int(int64(writes + 1 - count))) {
		t.Errorf("%v keys are left, %d were evicted", left, count)
	}
	writer.Want("OK", "CONFIG", "RESETSTAT")
	if n := evictedKeys(t, writer); n != 0 {
		t.Errorf("after CONFIG RESETSTAT: %d", n)
	}
}

var evictedLine = regexp.MustCompile(`evicted_keys:(\d+)`)

// evictedKeys returns evicted_keys of INFO.
func evictedKeys(t *testing.T, c *resptest.Client) int {
	t.Helper()
	found := evictedLine.FindStringSubmatch(c.Do("INFO", "stats").Text())
	if found == nil {
		t.Fatal("INFO has no evicted_keys")
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
