package workflow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// ErrNonRetryable is in the chain of every error of NonRetryable.
var ErrNonRetryable = errors.New("not to be retried")

// NonRetryable returns an error that fails the run at once: no retry follows. Its text is that of err.
func NonRetryable(err error) error { return &nonRetryable{err} }

type nonRetryable struct{ err error }

func (r *nonRetryable) Error() string   { return r.err.Error() }
func (r *nonRetryable) Unwrap() []error { return []error{r.err, ErrNonRetryable} }

// RetryAfterError fails an attempt and says when the next one begins.
type RetryAfterError struct {
	Err   error
	After time.Duration
}

// RetryAfter returns an error after which the next attempt begins once d has passed, in place of the retry delay of the run. It counts as one
// of the run's retries.
func RetryAfter(err error, d time.Duration) error { return &RetryAfterError{err, d} }

func (e *RetryAfterError) Error() string { return e.Err.Error() }
func (e *RetryAfterError) Unwrap() error { return e.Err }

// Error is an error with a name and the stack of its origin, which logs and consoles show as they show those of other SDKs.
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
		if strings.HasPrefix(f.Function, packagePath+".") || strings.HasPrefix(f.Function, "net/http.") || !more {
			break
		}
		stack += fmt.Sprintf("\n    at %s (%s:%d)", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.File, f.Line)
	}
	return &Error{name, message, stack}
}

// packagePath is where the stacks of users end.
var packagePath = reflect.TypeFor[Error]().PkgPath()

func (e *Error) Error() string { return e.Name + ": " + e.Message }

// panicError stands for a panic of user code.
type panicError struct {
	value any
	stack string
}

func newPanic(v any) *panicError { return &panicError{v, string(debug.Stack())} }

func (e *panicError) Error() string { return fmt.Sprint(e.value) }

func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// stepError is an error of the function of a step.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// protocolError is an error whose first words are those of other SDKs: by them the server explains a failure.
type protocolError string

func (e protocolError) Error() string { return string(e) }

// incompatible says that the function does not fit what the run has recorded.
func incompatible(id int, format string, args ...any) error {
	return protocolError(fmt.Sprintf("Incompatible step %d: ", id) + fmt.Sprintf(format, args...))
}

// said is the JSON of an error, as SDKs answer it.
type said struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
}

// describe returns what the answer to a delivery says of an error: the name of its type, its text, and its stack if it has one.
func describe(err error) said {
	if e, is := errors.AsType[*Error](err); is {
		return said{e.Name, e.Message, e.Stack}
	}
	if p, is := errors.AsType[*panicError](err); is {
		return said{"panic", p.Error(), p.stack}
	}
	if _, is := errors.AsType[protocolError](err); is {
		return said{Error: "WorkflowError", Message: err.Error()}
	}
	return said{Error: typeName(err), Message: err.Error()}
}

// typeName returns the name of the first type in a chain that says more than that it is an error.
func typeName(err error) string {
	for err != nil {
		switch e := err.(type) { // exactly these: they only wrap
		case *nonRetryable:
			err = e.err
			continue
		case *RetryAfterError:
			err = e.Err
			continue
		case *stepError:
			err = e.err
			continue
		}
		break
	}
	t := reflect.TypeOf(err)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.PkgPath() == "errors" || t.PkgPath() == "fmt" || t.Name() == "" {
		return "Error"
	}
	return t.Name()
}

// messageOfAnswer returns the message of a failed attempt.
func messageOfAnswer(e AttemptError) string {
	var s said
	if json.Unmarshal([]byte(e.Body), &s) == nil && s.Message != "" {
		return s.Message
	}
	return cmp.Or(e.Error, e.Body)
}
