package importer

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// The errors that end an import.
var (
	// ErrRefused says that the node takes no more, and why.
	ErrRefused = errors.New("the database refused the request")
	// ErrUnreachable says that a request was not answered, however often it was sent.
	ErrUnreachable = errors.New("no answer")
)

// answer is the result of one command of a pipeline.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

// busy reports whether an error says that the key or library exists.
func busy(text string) bool {
	return strings.HasPrefix(text, "BUSYKEY") || strings.HasPrefix(text, "ERR Library '") && strings.HasSuffix(text, "' already exists")
}

// fatal is the error of a reply that says that everything after it would fail too.
func fatal(text string) error {
	for _, class := range []string{"OOM ", "NOPERM ", "WRONGPASS ", "NOAUTH ", "ERR max daily request limit"} {
		if strings.HasPrefix(text, class) {
			return fmt.Errorf("%w: %s", ErrRefused, text)
		}
	}
	return nil
}

// client sends pipelines. Each has an id, by which a node applies it once, however often
// it has to be sent.
type client struct {
	o    *Options
	url  string
	run  string // part of all ids
	sent atomic.Int64
}

func newClient(o *Options) *client {
	base := strings.TrimRight(o.URL, "/")
	if o.Database != "" {
		base += "/db/" + url.PathEscape(o.Database)
	}
	return &client{o: o, url: base + "/pipeline", run: rand.Text()}
}

// The pauses between two attempts.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 3 * time.Second
)

// pipeline sends a body of n commands until it is answered.
func (c *client) pipeline(ctx context.Context, body []byte, n int) ([]answer, error) {
	id := fmt.Sprintf("import-%s-%d", c.run, c.sent.Add(1))
	deadline := time.Now().Add(c.o.Patience)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		answers, again, err := c.attempt(ctx, id, body, n)
		if err == nil || !again || ctx.Err() != nil {
			return answers, err
		}
		if time.Now().Add(pause).After(deadline) {
			return nil, fmt.Errorf("%w of %s for %v: %w", ErrUnreachable, c.url, c.o.Patience, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// attempt sends a body once; again says that it may be sent again.
func (c *client) attempt(ctx context.Context, id string, body []byte, n int) (answers []answer, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	req.Header.Set("Authorization", "Bearer "+c.o.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Svc-Request-Id", id)
	resp, err := c.o.Client.Do(req)
	if err != nil {
		return nil, true, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, true, err
	}
	if resp.StatusCode != http.StatusOK {
		again := resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests
		return nil, again, refusal(resp.Status, text)
	}
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != n {
		return nil, false, fmt.Errorf("%s did not reply like a Trireme node", c.url)
	}
	return answers, false, nil
}

// refusal is the error of a whole request.
func refusal(status string, text []byte) error {
	var a answer
	if json.Unmarshal(text, &a) == nil && a.Error != "" {
		return fmt.Errorf("%w: %s", ErrRefused, a.Error)
	}
	return fmt.Errorf("%w: %s", ErrRefused, status)
}
