package resp_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// expiredKeys is the figure of INFO.
func expiredKeys(t *testing.T, c *resptest.Client) int {
	t.Helper()
	for _, line := range strings.Split(c.Do("INFO", "stats").Text(), "\r\n") {
		if text, found := strings.CutPrefix(line, "expired_keys:"); found {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("INFO does not have expired_keys")
	return 0
}

// pauseWithKey pauses writes while the key k has a deadline that has not passed.
func pauseWithKey(t *testing.T, c *resptest.Client) {
	t.Helper()
	for ms := 200; ms < 100_000; ms *= 2 { // a machine may be too busy for a short one
		c.Want("OK", "SET", "k", "v", "PX", strconv.Itoa(ms))
		c.Want("OK", "CLIENT", "PAUSE", "100000000", "WRITE")
		if !c.Do("GET", "k").IsNil() {
			return
		}
		c.Want("OK", "CLIENT", "UNPAUSE")
	}
	t.Fatal("no key outlives the commands that set it")
}

// TestPauseHoldsExpiry has a key pass its deadline during a pause: it is hidden at once, and counts as expired when the pause
// ends, on a node alone, through a follower of three whose leader changes, and on redis-server.
func TestPauseHoldsExpiry(t *testing.T) {
	try := func(t *testing.T, dial func() *resptest.Client, beside func()) {
		c, other := dial(), dial()
		pauseWithKey(t, c)
		before := expiredKeys(t, c)
		until(t, "the key stays", func() bool { return c.Do("GET", "k").IsNil() })
		beside()
		if n := expiredKeys(t, c); n != before {
			t.Errorf("%d keys expired during the pause", n-before)
		}
		other.Start("SET", "held", "v")
		c.AwaitBlocked("1")
		c.Want("OK", "CLIENT", "UNPAUSE")
		other.WantNext("OK")
		until(t, "the key does not count as expired after the pause", func() bool { return expiredKeys(t, c) == before+1 })
	}
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		try(t, func() *resptest.Client { return resptest.Dial(t, addr) }, func() {})
	})
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			nodes := resptest.Serve(t, n, nil)
			leader := nodes.Leader()
			follower := (leader + 1) % n
			nodes.Nodes[follower].Machine().SetHost(&command.Host{Figures: stats.New(command.NewTable()).Of})
			write := func() { // every entry removes what has expired
				if v, err := nodes.Write(nodes.Leader(), "SET", "beside", "v"); err != nil || v.IsError() {
					t.Errorf("a write beside the pause: %v, %v", v, err)
				}
			}
			try(t, func() *resptest.Client { return resptest.Login(t, nodes.Addrs[follower]) }, func() {
				write()
				if n == 1 {
					return
				}
				until(t, "the leader stays", func() bool {
					return nodes.Nodes[leader].TransferLeadership(nodes.List[(leader+2)%n].ID) == nil || !nodes.Nodes[leader].IsLeader()
				})
				nodes.WaitReady()
				write()
			})
		})
	}
}

// TestPauseInTransaction pauses writes in a transaction, whose own commands all run.
func TestPauseInTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, dial func() *resptest.Client) {
		c, other := dial(), dial()
		c.Want("OK", "MULTI")
		for _, line := range []string{"SET a 1 PX 100", "CLIENT PAUSE 100000000 WRITE", "SET b 2"} {
			c.Want("QUEUED", strings.Fields(line)...)
		}
		c.Want("1) OK\n2) OK\n3) OK", "EXEC")
		c.Want(`"2"`, "GET", "b")
		other.Start("SET", "c", "3")
		c.AwaitBlocked("1")
		until(t, "the key stays", func() bool { return c.Do("GET", "a").IsNil() })
		c.Want("OK", "CLIENT", "UNPAUSE")
		other.WantNext("OK")
	})
}
