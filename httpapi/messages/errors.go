package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
)

// Error is a refusal with its HTTP status. The client reads the text.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Invalid refuses a request whose field can't be right; the text names the field.
func Invalid(format string, args ...any) *Error {
	return &Error{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// NotFound refuses a request for something that is not there.
func NotFound(kind, name string) *Error {
	return &Error{http.StatusNotFound, kind + " " + name + " not found"}
}

// The refusals whose texts clients know.
var (
	errNoDestination = Invalid("a non-empty destination must be provided")
	errScheme        = Invalid("invalid destination url: endpoint has invalid scheme, add http:// or https://")
	errDedupID       = Invalid(queue.DedupRule)
)

// itemError is the error of one item of a batch; at counts from 0.
type itemError struct {
	at  int
	err error
}

func (e *itemError) Error() string { return fmt.Sprintf("message %d of the batch: %s", e.at, e.err) }

func (e *itemError) Unwrap() error { return e.err }

// ItemError says which item of a batch an error is about, counted from 0. Its status stays what it is.
func ItemError(at int, err error) error { return &itemError{at, err} }

// after turns an error of a part of a batch, which begins at item first, into an error of the whole.
func after(first int, err error) error {
	var one *itemError
	if first == 0 || !errors.As(err, &one) {
		return err
	}
	return &itemError{first + one.at, one.err}
}

// BatchFault returns the refusal of a body that could not be read as a list of T: it names the first item that is not a
// T. err is the error of reading the whole.
func BatchFault[T any](body []byte, err error) error {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil {
		return Invalid("invalid batch: expected a JSON array of messages: %s", jsonbody.Fault(err))
	}
	for i := range list {
		var one T
		if err := json.Unmarshal(list[i], &one); err != nil {
			return ItemError(i, Invalid("%s", jsonbody.Fault(err)))
		}
	}
	return Invalid("invalid batch: %s", jsonbody.Fault(err))
}
