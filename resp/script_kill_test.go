package resp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// endless are scripts and functions that read for ever, and what ends them.
var endless = []struct {
	call         []string
	kill, refuse string // refuse is the other one, which does not end it
}{
	{[]string{"EVAL_RO", "while true do end", "0"}, "SCRIPT", "FUNCTION"},
	{[]string{"EVAL_RO", "local f = function() end while true do pcall(f) end", "0"}, "SCRIPT", "FUNCTION"},
	{[]string{"FCALL_RO", "endless", "0"}, "FUNCTION", "SCRIPT"},
}

// TestKillScripts ends scripts that read and don't come to an end.
func TestKillScripts(t *testing.T) {
	try := func(t *testing.T, c, killer *resptest.Client) {
		killer.Do("CONFIG", "SET", "lua-time-limit", "1") // a node takes SCRIPT KILL at once
		c.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function{function_name='endless',callback=function() while true do end end,flags={'no-writes'}}")
		killer.Want("(error) NOTBUSY No scripts in execution right now.", "SCRIPT", "KILL")
		killer.Want("(error) NOTBUSY No scripts in execution right now.", "FUNCTION", "KILL")
		for _, e := range endless {
			c.Start(e.call...)
			var v string
			for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				if v = scripttest.Print(killer.Do(e.refuse, "KILL")); strings.HasPrefix(v, "(error) BUSY ") || time.Now().After(end) {
					break
				}
			}
			if want := "(error) BUSY Redis is busy running a script. You can only call " + e.kill + " KILL or SHUTDOWN NOSAVE."; v != want {
				t.Errorf("%s KILL: %s, want %s", e.refuse, v, want)
			}
			killer.Want("OK", e.kill, "KILL")
			if v := c.Next(); !v.IsError() || !strings.HasPrefix(v.Text(), "ERR Script killed by user with SCRIPT KILL... script: ") {
				t.Errorf("%s: %s", e.call, scripttest.Print(v))
			}
			c.Want("PONG", "PING")
		}
		killer.Want("(error) NOTBUSY No scripts in execution right now.", "SCRIPT", "KILL")
	}
	t.Run("node", func(t *testing.T) {
		nodes := resptest.Serve(t, 1, nil)
		endless := fsm.Settings{Limits: command.Limits{MaxScript: command.Unlimited}} // but for memory
		if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.Configure, endless); err != nil {
			t.Fatal(err)
		}
		try(t, resptest.Login(t, nodes.Addrs[0]), resptest.Login(t, nodes.Addrs[0]))
	})
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		try(t, resptest.Dial(t, addr), resptest.Dial(t, addr))
	})
}
