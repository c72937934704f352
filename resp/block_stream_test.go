package resp_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// streamWaits are calls of XREAD and XREADGROUP that wait, and what becomes of their keys. The
// commands, parted by semicolons, end the wait with the answer; where that is empty it goes on
// until an entry comes.
var streamWaits = []struct{ call, commands, answer string }{
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "DEL s", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "UNLINK s", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "SET s v", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "RENAME s other", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "SADD set e;RENAME set s", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "SADD set e;SUNIONSTORE s set", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "PEXPIRE s -1", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "PEXPIRE s 1", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "FLUSHALL", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "FLUSHDB", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "MULTI;DEL s;SADD s e;EXEC", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "EVAL redis.call('DEL','s') 0", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS t s > >", "DEL s", "(error) UNBLOCKED the stream key no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "XGROUP DESTROY s g", "(error) NOGROUP the consumer group this client was blocked on no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "MULTI;DEL s;XADD s 9-9 f v;EXEC", "(error) NOGROUP the consumer group this client was blocked on no longer exists"},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "XDEL s 1-1;XTRIM s MAXLEN 0;EXPIRE s 1000;PERSIST s;XGROUP SETID s g $", ""},
	{"XREADGROUP GROUP g c BLOCK 0 STREAMS s t > >", "MULTI;XADD t 9-9 f v;XADD s 9-9 f v;EXEC", "1) 1) \"t\"\n   2) 1) 1) \"9-9\"\n         2) 1) \"f\"\n            2) \"v\""},
	{"XREAD BLOCK 0 STREAMS s $", "DEL s;SET s v;DEL s", ""},
	{"XREAD BLOCK 0 STREAMS s t $ $", "SET t v", ""},
	{"XREAD BLOCK 0 STREAMS s t $ $", "MULTI;XADD t 9-9 f v;XADD s 9-9 f v;EXEC", "1) 1) \"t\"\n   2) 1) 1) \"9-9\"\n         2) 1) \"f\"\n            2) \"v\""},
}

// TestStreamWaitsEnd changes the keys that reads of streams wait for.
func TestStreamWaitsEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, dial func() *resptest.Client) {
		admin, c := dial(), dial()
		for _, w := range streamWaits {
			admin.Do("FLUSHALL")
			for _, key := range []string{"s", "t"} {
				admin.Want(`"1-1"`, "XADD", key, "1-1", "f", "v")
				admin.Want("OK", "XGROUP", "CREATE", key, "g", "$")
			}
			c.Start(strings.Fields(w.call)...)
			admin.AwaitBlocked("1")
			for _, line := range strings.Split(w.commands, ";") {
				if v := admin.Do(commandWords(line)...); v.IsError() {
					t.Errorf("%s: %s", line, scripttest.Print(v))
				}
			}
			answer := w.answer
			if answer == "" {
				admin.AwaitBlocked("1") // it goes on
				admin.Want(`"99-1"`, "XADD", "s", "99-1", "f", "v")
				answer = "1) 1) \"s\"\n   2) 1) 1) \"99-1\"\n         2) 1) \"f\"\n            2) \"v\""
			}
			if got := scripttest.Print(c.Next()); got != answer {
				t.Errorf("%s; %s:\n%s\nwant:\n%s", w.call, w.commands, got, answer)
			}
		}
	})
}

// TestStreamWaitsOutlastDeletedEntries: an entry that is gone again within its transaction ends no
// wait, as from Redis 7.2 on.
func TestStreamWaitsOutlastDeletedEntries(t *testing.T) {
	addr := resptest.Serve(t, 1, nil).Addrs[0]
	admin, c := resptest.Login(t, addr), resptest.Login(t, addr)
	admin.Want("OK", "XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
	for _, call := range []string{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "XREAD BLOCK 0 STREAMS s $"} {
		c.Start(strings.Fields(call)...)
		admin.AwaitBlocked("1")
		for _, line := range []string{"MULTI", "XADD s * f gone", "XTRIM s MAXLEN 0", "EXEC"} {
			admin.Do(strings.Fields(line)...)
		}
		admin.AwaitBlocked("1")
		admin.Do("XADD", "s", "*", "f", "v")
		if v := scripttest.Print(c.Next()); !strings.Contains(v, `"v"`) || strings.Contains(v, "gone") {
			t.Errorf("%s: %s", call, v)
		}
	}
}

// commandWords are the words of a line. A script takes all but the number of its keys.
func commandWords(line string) []string {
	if script, ok := strings.CutPrefix(line, "EVAL "); ok {
		return []string{"EVAL", strings.TrimSuffix(script, " 0"), "0"}
	}
	return strings.Fields(line)
}
