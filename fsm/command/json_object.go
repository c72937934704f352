package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// jsonObjLen asks for the number of members.
var jsonObjLen = askRow(question{expected: "object", nullable: true, ask: func(v jsondoc.Value, _ *jsondoc.Work) (reply.Value, bool) {
	o, ok := v.(*jsondoc.Object)
	if !ok {
		return reply.Nil(), false
	}
	return reply.Int(int64(o.Len())), true
}})

// jsonObjKeys asks for the keys of the members.
var jsonObjKeys = askRow(question{expected: "object", nullable: true, ask: func(v jsondoc.Value, w *jsondoc.Work) (reply.Value, bool) {
	o, ok := v.(*jsondoc.Object)
	if !ok || !w.Spend(o.Len()) {
		return reply.Nil(), false
	}
	keys := make([]reply.Value, 0, o.Len())
	o.All(func(key string, _ jsondoc.Value) bool {
		keys = append(keys, reply.Bulk(key))
		return true
	})
	return reply.Array(keys...), true
}})

// jsonResp asks for the value in the types of the protocol.
var jsonResp = askRow(question{ask: func(v jsondoc.Value, w *jsondoc.Work) (reply.Value, bool) {
	return protocol(v, w), true
}})

// protocol is v in the types of the Redis protocol: arrays and objects as arrays with
// their opening bracket first, what no integer of 64 bits holds as text.
func protocol(v jsondoc.Value, w *jsondoc.Work) reply.Value {
	if !w.Spend(1) {
		return reply.Nil()
	}
	switch v := v.(type) {
	case jsondoc.Bool:
		if v {
			return reply.Status("true")
		}
		return reply.Status("false")
	case jsondoc.Int:
		return reply.Int(int64(v))
	case jsondoc.String:
		return reply.Bulk(string(v))
	case jsondoc.Uint, jsondoc.Double:
		return textOf(jsondoc.Format{}, v)
	case *jsondoc.Array:
		elems := append(make([]reply.Value, 0, v.Len()+1), reply.Status("["))
		v.All(func(_ int, e jsondoc.Value) bool {
			elems = append(elems, protocol(e, w))
			return true
		})
		return reply.Array(elems...)
	case *jsondoc.Object:
		elems := append(make([]reply.Value, 0, 2*v.Len()+1), reply.Status("{"))
		v.All(func(key string, e jsondoc.Value) bool {
			elems = append(elems, reply.Bulk(key), protocol(e, w))
			return true
		})
		return reply.Array(elems...)
	}
	return reply.Nil()
}
