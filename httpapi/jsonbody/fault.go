package jsonbody

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Fault says for people what is wrong with JSON, in JSON's words: the errors of encoding/json name types of this program.
func Fault(err error) string {
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

// jsonKind returns the JSON that a Go type is read from.
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
