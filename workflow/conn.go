package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// conn sends requests to nodes.
type conn struct{ Options }

// APIError is an answer of a node that is not 2xx.
type APIError struct {
	Method, Path string
	Status       int
	Message      string // what the node says, or its whole answer
}

func (e *APIError) Error() string {
	return fmt.Sprintf("workflow: %s %s: status %d: %s", e.Method, e.Path, e.Status, e.Message)
}

// send sends a request to a node, once, and returns its answer, whatever the status.
func (c *conn) send(ctx context.Context, method, path string, headers map[string]string, body []byte) (status int, answer []byte, err error) {
	node := c.Node()
	if node == "" {
		return 0, nil, errNoServer
	}
	r, err := http.NewRequestWithContext(ctx, method, node+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	p, err := c.HTTPClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer p.Body.Close()
	answer, err = io.ReadAll(p.Body)
	return p.StatusCode, answer, err
}

// ask sends a request, once. An answer that is not 2xx is an APIError. The body is the JSON of in, or in itself if it is bytes; nil is none.
// The answer is decoded into out unless that is nil.
func (c *conn) ask(ctx context.Context, method, path string, headers map[string]string, in, out any) error {
	var body []byte
	switch in := in.(type) {
	case nil:
	case []byte:
		body = in
	default:
		var err error
		if body, err = marshal(in); err != nil {
			return err
		}
	}
	status, answer, err := c.send(ctx, method, path, headers, body)
	if err != nil {
		return err
	}
	if status < 200 || status > 299 {
		return &APIError{method, path, status, messageOf(answer)}
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("workflow: the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// messageOf returns the message of a node's refusal.
func messageOf(answer []byte) string {
	var said struct{ Error, Message string }
	if json.Unmarshal(answer, &said) == nil && said.Error != "" {
		return said.Error
	}
	return string(answer)
}

var jsonType = map[string]string{"content-type": "application/json"}

// errOver says that a run is over: what was to be submitted does not count.
var errOver = errors.New("workflow: the run is over")

// submit sends something of a run. A refusal because the run is over is errOver; one that another attempt would meet again is
// ErrNonRetryable.
func (c *conn) submit(ctx context.Context, path string, headers map[string]string, in, out any) error {
	err := c.ask(ctx, http.MethodPost, path, headers, in, out)
	refused, is := errors.AsType[*APIError](err)
	switch {
	case is && refused.Status == http.StatusBadRequest:
		return errOver
	case is && refused.Status == http.StatusPreconditionFailed:
		return NonRetryable(err)
	}
	return err
}

// item is a message of a batch.
type item struct {
	Destination string            `json:"destination"`
	Headers     map[string]string `json:"headers"`
	Body        string            `json:"body,omitempty"`
}

// batch submits messages.
func (c *conn) batch(ctx context.Context, items ...item) error {
	return c.submit(ctx, "/v2/batch", jsonType, items, nil)
}
