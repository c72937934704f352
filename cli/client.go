package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 512 << 20

// A Client asks one node over HTTP.
type Client struct {
	target
	http *http.Client
}

// Connect finds the node and the token, and asks nothing yet.
func (c *Connection) Connect() (*Client, error) {
	t, err := c.resolve()
	if err != nil {
		return nil, err
	}
	if t.token == "" {
		return nil, Usagef("%s is not set, and there is no other token to ask %s: set it, give --token-file, or make a context by trireme context add", tokenVariable, t.url)
	}
	return c.client(t)
}

// withoutToken finds the node for requests that need no token, and asks nothing yet.
func (c *Connection) withoutToken() (*Client, error) {
	t, err := c.resolve()
	if err != nil {
		return nil, err
	}
	return c.client(t)
}

func (c *Connection) client(t target) (_ *Client, err error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if t.ca != "" {
		if transport.TLSClientConfig, err = loadCA(t.ca); err != nil {
			return nil, err
		}
	}
	return &Client{t, &http.Client{Transport: transport, Timeout: c.timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the token is for this node
	}}}, nil
}

func loadCA(path string) (*tls.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, Usagef("can't read the file of --ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, Usagef("%s (--ca) contains no PEM certificate", path)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// URL is the node's.
func (c *Client) URL() string { return c.url }

// SetTimeout replaces --request-timeout for requests that take longer by nature.
func (c *Client) SetTimeout(d time.Duration) { c.http.Timeout = max(d, c.http.Timeout) }

// A request is a request to a node; path is escaped.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

// Call sends body as JSON, unless it is nil, and decodes the answer into result, unless that is nil.
func (c *Client) Call(ctx context.Context, method, path string, body, result any) error {
	r := request{method: method, path: path}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r.body, r.header = text, http.Header{"Content-Type": {"application/json"}}
	}
	return c.receive(ctx, r, result)
}

// receive sends a request and decodes the answer into result, unless that is nil.
func (c *Client) receive(ctx context.Context, r request, result any) error {
	text, err := c.send(ctx, r)
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(text, result); err != nil {
		return c.noNode()
	}
	return nil
}

// send returns the body of an answer that is a success.
func (c *Client) send(ctx context.Context, r request) ([]byte, error) {
	resp, err := c.open(ctx, c.http, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, c.explain(err)
	}
	if len(text) > maxAnswer {
		return nil, errorf(ExitFailed, "the answer of %s is larger than %d MiB", c.url, maxAnswer>>20)
	}
	return text, nil
}

// Stream is a request whose answer, or body, takes as long as it takes. The answer is a success, and to be closed.
func (c *Client) Stream(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	patient := *c.http
	patient.Timeout = 0
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Expect", "100-continue") // a node that refuses does so before all of it is sent
	}
	return c.answer(&patient, req)
}

func (c *Client) open(ctx context.Context, client *http.Client, r request) (*http.Response, error) {
	address := c.url + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.body))
	if err != nil {
		return nil, Usagef("%w", err)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	return c.answer(client, req)
}

// exchange sends a request, and returns whatever is answered.
func (c *Client) exchange(client *http.Client, req *http.Request) (*http.Response, error) {
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := client.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	return resp, nil
}

// answer sends a request and turns everything but a success into an error.
func (c *Client) answer(client *http.Client, req *http.Request) (*http.Response, error) {
	resp, err := c.exchange(client, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // whatever came of it
	return nil, c.refusal(resp, text)
}

// refusal is an answer that is no success, in one line.
func (c *Client) refusal(resp *http.Response, text []byte) error {
	var answer struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(text, &answer)
	said := strings.TrimSpace(strings.TrimPrefix(answer.Error, "ERR "))
	switch {
	case resp.StatusCode == http.StatusUnauthorized && c.database != "":
		return errorf(ExitDenied, "%s refuses the token of %s: there is no database %q, or the token is that of another one", c.url, c.tokenFrom, c.database)
	case resp.StatusCode == http.StatusUnauthorized:
		return errorf(ExitDenied, "%s refuses the token of %s: it is another cluster's, another database's, or was replaced", c.url, c.tokenFrom)
	case resp.StatusCode == http.StatusBadRequest && strings.Contains(string(text), "HTTP request to an HTTPS server"):
		return c.wrongScheme("https")
	case resp.StatusCode/100 == 3:
		return errorf(ExitUnreachable, "%s redirects to %s: give the URL of a node", c.url, resp.Header.Get("Location"))
	case said == "":
		return errorf(ExitUnreachable, "%s answered %s: is it a Trireme node?", c.url, resp.Status)
	case resp.StatusCode == http.StatusForbidden || strings.HasPrefix(said, "NOPERM"):
		return errorf(ExitDenied, "%s (with the token of %s)", said, c.tokenFrom)
	case resp.StatusCode == http.StatusNotFound:
		return errorf(ExitUnknown, "%s", said)
	case resp.Header.Get("Svc-Outcome") == "unknown":
		return errorf(ExitFailed, "%s; look before you repeat it", said)
	}
	return errorf(ExitFailed, "%s", said)
}

func (c *Client) noNode() error {
	return errorf(ExitUnreachable, "%s did not reply with JSON: is it a Trireme node?", c.url)
}

func (c *Client) wrongScheme(right string) error {
	_, rest, _ := strings.Cut(c.url, "://")
	return errorf(ExitUnreachable, "%s speaks %s: use %s://%s", c.url, map[string]string{"https": "TLS", "http": "no TLS"}[right], right, rest)
}

// explain says what a failed exchange means and what to do.
func (c *Client) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return errorf(ExitFailed, "stopped before %s answered", c.url)
	}
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		dns       *net.DNSError
		header    tls.RecordHeaderError
		timeout   net.Error
	)
	switch text := err.Error(); {
	case errors.As(err, &authority):
		return errorf(ExitUnreachable, "the certificate of %s is signed by an authority that is unknown here: give its certificate by --ca", c.url)
	case errors.As(err, &host):
		return errorf(ExitUnreachable, "the certificate of %s is for other names: %w", c.url, host)
	case errors.As(err, &invalid):
		return errorf(ExitUnreachable, "the certificate of %s is not valid: %w", c.url, invalid)
	case errors.As(err, &header) || strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return c.wrongScheme("http")
	case strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return c.wrongScheme("https")
	case errors.As(err, &dns):
		return errorf(ExitUnreachable, "no address for %s: check the name in the URL", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errorf(ExitUnreachable, "nothing listens at %s: start a node, or name another by --url, %s or a context", c.url, urlVariable)
	case errors.As(err, &timeout) && timeout.Timeout():
		return errorf(ExitUnreachable, "no answer from %s within %s: the request may still be done; --request-timeout waits longer", c.url, c.http.Timeout)
	}
	return errorf(ExitUnreachable, "no answer from %s: %w", c.url, err)
}
