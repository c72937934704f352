package resp_test

import (
	"regexp"
	"strings"
	"testing"

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
