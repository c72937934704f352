package resp_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestSlowLogByConfig logs every call once CONFIG SET says so: commands of the connection, those of
// a transaction, refused ones not, as they were sent and without passwords.
func TestSlowLogByConfig(t *testing.T) {
	counted := stats.New(command.NewTable())
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Stats = counted })
	nodes.Nodes[0].Machine().SetHost(&command.Host{NodeID: "n1", Leads: true, Figures: counted.Of})
	c := resptest.Login(t, nodes.Addrs[0])
	c.Want("OK", "CONFIG", "SET", "slowlog-log-slower-than", "0")
	c.Want("OK", "SLOWLOG", "RESET")
	c.Do("ping")
	c.Do("GETSET", "k", "v")
	c.Do("MULTI")
	c.Do("set", "k", "w")
	c.Do("EXEC")
	c.Do("NOSUCH")
	c.Do("AUTH", "nobody", "secret") // did not run
	var shown []string
	for _, call := range c.Do("SLOWLOG", "GET", "-1").Elems() {
		var words []string
		for _, w := range call.Elems()[3].Elems() {
			words = append(words, w.Text())
		}
		shown = append(shown, strings.Join(words, " "))
	}
	want := "set k w|MULTI|GETSET k v|ping|SLOWLOG RESET"
	if got := strings.Join(shown, "|"); got != want {
		t.Errorf("the slow log has\n%s\nwant\n%s", got, want)
	}
	c.Want("OK", "CONFIG", "SET", "slowlog-max-len", "2")
	c.Do("PING")
	c.Want("(integer) 2", "SLOWLOG", "LEN")
	text := c.Do("INFO", "commandstats", "errorstats", "errorstats").Text()
	for _, line := range []string{"cmdstat_exec:calls=1,", "errorstat_WRONGPASS:count=1", "errorstat_ERR:count=1"} {
		if strings.Count(text, line) != 1 {
			t.Errorf("%s is not there once in\n%s", line, text)
		}
	}
}

