package workflow

import (
	"bytes"
	"encoding/json"
)

// None is the input, the result or the event of those that have none.
type None = struct{}

// marshal returns the JSON of v. Characters of HTML stay as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encode returns a payload: bytes as they are, nothing for None, anything else as JSON.
func encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil, None:
		return nil, nil
	case []byte:
		return v, nil
	case json.RawMessage:
		return v, nil
	}
	return marshal(v)
}

// decode reads what encode has written. Text that is no JSON is a string, too. Nothing leaves the zero value.
func decode[T any](data []byte) (v T, err error) {
	switch to := any(&v).(type) {
	case *None:
		return v, nil
	case *[]byte:
		*to = data
		return v, nil
	case *json.RawMessage:
		*to = data
		return v, nil
	case *string:
		if json.Unmarshal(data, to) != nil {
			*to = string(data)
		}
		return v, nil
	}
	if len(data) == 0 {
		return v, nil
	}
	err = json.Unmarshal(data, &v)
	return v, err
}

func text(s string) *string { return &s }

// outOf returns the text of a step's result: none for None.
func outOf(v any) (*string, error) {
	if _, is := v.(None); is {
		return nil, nil
	}
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return text(string(b)), nil
}

// valueOf reads the result of a step.
func valueOf[T any](out *string) (v T, err error) {
	if out == nil {
		return v, nil
	}
	if _, is := any(v).(None); is {
		return v, nil
	}
	err = json.Unmarshal([]byte(*out), &v)
	return v, err
}
