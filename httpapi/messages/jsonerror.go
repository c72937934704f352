package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// JSONFault says for people what is wrong with a body of JSON, in JSON's words: the errors of encoding/json name types of
// this program, of which a client knows nothing.
func JSONFault(err error) string {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	where := ""
	if kind.Field != "" {
		where = kind.Field + ": "
	}
	text := fmt.Sprintf("%sexpected %s, got %s", where, jsonKind(kind.Type), kind.Value)
	if kind.Offset > 0 {
		text += fmt.Sprintf(" at byte %d", kind.Offset)
	}
	return text
}

// jsonKind is the JSON that a Go type is read from.
func jsonKind(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "an array"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an integer"
}

// itemError is what is wrong with one item of a batch, counted from 0.
type itemError struct {
	at  int
	err error
}

func (e *itemError) Error() string { return fmt.Sprintf("message %d of the batch: %s", e.at, e.err) }

func (e *itemError) Unwrap() error { return e.err }

// ItemError says which item of a batch an error is about, counted from 0. Its status stays what it is.
func ItemError(at int, err error) error { return &itemError{at, err} }

// after is an error of a part of a batch as one of the whole, of which the part begins at an item.
func after(first int, err error) error {
	var one *itemError
	if first == 0 || !errors.As(err, &one) {
		return err
	}
	return &itemError{first + one.at, one.err}
}

// BatchFault is the refusal of a body that could not be read as a list of T: it names the first item that is none. err is
// what reading the whole said.
func BatchFault[T any](body []byte, err error) error {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil {
		return invalid("invalid batch: expected a JSON array of messages: %s", JSONFault(err))
	}
	for i := range list {
		var one T
		if err := json.Unmarshal(list[i], &one); err != nil {
			return ItemError(i, invalid("%s", JSONFault(err)))
		}
	}
	return invalid("invalid batch: %s", JSONFault(err))
}
