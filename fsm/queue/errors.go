package queue

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Error is the refusal of an operation: nothing was changed. errors.Is compares the Code.
type Error struct{ Code, Text string }

// The codes of refusals, to be compared by errors.Is. The text of a refusal names what it is about.
var (
	// ErrInvalid: a field of the request can't be right: 400.
	ErrInvalid = &Error{Code: "invalid", Text: "invalid request"}
	// ErrNotFound: what the request names is not there: 404.
	ErrNotFound = &Error{Code: "not-found", Text: "not found"}
	// ErrQuota: a limit of Settings is reached: 412.
	ErrQuota = &Error{Code: "quota", Text: "quota exceeded"}
	// ErrMemory: the state is as large as it may be: 503.
	ErrMemory = &Error{Code: "memory", Text: "memory limit reached, nothing was published"}
	// ErrForbidden: who asks has not the rights that it asks for: 403.
	ErrForbidden = &Error{Code: "forbidden", Text: "not permitted"}
	// ErrCommit: commands that an answer or a step brought were refused, and with them the answer or the step: 412, after which an
	// SDK does not try again.
	ErrCommit = &Error{Code: "commit", Text: "the commands were refused"}
	// ErrCondition: they were because of a condition, or of memory, and may be accepted another time: 409.
	ErrCondition = &Error{Code: "condition", Text: ErrCommit.Text}
)

func (e *Error) Error() string { return e.Text }

// RefusalCode is the Code, by which errors of different packages are compared.
func (e *Error) RefusalCode() string { return e.Code }

// Is reports whether target is a refusal of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(interface{ RefusalCode() string })
	return ok && t.RefusalCode() == e.Code
}

func invalid(format string, args ...any) *Error {
	return &Error{Code: ErrInvalid.Code, Text: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *Error {
	return &Error{Code: ErrNotFound.Code, Text: fmt.Sprintf(format, args...)}
}

// quota is the refusal that names the limit as the reference service does.
func quota(limit string) *Error {
	return &Error{Code: ErrQuota.Code, Text: "quota " + limit + " exceeded"}
}

// Fields codes the value in its wire format.
func (e *Error) Fields(c *wire.Codec) {
	c.String(&e.Code)
	c.String(&e.Text)
}

// OptionalError is a refusal that may be missing.
func OptionalError(c *wire.Codec, e **Error) {
	refused := *e != nil
	c.Bool(&refused)
	switch {
	case !refused:
		*e = nil
	case c.Reading():
		*e = &Error{}
		fallthrough
	default:
		(*e).Fields(c)
	}
}
