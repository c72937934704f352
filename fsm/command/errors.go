package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// The errors that many commands answer, in Redis's words.
var (
	ErrSyntax     = reply.Error("ERR syntax error")
	ErrNotInteger = reply.Error("ERR value is not an integer or out of range")
	ErrNotFloat   = reply.Error("ERR value is not a valid float")
	ErrWrongType  = reply.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	ErrNoKey      = reply.Error("ERR no such key")
	ErrCursor     = reply.Error("ERR invalid cursor")
	ErrOOM        = reply.Error("OOM command not allowed when used memory > 'maxmemory'.")
	ErrDBIndex    = reply.Error("ERR DB index is out of range")
)

// ErrArity is the error for a wrong number of words of the row named name.
func ErrArity(name string) reply.Value {
	return reply.Error("ERR wrong number of arguments for '" + strings.ReplaceAll(name, " ", "|") + "' command")
}
