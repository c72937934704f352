package messages

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/httpapi/jsonbody"
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
		return invalid("invalid batch: expected a JSON array of messages: %s", jsonbody.Fault(err))
	}
	for i := range list {
		var one T
		if err := json.Unmarshal(list[i], &one); err != nil {
			return ItemError(i, invalid("%s", jsonbody.Fault(err)))
		}
	}
	return invalid("invalid batch: %s", jsonbody.Fault(err))
}
