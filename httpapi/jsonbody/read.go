package jsonbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Error is the refusal of a body, with the HTTP status to answer.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Read reads the body of a request, one JSON object of at most limit bytes, into v. An empty body leaves v as it is. A
// larger body, other JSON, members that v does not have, and anything after the object are an Error.
func Read(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &Error{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", limit)}
	case err != nil:
		return &Error{http.StatusBadRequest, "the body is incomplete: " + err.Error()}
	case len(bytes.TrimSpace(text)) == 0:
		return nil
	}
	if err := Admit(r, text, Bounds{}); err != nil {
		return err
	}
	if err := Decode(text, v); err != nil {
		return &Error{http.StatusBadRequest, "expected a JSON object: " + err.Error()}
	}
	return nil
}

// Decode reads text, one JSON value, into v. Members that v does not have, and anything after the value, are errors, which
// are in JSON's words.
func Decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(v); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends too early")
	case err != nil:
		return errors.New(Fault(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("expected its end at byte %d", d.InputOffset())
	}
	return nil
}
