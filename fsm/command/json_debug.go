package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// debugKey is the place of the key of JSON.DEBUG MEMORY.
func debugKey(argv [][]byte) []int {
	if len(argv) > 2 && EqualFold(argv[1], "MEMORY") {
		return []int{2}
	}
	return nil
}

// jsonMemory asks for the logical size in bytes.
var jsonMemory = askRow(question{ask: func(v jsondoc.Value, _ *jsondoc.Work) (reply.Value, bool) {
	return reply.Int(v.Size()), true
}})

func jsonDebug(tx *Tx, a *Args) reply.Value {
	switch {
	case a.Word("MEMORY") && a.Left() > 0:
		return jsonMemory(tx, a)
	case a.Word("HELP") && a.Left() == 0:
		return reply.Array(
			reply.Bulk("MEMORY <key> [path] - the logical size of the values at a path, in bytes"),
			reply.Bulk("HELP - this message"),
		)
	case a.at > 1:
		return ErrArity("json.debug")
	}
	return reply.Error("ERR unknown subcommand - try `JSON.DEBUG HELP`")
}
