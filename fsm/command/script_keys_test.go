package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

const dynamicKey = "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: "

// lockedRuns are the ways to run a command as one of a script or function that locks its keys: by call, which raises errors, and
// by pcall.
var lockedRuns = []struct {
	run  []string
	call string
}{
	{[]string{"EVAL", "#!lua flags=allow-key-locking\nreturn redis.call(unpack(ARGV))"}, "call"},
	{[]string{"EVAL", "#!lua flags=allow-key-locking\nreturn redis.pcall(unpack(ARGV))"}, "pcall"},
	{[]string{"EVAL", "#!lua flags=allow-key-locking\nlocal v = redis.pcall(unpack(ARGV)) return redis.call('ECHO', v.err or '')"}, "seen"},
	{[]string{"FCALL", "locked"}, "function"},
}

// TestKeyLocking takes every command of the scripts that names keys and may stand in a script, and runs it in a script that
// declares all of its keys but one: it is refused by the name of that key, and has changed nothing. With all keys declared it
// is not refused.
func TestKeyLocking(t *testing.T) {
	tried := map[string]bool{}
	for _, path := range scriptFiles(t) {
		for _, s := range readScript(t, path) {
			c := rows.Find(s.Argv)
			if c == nil || !c.Takes(len(s.Argv)) || c.Flags&(command.NoScript|command.NoScriptWait) != 0 || tried[c.Name+" "+fmt.Sprint(len(s.Argv))] {
				continue
			}
			if places := c.Keys.Positions(s.Argv); len(places) > 0 && c.Channels == 0 {
				tried[c.Name], tried[c.Name+" "+fmt.Sprint(len(s.Argv))] = true, true
				tryLocked(t, s.Argv, places)
			}
		}
	}
	for _, c := range rows.Rows() {
		if (c.Keys.First > 0 || c.Keys.Find != nil) && c.Channels == 0 && c.Flags&(command.NoScript|command.NoScriptWait) == 0 && !tried[c.Name] {
			t.Errorf("no script of %s was tried", c.Name)
		}
	}
}

func tryLocked(t *testing.T, argv [][]byte, places []int) {
	t.Helper()
	r := newReplica(t)
	r.words(scripttest.Start, "FUNCTION", "LOAD", "#!lua name=l\nredis.register_function{function_name='locked',callback=function(_,args) return redis.call(unpack(args)) end,flags={'allow-key-locking'}}")
	for left := -1; left < len(places); left++ {
		var keys [][]byte
		undeclared := ""
		for _, at := range places {
			if left < 0 || string(argv[at]) != string(argv[places[left]]) {
				keys = append(keys, argv[at])
			} else if undeclared == "" {
				undeclared = string(argv[places[left]])
			}
		}
		for _, l := range lockedRuns {
			words := append([][]byte{[]byte(l.run[0]), []byte(l.run[1]), []byte(fmt.Sprint(len(keys)))}, keys...)
			before := r.digest()
			v := r.run(scripttest.Start, stepOf(append(words, argv...)))
			switch refused := strings.HasPrefix(v.Text(), dynamicKey); {
			case left < 0 && refused && !strings.Contains(v.Text(), "*"): // a pattern of SORT names keys that can't be declared
				t.Errorf("%s with %q declared: %s", textOf(argv), keys, v.Text())
			case left < 0:
			case v.IsError() == (l.call == "seen") || v.Text() != dynamicKey+strings.NewReplacer("\r", " ", "\n", " ").Replace(undeclared):
				t.Errorf("%s by %s without %q: %s", textOf(argv), l.call, undeclared, scripttest.Print(v))
			case before != r.digest() && l.call == "function":
				t.Errorf("%s by %s without %q has changed the state", textOf(argv), l.call, undeclared)
			}
		}
	}
}

// TestKeyLockingOfScripts looks at what the flag covers: digests, scripts that read, patterns of SORT, commands without keys,
// and nothing without the flag.
func TestKeyLockingOfScripts(t *testing.T) {
	const body = "#!lua flags=no-writes,allow-key-locking\nreturn redis.call(unpack(ARGV))"
	const open = "return redis.call(unpack(ARGV))"
	refused := func(key string) string { return "(error) " + dynamicKey + key }
	r := newReplica(t)
	load := func(r *replica, text string) string {
		return r.run(scripttest.Start, stepOf([][]byte{[]byte("SCRIPT"), []byte("LOAD"), []byte(text)})).Text()
	}
	digest := load(r, body)
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"EVAL", body, "0", "GET", "k"}, refused("k")},
		{[]string{"EVAL_RO", body, "0", "GET", "k"}, refused("k")},
		{[]string{"EVALSHA", digest, "0", "GET", "k"}, refused("k")},
		{[]string{"EVALSHA_RO", digest, "1", "j", "MGET", "j", "k"}, refused("k")},
		{[]string{"EVALSHA", digest, "1", "k", "GET", "k"}, "(nil)"},
		{[]string{"EVAL", body, "1", "k", "SORT_RO", "k", "BY", "w_*"}, refused("w_*")},
		{[]string{"EVAL", body, "1", "k", "SORT_RO", "k", "GET", "w_*"}, refused("w_*")},
		{[]string{"EVAL", body, "1", "k", "SORT_RO", "k", "BY", "nosort", "GET", "#"}, "(empty array)"},
		{[]string{"EVAL", body, "0", "SET", "k", "v"}, "(error) ERR Write commands are not allowed from read-only scripts. script: " + digest + ", on @user_script:2."},
		{[]string{"EVAL", body, "0", "DBSIZE"}, "(integer) 0"},
		{[]string{"EVAL", body, "0", "KEYS", "*"}, "(empty array)"},
		{[]string{"EVAL", open, "0", "GET", "k"}, "(nil)"},
	} {
		argv := make([][]byte, len(c.words))
		for i, w := range c.words {
			argv[i] = []byte(w)
		}
		if got := scripttest.Print(r.run(scripttest.Start, stepOf(argv))); got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}
