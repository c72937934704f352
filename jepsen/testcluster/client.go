package testcluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// RequestTimeout bounds a client's wait for a reply.
const RequestTimeout = 15 * time.Second

// outcomeHeader says on an error reply whether the request may have happened.
const outcomeHeader = "Svc-Outcome"

// tokenHeader says on a reply where in the log the request took effect.
const tokenHeader = "Svc-Sync-Token"

// Client sends commands to one node and never repeats one by itself.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// NewClient makes a client of the HTTP gateway at addr with keep-alive
// connections, as many as are in use at once.
func NewClient(addr, token string) *Client { return newClient(addr, token, nil) }

// newClient makes a client that speaks TLS if a configuration for it is given.
func newClient(addr, token string, secure *tls.Config) *Client {
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	return &Client{
		base:  scheme + addr,
		token: token,
		http: &http.Client{
			Timeout: RequestTimeout,
			Transport: &http.Transport{
				DialContext:         dialer.DialContext,
				TLSClientConfig:     secure,
				MaxIdleConnsPerHost: 1024,
				DisableCompression:  true,
			},
		},
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Reply is the result of one request as its client knows it.
type Reply struct {
	Outcome history.Outcome
	Status  int             // HTTP status, 0 if there was no reply
	Result  json.RawMessage // the result, valid if Outcome is OK
	Error   string          // the error reply, or why there was none
	Place   history.Place   // where in the log the request took effect, if the reply told
}

// Do runs one command.
func (c *Client) Do(ctx context.Context, args ...string) Reply { return c.DoWith(ctx, nil, args...) }

// DoWith runs one command with further headers.
func (c *Client) DoWith(ctx context.Context, header map[string]string, args ...string) Reply {
	r, err := c.ask(ctx, "/", header, args)
	return decodeReply(r, err)
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
	r, err := c.ask(ctx, path, nil, commands)
	if err != nil || r.status != http.StatusOK {
		return nil, decodeReply(r, err)
	}
	var rows []Row
	if err := json.Unmarshal(r.body, &rows); err != nil || len(rows) != len(commands) {
		return nil, Reply{Outcome: history.Unknown, Status: r.status, Error: fmt.Sprintf("%s reply of %d rows for %d: %v", path, len(rows), len(commands), err)}
	}
	return rows, Reply{Outcome: history.OK, Status: r.status, Place: parsePlace(r.token)}
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

// Call sends one request with the given headers and body, and never repeats it. outcome is the
// outcome that an error reply declares.
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

// post sends one JSON body.
func (c *Client) post(ctx context.Context, path string, body any) (int, string, []byte, error) {
	r, err := c.ask(ctx, path, nil, body)
	return r.status, r.outcome, r.body, err
}

// raw is a reply as it came.
type raw struct {
	status         int
	outcome, token string // headers
	body           []byte
}

// ask sends one JSON body. Without GetBody net/http can't send a request a second
// time on its own.
func (c *Client) ask(ctx context.Context, path string, header map[string]string, body any) (raw, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return raw{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(text))
	if err != nil {
		return raw{}, err
	}
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	return c.exchange(req)
}

// send returns status, outcome header and body.
func (c *Client) send(req *http.Request) (int, string, []byte, error) {
	r, err := c.exchange(req)
	return r.status, r.outcome, r.body, err
}

// exchange sends a request. An error after the headers arrived is an error too: a
// reply cut short says nothing.
func (c *Client) exchange(req *http.Request) (raw, error) {
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	if err != nil {
		return raw{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return raw{}, fmt.Errorf("status %d, then %w", res.StatusCode, err)
	}
	return raw{res.StatusCode, res.Header.Get(outcomeHeader), res.Header.Get(tokenHeader), body}, nil
}

// parsePlace reads a sync token: the mark of the cluster, the index and, of a write,
// which request of the entry, and which row of it if it ran together with others, all in base 36. To
// other clients it is opaque.
func parsePlace(token string) history.Place {
	parts := strings.Split(token, ".")
	if len(parts) < 2 {
		return history.Place{}
	}
	index, err := strconv.ParseUint(parts[1], 36, 64)
	if err != nil {
		return history.Place{}
	}
	p := history.Place{Index: index, Nth: history.AfterEntry}
	if len(parts) == 2 {
		return p
	}
	var numbers [2]int
	for i, part := range parts[2:] {
		n, err := strconv.ParseUint(part, 36, 16)
		if i == len(numbers) || err != nil {
			return history.Place{}
		}
		numbers[i] = int(n)
	}
	p.Nth = history.NthOf(numbers[0], numbers[1])
	return p
}

// decodeReply classifies what came back. Only two things are as good as a
// not-applied header: a connection that was never made, and nothing else.
func decodeReply(r raw, err error) Reply {
	if err != nil {
		return Reply{Outcome: silence(err), Error: err.Error()}
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	problem := json.Unmarshal(r.body, &reply)
	if r.status == http.StatusOK && problem == nil && reply.Error == "" && reply.Result != nil {
		return Reply{Outcome: history.OK, Status: r.status, Result: reply.Result, Place: parsePlace(r.token)}
	}
	out := Reply{Outcome: history.Unknown, Status: r.status, Error: reply.Error}
	if r.outcome == string(history.NotApplied) {
		out.Outcome = history.NotApplied
	}
	if out.Error == "" {
		out.Error = fmt.Sprintf("status %d, body %.200q", r.status, r.body)
	}
	return out
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
