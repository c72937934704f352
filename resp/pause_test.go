package resp_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// onBoth runs a test on a node and on redis-server. Each call of dial opens a connection.
func onBoth(t *testing.T, try func(t *testing.T, dial func() *resptest.Client)) {
	t.Run("node", func(t *testing.T) {
		addr := resptest.Serve(t, 1, nil).Addrs[0]
		try(t, func() *resptest.Client { return resptest.Login(t, addr) })
	})
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		try(t, func() *resptest.Client { return resptest.Dial(t, addr) })
	})
}

// inWords is a line in words; \n stands for a line feed within one and _ for a space, but in names
// such as EVAL_RO.
func inWords(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if strings.HasSuffix(w, "_RO") {
			continue
		}
		words[i] = strings.NewReplacer(`\n`, "\n", "_", " ").Replace(w)
	}
	return words
}

// pausedCalls lists calls that CLIENT PAUSE WRITE holds back, and calls that it lets through.
// The commands in before, separated by semicolons, are sent before the pause.
var pausedCalls = []struct {
	before, call string
	held         bool
}{
	{"", "GET k", false},
	{"", "SET k v", true},
	{"", "SORT_RO l", false},
	{"", "SORT l", true},
	{"", "BITFIELD_RO k GET u8 0", false},
	{"", "BITFIELD k GET u8 0", true},
	{"", "GETEX k", true},
	{"", "XREAD STREAMS s 0", false},
	{"", "DEL none", true},
	{"", "BLPOP none 0.01", true},
	{"", "PFCOUNT h", true},
	{"", "PUBLISH ch m", true},
	{"", "SPUBLISH ch m", true},
	{"", "EVAL_RO return_1 0", false},
	{"", "EVAL return_1 0", true},
	{"", `EVAL #!lua\nreturn_1 0`, true},
	{"", `EVAL #!lua_flags=no-writes\nreturn_1 0`, false},
	{"", "EVALSHA b8bc02a64eb3c5d2e9db9e9b7cd9a3ab5a6d1e54 0", true}, // there is none of this name
	{"", "SCRIPT LOAD return_2", false},
	{"", "SCRIPT EXISTS a", false},
	{"", "FCALL reads 0", false},
	{"", "FCALL_RO reads 0", false},
	{"", "FCALL writes 0", true},
	{"", "FCALL none 0", true},
	{"", "FUNCTION LIST", false},
	{"", "FUNCTION FLUSH", true},
	{"", "SUBSCRIBE ch", false},
	{"MULTI", "GET k", false},
	{"MULTI", "SET k v", true},
	{"MULTI;GET k", "EXEC", false},
	{"MULTI;EVAL_RO return_1 0;GET k", "EXEC", false},
	{`MULTI;EVAL #!lua_flags=no-writes\nreturn_1 0`, "EXEC", false},
	{"MULTI;EVAL return_1 0", "EXEC", true},
	{"MULTI;GET k;SET k v", "EXEC", true},
	{"MULTI;PFCOUNT h", "EXEC", true},
	{"MULTI;PUBLISH ch m", "EXEC", true},
	{"MULTI;SET k v", "DISCARD", false},
	{"", "EXEC", false},
	{"", "WATCH k", false},
	{"", "NOSUCH k", false},
	{"", "SET k", false},
}

// TestPauseOfWrites checks which commands a pause of writes holds back, and that they run when
// it ends.
func TestPauseOfWrites(t *testing.T) {
	onBoth(t, func(t *testing.T, dial func() *resptest.Client) {
		admin := dial()
		admin.Do("RPUSH", "l", "1")
		admin.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function{function_name='reads',callback=function() return 1 end,flags={'no-writes'}} redis.register_function('writes',function() return 1 end)")
		for _, p := range pausedCalls {
			c := dial()
			for _, line := range strings.Split(p.before, ";") {
				if line != "" {
					c.Do(inWords(line)...)
				}
			}
			admin.Want("OK", "CLIENT", "PAUSE", "100000000", "WRITE")
			c.Start(inWords(p.call)...)
			if p.held {
				admin.AwaitBlocked("1")
				admin.Want("OK", "CLIENT", "UNPAUSE")
			}
			v := c.Next()
			admin.Want("OK", "CLIENT", "UNPAUSE")
			t.Logf("%s; %s: %s", p.before, p.call, scripttest.Print(v))
			c.Close()
		}
	})
}

// TestPauseOfKnownScripts does the same for scripts by their digest.
func TestPauseOfKnownScripts(t *testing.T) {
	onBoth(t, func(t *testing.T, dial func() *resptest.Client) {
		admin, c := dial(), dial()
		reads := admin.Do("SCRIPT", "LOAD", "#!lua flags=no-writes\nreturn 1").Text()
		writes := admin.Do("SCRIPT", "LOAD", "return 1").Text()
		admin.Want("OK", "CLIENT", "PAUSE", "100000000", "WRITE")
		c.Want("(integer) 1", "EVALSHA", reads, "0")
		c.Want("(integer) 1", "EVALSHA_RO", writes, "0")
		c.Start("EVALSHA", writes, "0")
		admin.AwaitBlocked("1")
		admin.Want("OK", "CLIENT", "UNPAUSE")
		c.WantNext("(integer) 1")
	})
}

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
