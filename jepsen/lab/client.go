package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"trireme/jepsen/history"
)

// RequestTimeout is how long a client waits for a reply (decision 39).
const RequestTimeout = 15 * time.Second

// outcomeHeader says on an error reply whether the request may have happened.
const outcomeHeader = "Svc-Outcome"

// Client sends commands to one node and never repeats one by itself.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// NewClient makes a client of the HTTP gateway at addr with keep-alive
// connections, as many as are in use at once.
func NewClient(addr, token string) *Client {
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	return &Client{
		base:  "http://" + addr,
		token: token,
		http: &http.Client{
			Timeout: RequestTimeout,
			Transport: &http.Transport{
				DialContext:         dialer.DialContext,
				MaxIdleConnsPerHost: 1024,
				DisableCompression:  true,
			},
		},
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Reply is what a client learned of one request.
type Reply struct {
	Outcome history.Outcome
	Status  int             // HTTP status, 0 if there was no reply
	Result  json.RawMessage // the result, valid if Outcome is OK
	Error   string          // the error reply, or why there was none
}

// Do runs one command.
func (c *Client) Do(ctx context.Context, args ...string) Reply {
	return decodeReply(c.post(ctx, "/", args))
}

// Row is one row of a pipeline's reply.
type Row struct {
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

// Pipeline runs commands in order in one request. The rows are valid only if the
// reply's outcome is OK.
func (c *Client) Pipeline(ctx context.Context, commands [][]string) ([]Row, Reply) {
	return c.batch(ctx, "/pipeline", commands)
}

// Transaction runs commands as one. The rows are valid only if the reply's outcome is OK.
func (c *Client) Transaction(ctx context.Context, commands [][]string) ([]Row, Reply) {
	return c.batch(ctx, "/multi-exec", commands)
}

func (c *Client) batch(ctx context.Context, path string, commands [][]string) ([]Row, Reply) {
	status, outcome, body, err := c.post(ctx, path, commands)
	if err != nil || status != http.StatusOK {
		return nil, decodeReply(status, outcome, body, err)
	}
	var rows []Row
	if err := json.Unmarshal(body, &rows); err != nil || len(rows) != len(commands) {
		return nil, Reply{Outcome: history.Unknown, Status: status, Error: fmt.Sprintf("%s reply of %d rows for %d: %v", path, len(rows), len(commands), err)}
	}
	return rows, Reply{Outcome: history.OK, Status: status}
}

// Get fetches a path, for the health and admin endpoints.
func (c *Client) Get(ctx context.Context, path string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return 0, nil, err
	}
	status, _, body, err = c.send(req)
	return status, body, err
}

// Post sends an empty JSON object to a path, for the admin endpoints.
func (c *Client) Post(ctx context.Context, path string) (status int, body []byte, err error) {
	return c.PostBody(ctx, path, struct{}{})
}

// PostBody sends what body is as JSON to a path, for the admin endpoints.
func (c *Client) PostBody(ctx context.Context, path string, body any) (status int, reply []byte, err error) {
	status, _, reply, err = c.post(ctx, path, body)
	return status, reply, err
}

// Call sends one request with the given headers and body as they are, and never a second
// time. outcome is what an error reply says of itself.
func (c *Client) Call(ctx context.Context, method, path string, header map[string]string, body []byte) (status int, outcome string, reply []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	req.GetBody = nil
	for name, value := range header {
		req.Header.Set(name, value)
	}
	return c.send(req)
}

// post sends one JSON body. Without GetBody net/http can't send a request a
// second time on its own.
func (c *Client) post(ctx context.Context, path string, body any) (int, string, []byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, "", nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(text))
	if err != nil {
		return 0, "", nil, err
	}
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	return c.send(req)
}

// send returns status, outcome header and body. An error after the headers
// arrived is an error too: a reply cut short says nothing.
func (c *Client) send(req *http.Request) (int, string, []byte, error) {
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, "", nil, fmt.Errorf("status %d, then %w", res.StatusCode, err)
	}
	return res.StatusCode, res.Header.Get(outcomeHeader), body, nil
}

// decodeReply classifies what came back. Only two things are as good as a
// not-applied header: a connection that was never made, and nothing else.
func decodeReply(status int, outcome string, body []byte, err error) Reply {
	if err != nil {
		return Reply{Outcome: silence(err), Error: err.Error()}
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	problem := json.Unmarshal(body, &reply)
	if status == http.StatusOK && problem == nil && reply.Error == "" && reply.Result != nil {
		return Reply{Outcome: history.OK, Status: status, Result: reply.Result}
	}
	r := Reply{Outcome: history.Unknown, Status: status, Error: reply.Error}
	if outcome == string(history.NotApplied) {
		r.Outcome = history.NotApplied
	}
	if r.Error == "" {
		r.Error = fmt.Sprintf("status %d, body %.200q", status, body)
	}
	return r
}

// silence classifies a request without a reply: not applied if no connection was
// made, unknown otherwise.
func silence(err error) history.Outcome {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return history.NotApplied
	}
	return history.Unknown
}
