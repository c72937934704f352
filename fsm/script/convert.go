package script

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// toLua is a reply as scripts see it: in the types of the protocol version that the
// script has set.
func (in *interpreter) toLua(v reply.Value) lua.Value {
	vm := in.vm
	vm.Step(2)
	switch v.Kind() {
	case reply.KindForms:
		if in.resp3 {
			return in.toLua(v.RESP3())
		}
		return in.toLua(v.RESP2())
	case reply.KindNil, reply.KindNilArray:
		if in.resp3 {
			return lua.Nil
		}
		return lua.Bool(false)
	case reply.KindStatus:
		return in.tagged("ok", vm.String(v.Text()))
	case reply.KindError:
		return in.errorTable(v.Text(), false)
	case reply.KindInt:
		return lua.Number(float64(v.Int()))
	case reply.KindBulk:
		return vm.String(v.Text())
	case reply.KindArray, reply.KindPush:
		return in.listToLua(v.Elems())
	}
	if in.resp3 {
		return in.typed(v)
	}
	switch v.Kind() {
	case reply.KindKeyed:
		return in.toLua(v.RESP2())
	case reply.KindBool:
		return lua.Number(float64(v.Int()))
	case reply.KindDouble, reply.KindVerbatim, reply.KindBigNumber:
		return vm.String(v.Text())
	}
	return in.listToLua(v.Elems())
}

func (in *interpreter) listToLua(elems []reply.Value) lua.Value {
	room := len(elems)
	values := make([]lua.Value, len(elems))
	for i, e := range elems {
		if values[i] = in.toLua(e); values[i].IsNil() {
			room = 0 // as in Redis, whose tables grow: which of several borders # finds follows from it
		}
	}
	t := in.vm.NewTable(room, 0)
	for i, v := range values {
		t.SetIndex(i+1, v)
	}
	return lua.TableValue(t)
}

// tagged is a table with one field.
func (in *interpreter) tagged(field string, v lua.Value) lua.Value {
	t := in.vm.NewTable(0, 1)
	t.SetField(field, v)
	return lua.TableValue(t)
}

// typed is a reply of a type that only the newer protocol has.
func (in *interpreter) typed(v reply.Value) lua.Value {
	vm := in.vm
	switch v.Kind() {
	case reply.KindBool:
		return lua.Bool(v.Int() != 0)
	case reply.KindDouble:
		return in.tagged("double", lua.Number(told(v)))
	case reply.KindBigNumber:
		return in.tagged("big_number", vm.String(v.Text()))
	case reply.KindVerbatim:
		t := vm.NewTable(0, 2)
		t.SetField("string", vm.String(v.Text()))
		t.SetField("format", vm.String("txt"))
		return in.tagged("verbatim_string", lua.TableValue(t))
	case reply.KindPairs:
		elems := v.Elems()
		t := vm.NewTable(len(elems)/2, 0)
		for i := 0; i+1 < len(elems); i += 2 {
			t.SetIndex(i/2+1, in.listToLua(elems[i:i+2]))
		}
		return lua.TableValue(t)
	}
	t, elems := vm.NewTable(0, 0), v.Elems()
	if v.Kind() == reply.KindSet {
		for _, e := range elems {
			in.put(t, in.toLua(e), lua.Bool(true))
		}
		return in.tagged("set", lua.TableValue(t))
	}
	for i := 0; i+1 < len(elems); i += 2 {
		in.put(t, in.toLua(elems[i]), in.toLua(elems[i+1]))
	}
	return in.tagged("map", lua.TableValue(t))
}

// told parses the number from a Double's text. Coordinates are told with seventeen decimals, so the text of a small one is
// not the number itself; a real server's scripts read the text.
func told(v reply.Value) float64 {
	if f, err := strconv.ParseFloat(v.Text(), 64); err == nil {
		return f
	}
	return v.Float()
}

func (in *interpreter) put(t *lua.Table, k, v lua.Value) {
	if n, ok := k.Number(); k.IsNil() || ok && n != n {
		return // no command replies with such keys
	}
	t.Set(k, v)
}

// maxReplyDepth is the greatest depth of a reply: Decode accepts no deeper ones.
const maxReplyDepth = 200

// toReply converts the result of a script to a reply.
func (in *interpreter) toReply(v lua.Value, depth int) reply.Value {
	in.vm.Step(2)
	if n, ok := v.Number(); ok {
		return reply.Int(lua.ToInt64(n))
	}
	if s, ok := v.Text(); ok {
		return reply.Bulk(s)
	}
	if b, ok := v.Bool(); ok {
		switch {
		case in.resp3:
			return reply.Bool(b)
		case b:
			return reply.Int(1)
		}
		return reply.Nil()
	}
	t := v.Table()
	switch {
	case t == nil:
		return reply.Nil()
	case depth >= maxReplyDepth:
		return reply.Error("ERR reached lua stack limit")
	}
	return in.tableToReply(v, t, depth)
}

// tableToReply looks for the fields that say a type; without one the table is a list up
// to its first nil.
func (in *interpreter) tableToReply(v lua.Value, t *lua.Table, depth int) reply.Value {
	if s, ok := t.Field("err").Text(); ok {
		return reply.Error(clean(upToZero(in.line(s))))
	}
	if s, ok := t.Field("ok").Text(); ok {
		return reply.Status(oneLine.Replace(upToZero(in.line(s))))
	}
	if n, ok := t.Field("double").Number(); ok {
		return in.host.Double(n)
	}
	if m := t.Field("map").Table(); m != nil {
		return reply.Map(in.entries(m, depth, true)...)
	}
	if s := t.Field("set").Table(); s != nil {
		return reply.Set(in.entries(s, depth, false)...)
	}
	if s, ok := t.Field("big_number").Text(); ok {
		return reply.BigNumber(oneLine.Replace(in.line(s)))
	}
	if s := t.Field("verbatim_string").Table(); s != nil {
		if text, ok := in.vm.Text(s.Field("string")); ok {
			return reply.Verbatim(text)
		}
	}
	var elems []reply.Value
	for i := 1; ; i++ {
		e := t.Index(i)
		if e.IsNil() {
			break
		}
		in.vm.Alloc(64)
		elems = append(elems, in.toReply(e, depth+1))
	}
	return reply.Array(elems...)
}

// line charges for a text that is copied to stand on one line.
func (in *interpreter) line(s string) string {
	in.vm.Hold(len(s))
	in.vm.Step(len(s) / bytesPerLineStep)
	return s
}

// bytesPerLineStep is the number of bytes that are searched for line breaks for one step.
const bytesPerLineStep = 16

// entries are the keys of a table, with their values if they are wanted.
func (in *interpreter) entries(t *lua.Table, depth int, values bool) (elems []reply.Value) {
	for k, v, at := t.After(0); !k.IsNil(); k, v, at = t.After(at) {
		in.vm.Alloc(128)
		elems = append(elems, in.toReply(k, depth+1))
		if values {
			elems = append(elems, in.toReply(v, depth+1))
		}
	}
	return elems
}
