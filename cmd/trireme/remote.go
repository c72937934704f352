package main

import (
	"context"
	"io"
	"net/http"

	"github.com/trireme-dev/trireme/cli"
)

// remote asks a running node over its HTTP API.
type remote struct{ *cli.Client }

// defaultURL is the address of dev's HTTP API.
const defaultURL = cli.DefaultURL

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 16 << 20

// newRemote takes the node and the token from the flags of a connection, the variables or the current context.
func newRemote(c *cli.Connection) (*remote, error) {
	client, err := c.Connect()
	if err != nil {
		return nil, err
	}
	return &remote{client}, nil
}

// stream sends a request whose reply is not JSON. Only ctx bounds its time.
func (r *remote) stream(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	return r.Stream(ctx, method, path, body)
}
