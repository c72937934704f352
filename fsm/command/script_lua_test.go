package command_test

import (
	"strconv"
	"testing"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/command/scripttest"
	"trireme/fsm/reply"
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
		got, want := r.fromLua(now, s), throughLua(want)
		if s.Shown(got) != s.Shown(want) {
			t.Errorf("line %d: %s\ngot:\n%s\nwant:\n%s", s.Line, s.Text, s.Shown(got), s.Shown(want))
		}
	}
}

// callable tells whether a script may run the step.
func (r *replica) callable(now int64, s *scripttest.Step) bool {
	inScript := *s
	inScript.Door = command.Script
	c, refusal := r.check(now, s)
	if refusal != nil || c.Flags&command.NoScript != 0 || s.Door == command.HTTP || s.As != acl.Trusted(acl.DefaultName) {
		return false
	}
	_, refusal = r.check(now, &inScript)
	return refusal == nil && len(s.Argv) < 7000
}

// fromLua runs the step by a script.
func (r *replica) fromLua(now int64, s *scripttest.Step) reply.Value {
	r.t.Helper()
	call := *s
	call.Door = command.RESP
	call.Argv = [][]byte{[]byte("EVAL"), []byte("return redis.pcall(unpack(ARGV))"), []byte("0")}
	call.Argv = append(call.Argv, s.Argv...)
	return r.apply(now, &call, fsm.Single, call.Argv)[0]
}

// throughLua is a reply after its conversion to Lua and back, in the older protocol.
func throughLua(v reply.Value) reply.Value {
	switch v.Kind() {
	case reply.KindNilArray:
		return reply.Nil()
	case reply.KindInt:
		n, _ := strconv.ParseFloat(strconv.FormatInt(v.Int(), 10), 64) // a 64-bit integer always parses
		if n >= 1<<63 {
			return reply.Int(-1 << 63)
		}
		return reply.Int(int64(n))
	case reply.KindBool:
		return reply.Int(v.Int())
	case reply.KindDouble, reply.KindVerbatim, reply.KindBigNumber:
		return reply.Bulk(v.Text())
	case reply.KindKeyed:
		return throughLua(v.Nested())
	case reply.KindArray, reply.KindMap, reply.KindSet, reply.KindPush, reply.KindPairs:
		elems := make([]reply.Value, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = throughLua(e)
		}
		return reply.Array(elems...)
	}
	return v
}
