package resp_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// malformed are calls that come about by one change of a call's words. The timeout is never
// one that would let a call wait for long.
func malformed(call string) (calls [][]string) {
	unit := "0.001"
	if strings.HasPrefix(call, "X") {
		unit = "1"
	}
	words := strings.Fields(call)
	timeout := slices.Index(words, "$TIMEOUT")
	words[timeout] = unit
	with := func(change func(w []string) []string) { calls = append(calls, change(slices.Clone(words))) }
	for i := 1; i < len(words); i++ {
		for _, bad := range []string{"", "BAD", "-1", "nan", "inf", "-0.5", "1 ", "9223372036854775808", "0", "$", "COUNT"} {
			if i == timeout && (bad == "0" || bad == "1 ") {
				continue // these wait for long, or may
			}
			with(func(w []string) []string { w[i] = bad; return w })
		}
		with(func(w []string) []string { return slices.Delete(w, i, i+1) })
	}
	for _, more := range []string{"X", "COUNT", "COUNT 0", "COUNT -1", "COUNT x", "COUNT 1 COUNT 1", "LEFT", "MIN"} {
		with(func(w []string) []string { return append(w, strings.Fields(more)...) })
	}
	return slices.DeleteFunc(calls, func(w []string) bool { // the timeout is another word now
		row := command.NewTable().Find(encoded(w))
		ms, waits := row.Timeout(encoded(w), 0)
		return waits && (ms == 0 || ms > 1000)
	})
}

// newer are the errors whose text is that of later versions of Redis; see
// fsm/command/testdata/differences.txt.
var newer = regexp.MustCompile(`ERR (?:(Unbalanced) .*|(timeout is) (?:out of range|negative))`)

func encoded(w []string) (argv [][]byte) {
	for _, word := range w {
		argv = append(argv, []byte(word))
	}
	return argv
}

// TestMalformedWaits sends calls of each command that waits, with one word changed, missing or
// too many: alone on keys that have nothing and on keys that have something, in a transaction,
// and from a script. Each is answered at once, as by redis-server.
func TestMalformedWaits(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	us, they := resptest.Login(t, e.Serve(t, resp.Options{})), resptest.Dial(t, resptest.RedisServer(t))
	eachWait(t, func(t *testing.T, row *command.Command, before, call, fill string) {
		empty := func(c *resptest.Client) {
			c.Do("FLUSHALL")
			if before != "" {
				c.Do(strings.Fields(before)...)
			}
		}
		empty(us)
		empty(they)
		for _, w := range malformed(call) {
			for _, how := range []string{"alone", "transaction", "script", "filled"} {
				var told [2]string
				for i, c := range []*resptest.Client{us, they} {
					switch how {
					case "alone":
						told[i] = scripttest.Print(c.Do(w...))
					case "transaction":
						c.Do("MULTI")
						told[i] = scripttest.Print(c.Do(w...)) + "\n" + scripttest.Print(c.Do("EXEC"))
					case "script":
						told[i] = scripttest.Print(c.Do(append([]string{"EVAL", "return redis.pcall(unpack(ARGV))", "0"}, w...)...))
					case "filled":
						c.Do(strings.Fields(fill)...)
						told[i] = scripttest.Print(c.Do(w...))
						empty(c)
					}
					told[i] = newer.ReplaceAllString(told[i], "ERR $1$2")
				}
				if told[0] != told[1] {
					t.Errorf("%q, %s: %s, redis-server: %s", w, how, told[0], told[1])
				}
			}
		}
	})
}

// TestMalformedWaitsBesideOthers sends calls with a mistake while another call waits on the same
// key: they are answered at once.
func TestMalformedWaitsBesideOthers(t *testing.T) {
	e := resptest.NewEngine(t, 1_700_000_000_000)
	addr := e.Serve(t, resp.Options{})
	for _, c := range []struct{ before, waits, then, call, want string }{
		{"", "BLPOP k 0", "", "BLMPOP 0 1 k BAD", "(error) ERR syntax error"},
		{"", "BLPOP k 0", "", "BLMOVE k b BAD LEFT 0", "(error) ERR syntax error"},
		{"", "BZPOPMIN k 0", "", "BZMPOP 0 1 k MIN COUNT 0", "(error) ERR count should be greater than 0"},
		{"", "BZPOPMIN k 0", "", "BZMPOP 0 0 k MIN", "(error) ERR numkeys should be greater than 0"},
		{"", "XREAD BLOCK 0 STREAMS k $", "", "XREAD BLOCK 0 STREAMS k bad", "(error) ERR Invalid stream ID specified as stream command argument"},
		{"", "XREAD BLOCK 0 STREAMS k $", "SET k x", "XREAD BLOCK 0 STREAMS k $", "(error) WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"", "BLPOP k 0", "SET k x", "BLPOP k 0", "(error) WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"XGROUP CREATE k g $ MKSTREAM", "XREADGROUP GROUP g c BLOCK 0 STREAMS k >", "", "XREADGROUP GROUP none c BLOCK 0 STREAMS k >", "(error) NOGROUP No such key 'k' or consumer group 'none' in XREADGROUP with GROUP option"},
		{"XGROUP CREATE k g $ MKSTREAM", "XREADGROUP GROUP g c BLOCK 0 STREAMS k >", "", "XREADGROUP GROUP g c BLOCK 0 STREAMS k none > >", "(error) NOGROUP No such key 'none' or consumer group 'g' in XREADGROUP with GROUP option"},
	} {
		admin, first, second := resptest.Login(t, addr), resptest.Login(t, addr), resptest.Login(t, addr)
		admin.Do("FLUSHALL")
		if c.before != "" {
			admin.Do(strings.Fields(c.before)...)
		}
		first.Start(strings.Fields(c.waits)...)
		admin.AwaitBlocked("1")
		if c.then != "" {
			admin.Do(strings.Fields(c.then)...)
		}
		second.Want(c.want, strings.Fields(c.call)...)
		first.Close()
		admin.AwaitBlocked("0")
	}
}
