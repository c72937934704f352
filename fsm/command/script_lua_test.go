package command_test

import (
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// fromLua runs every step that scripts may run by redis.call, and expects what the plain
// reply becomes on its way through Lua.
func fromLua(t *testing.T, steps []scripttest.Step) {
	plain, r, now := newReplica(t), newReplica(t), int64(scripttest.Start)
	for i := range steps {
		s := &steps[i]
		now += s.After
		want := plain.run(now, s)
		if !r.callable(now, s) {
			expect(t, s, r.run(now, s))
			continue
		}
		got, want := r.fromLua(now, s), scripttest.ThroughLua(want)
		if s.Shown(got) != s.Shown(want) {
			t.Errorf("line %d: %s\ngot:\n%s\nwant:\n%s", s.Line, s.Text, s.Shown(got), s.Shown(want))
		}
	}
}

// callable reports whether a script may run the step.
func (r *replica) callable(now int64, s *scripttest.Step) bool {
	inScript := *s
	inScript.Origin = command.Script
	c, refusal := r.check(now, s)
	if refusal != nil || c.Flags&command.NoScript != 0 || waits(c, s.Argv) || s.Origin == command.OriginHTTP || s.As != acl.Trusted(acl.DefaultName) {
		return false
	}
	_, refusal = r.check(now, &inScript)
	return refusal == nil && len(s.Argv) < 7000
}

// waits reports whether a call asks to wait by an option, which a script may not.
func waits(c *command.Command, argv [][]byte) bool {
	return c.Waits != nil && slices.ContainsFunc(argv, func(word []byte) bool { return command.EqualFold(word, "BLOCK") })
}

// fromLua runs the step by a script.
func (r *replica) fromLua(now int64, s *scripttest.Step) reply.Value {
	r.t.Helper()
	call := *s
	call.Origin = command.RESP
	call.Argv = [][]byte{[]byte("EVAL"), []byte("return redis.pcall(unpack(ARGV))"), []byte("0")}
	call.Argv = append(call.Argv, s.Argv...)
	return r.apply(now, &call, fsm.Single, call.Argv)[0]
}