// TestMonitorShowsWhatWasSent compares the lines of a monitor with the commands in their order.
func TestMonitorShowsWhatWasSent(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	m, c := resptest.Login(t, nodes.Addrs[0]), resptest.Login(t, nodes.Addrs[0])
	m.Want("OK", "MONITOR")
	for _, line := range []string{"SeT k v", "MULTI", "get k", "EXEC", "MULTI", "nosuch", "EXEC", "CONFIG GET timeout", "HELLO 2 AUTH u p", "get k"} {
		c.Do(strings.Fields(line)...)
	}
	head := regexp.MustCompile(`^[0-9.]+ \[0 [^]]+\] `)
	for _, want := range []string{`"SeT" "k" "v"`, `"MULTI"`, `"get" "k"`, `"EXEC"`, `"MULTI"`, `"EXEC"`, `"HELLO" "2" "AUTH" "(redacted)" "(redacted)"`, `"get" "k"`} {
		line := m.Next().Text()
		if got := head.ReplaceAllString(line, ""); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// monitoredScripts are commands and the lines that MONITOR shows of them, without time and
// address; what a script has called begins with lua.
var monitoredScripts = []struct{ line, shown string }{
	{"EVAL return_redis.call('GET','k') 0", `EVAL return redis.call('GET','k') 0;lua GET k`},
	{"eval redis.call('set',KEYS[1],ARGV[1])_redis.call('incrby',KEYS[1],1.0)_return_redis.pcall('Get',KEYS[1]) 1 k 7", `eval redis.call('set',KEYS[1],ARGV[1]) redis.call('incrby',KEYS[1],1.0) return redis.pcall('Get',KEYS[1]) 1 k 7;lua set k 7;lua incrby k 1;lua Get k`},
	{"EVAL redis.call('SET','k','v')_redis.pcall('NOSUCH')_redis.pcall('GET')_redis.pcall('LPUSH','k','x')_return_redis.call('GET','k') 0", `EVAL redis.call('SET','k','v') redis.pcall('NOSUCH') redis.pcall('GET') redis.pcall('LPUSH','k','x') return redis.call('GET','k') 0;lua SET k v;lua LPUSH k x;lua GET k`},
	{"EVAL_RO return_redis.call('GET','k') 0", `EVAL_RO return redis.call('GET','k') 0;lua GET k`},
	{"EVAL_RO return_redis.pcall('SET','k','v') 0", `EVAL_RO return redis.pcall('SET','k','v') 0`},
	{"EVAL redis.call('PING')_return_redis.call('ECHO','a') 0", `EVAL redis.call('PING') return redis.call('ECHO','a') 0;lua PING;lua ECHO a`},
	{"EVAL return_1 0", `EVAL return 1 0`},
	{"EVAL return_redis.call('GET','k')_.._nil 0", `EVAL return redis.call('GET','k') .. nil 0;lua GET k`},
	{"FCALL both 1 k", `FCALL both 1 k;lua SET k f;lua GET k`},
	{"FCALL_RO reads 1 k", `FCALL_RO reads 1 k;lua GET k`},
	{"SET k plain", `SET k plain`},
	{"MULTI;SET k a;EVAL redis.call('INCR','n')_return_redis.call('GET','k') 0;EVAL_RO return_redis.call('GET','n') 0;GET k;EXEC",
		`MULTI;SET k a;EVAL redis.call('INCR','n') return redis.call('GET','k') 0;lua INCR n;lua GET k;EVAL_RO return redis.call('GET','n') 0;lua GET n;GET k;EXEC`},
	{"MULTI;GET k;EVAL_RO return_redis.call('GET','n') 0;EXEC", `MULTI;GET k;EVAL_RO return redis.call('GET','n') 0;lua GET n;EXEC`},
}

// shownLine is a line of MONITOR without its time, with lua in place of the address of scripts and
// nothing in place of others, and without quotes.
func shownLine(line string) string {
	_, rest, _ := strings.Cut(line, " [0 ")
	addr, words, _ := strings.Cut(rest, "] ")
	words = strings.ReplaceAll(words, `"`, "")
	if addr == "lua" {
		return "lua " + words
	}
	return words
}

// awaitMonitor waits until m shows what c sends: a monitor does not wait long for other nodes.
func awaitMonitor(c, m *resptest.Client) {
	shown, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			c.Do("ECHO", "again")
			select {
			case <-shown:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	m.Next()
	close(shown)
	<-ended
	c.Do("ECHO", "begin")
	for shownLine(m.Next().Text()) != "ECHO begin" {
	}
}

// TestMonitorOfScripts shows what scripts call after the scripts themselves, also in transactions
// and on nodes that do not lead.
func TestMonitorOfScripts(t *testing.T) {
	try := func(t *testing.T, c, m *resptest.Client) {
		c.Do("FUNCTION", "LOAD", "REPLACE", "#!lua name=lib\nredis.register_function('both',function(keys) redis.call('SET',keys[1],'f') return redis.call('GET',keys[1]) end) redis.register_function{function_name='reads',callback=function(keys) return redis.call('GET',keys[1]) end,flags={'no-writes'}}")
		m.Want("OK", "MONITOR")
		awaitMonitor(c, m)
		for _, s := range monitoredScripts {
			for _, line := range strings.Split(s.line, ";") {
				c.Do(inWords(line)...)
			}
			for _, want := range strings.Split(s.shown, ";") {
				if got := shownLine(m.Next().Text()); got != want {
					t.Fatalf("%s: MONITOR shows %q, want %q", s.line, got, want)
				}
			}
		}
		c.Do("FLUSHALL")
	}
	nodes := resptest.Serve(t, 3, nil)
	for i := range nodes.Addrs {
		t.Run(fmt.Sprint("node ", i), func(t *testing.T) {
			other := nodes.Addrs[(i+1)%len(nodes.Addrs)] // the monitor is another node's
			try(t, resptest.Login(t, nodes.Addrs[i]), resptest.Login(t, other))
		})
	}
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		try(t, resptest.Dial(t, addr), resptest.Dial(t, addr))
	})
}
