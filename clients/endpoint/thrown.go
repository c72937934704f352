package endpoint

import (
	"fmt"
	"runtime"
	"strings"
)

// Error fails an attempt if a step's function panics with it. The answer has its fields, as those of SDKs do.
type Error struct{ Name, Message, Stack string }

// maxFrames bounds the calls in a stack.
const maxFrames = 32

// NewError returns an error with the stack of its caller, down to the workflow's function or the server.
func NewError(name, message string) *Error {
	calls := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls)])
	stack := name + ": " + message
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "/clients/endpoint.") || strings.HasPrefix(f.Function, "net/http.") || !more {
			break
		}
		stack += fmt.Sprintf("\n    at %s (%s:%d)", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.File, f.Line)
	}
	return &Error{name, message, stack}
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }
