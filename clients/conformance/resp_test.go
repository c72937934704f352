package conformance

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// overPort runs a script over connections: one that speaks RESP3 and is answered in types,
// and one that speaks RESP2. Other users are not the port's. What the script says of
// another entry point is compared with the machine beside.
func overPort(t *testing.T, where string, steps []scripttest.Step, see witness) {
	for _, three := range []bool{true, false} {
		served, beside := resptest.NewEngine(t, scripttest.Start), resptest.NewEngine(t, scripttest.Start)
		c := resptest.Login(t, served.Serve(t, resp.Options{}))
		if three {
			c.Do("HELLO", "3")
		}
		for i := range steps {
			s := &steps[i]
			served.Pass(s.After)
			beside.Pass(s.After)
			if !ofPort(s) {
				direct(t, served, s.As, s.Origin, fsm.Single, s.Argv)
				direct(t, beside, s.As, s.Origin, fsm.Single, s.Argv)
				continue
			}
			got, want := c.Do(texts(s.Argv)...), direct(t, beside, s.As, command.RESP, fsm.Single, s.Argv)[0]
			if three && s.Shown(got) != inTypes(s.Shown(want)) {
				t.Errorf("%s:%d: %s\nRESP: %s\nwant: %s", where, s.Line, s.Text, s.Shown(got), s.Shown(want))
			} else if !three && got.IsError() != want.IsError() {
				t.Errorf("%s:%d: %s\nRESP2: %s\nwant: %s", where, s.Line, s.Text, s.Shown(got), s.Shown(want))
			}
			if three {
				see.saw(s.Argv, s.Shown(got), inTypes(s.Want))
			}
		}
	}
}

// inTypes is a reply of a script as RESP3 has it, which knows one null.
func inTypes(want string) string { return strings.ReplaceAll(want, "(nil array)", "(nil)") }

func texts(argv [][]byte) []string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = string(w)
	}
	return words
}

// ofPort reports whether a step can be asked of the port: what waits or belongs to a connection
// has conversations of its own.
func ofPort(s *scripttest.Step) bool {
	row := rows.Find(s.Argv)
	return ofDefault(s) && (row == nil || (s.Origin != command.OriginHTTP || overHTTP.open(row)) && row.Flags&command.Blocking == 0 && row.Group() != "connection" && row.Group() != "transactions" &&
		!strings.HasSuffix(s.Want, "belongs to a connection of its own"))
}

// ofDefault reports whether a step is one of the user default, who may do everything.
func ofDefault(s *scripttest.Step) bool {
	return (s.Origin == command.RESP || s.Origin == command.OriginHTTP) && s.As == acl.Trusted(acl.DefaultName) && len(s.Argv) > 0
}

// fromLua runs a script's steps by redis.pcall, sent over a connection, and expects what
// the machine beside says, on its way through Lua.
func fromLua(t *testing.T, where string, steps []scripttest.Step, see witness) {
	served, beside := resptest.NewEngine(t, scripttest.Start), resptest.NewEngine(t, scripttest.Start)
	c := resptest.Login(t, served.Serve(t, resp.Options{}))
	c.Do("HELLO", "3")
	for i := range steps {
		s := &steps[i]
		served.Pass(s.After)
		beside.Pass(s.After)
		if !callable(s) {
			direct(t, served, s.As, s.Origin, fsm.Single, s.Argv)
			direct(t, beside, s.As, s.Origin, fsm.Single, s.Argv)
			continue
		}
		got := c.Do(append([]string{"EVAL", "return redis.pcall(unpack(ARGV))", "0"}, texts(s.Argv)...)...)
		if !inScript.open(rows.Find(s.Argv)) {
			see.saw(s.Argv, s.Shown(got), s.Want)
			direct(t, served, s.As, s.Origin, fsm.Single, s.Argv)
			direct(t, beside, s.As, s.Origin, fsm.Single, s.Argv)
			continue
		}
		plain := direct(t, beside, s.As, command.RESP, fsm.Single, s.Argv)[0]
		if want := scripttest.ThroughLua(plain); s.Shown(got) != s.Shown(want) {
			t.Errorf("%s:%d: %s\nfrom a script: %s\nwant: %s", where, s.Line, s.Text, s.Shown(got), s.Shown(want))
		}
		see.saw(s.Argv, s.Shown(plain), s.Want)
	}
}

// mostInLua bounds the words that unpack puts on the stack of a script.
const mostInLua = 7000

// callable reports whether a step can be asked of a script.
func callable(s *scripttest.Step) bool {
	row := rows.Find(s.Argv)
	return ofDefault(s) && row != nil && row.Takes(len(s.Argv)) && len(s.Argv) < mostInLua && !asksToWait(row, s.Argv)
}

// asksToWait reports whether a call asks by an option to wait, which a script may not.
func asksToWait(row *command.Command, argv [][]byte) bool {
	return row.Waits != nil && slices.ContainsFunc(argv, func(word []byte) bool { return command.EqualFold(word, "BLOCK") })
}

// converse holds the conversations of the RESP port, and takes note of every row that was
// answered as they have it.
func converse(t *testing.T, seen *coverage) {
	t.Helper()
	paths, err := filepath.Glob("../../resp/testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	nodes := resptest.Serve(t, 1, nil)
	for _, path := range paths {
		resptest.Converse(t, nodes.Addrs[0], path, func(x resptest.Exchange) {
			row := rows.Find(x.Argv)
			if row != nil && x.AsWritten && !x.Reply.IsError() && !x.Reply.Equal(reply.Status("QUEUED")) {
				seen.answered[overRESP][row.Name] = true
			}
		})
	}
}
