package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// remote asks a running node over its HTTP API.
type remote struct {
	url, token string
	client     *http.Client
}

// defaultURL is where dev serves.
const defaultURL = "http://127.0.0.1:8080"

// answerTimeout covers a leadership transfer, the slowest thing asked.
const answerTimeout = 15 * time.Second

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 16 << 20

// newRemote takes the node from TRIREME_URL and the token from TRIREME_ADMIN_TOKEN.
func newRemote() (*remote, error) {
	base := os.Getenv("TRIREME_URL")
	if base == "" {
		base = defaultURL
	}
	if u, err := url.Parse(base); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, usagef("TRIREME_URL is %q: it has to be like %s", base, defaultURL)
	}
	token, err := secretVariable("TRIREME_ADMIN_TOKEN")
	if err != nil {
		return nil, err
	}
	if token == "" {
		return nil, usagef("TRIREME_ADMIN_TOKEN is not set: it is needed to ask %s", base)
	}
	return &remote{url: strings.TrimRight(base, "/"), token: token, client: &http.Client{Timeout: answerTimeout}}, nil
}

// call sends body as JSON, unless it is nil, and decodes the answer into result,
// unless that is nil.
func (r *remote) call(ctx context.Context, method, path string, body, result any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, content)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", r.url, err)
	}
	if resp.StatusCode/100 != 2 {
		return r.refusal(resp.StatusCode, text)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("%s didn't answer JSON: is it a Trireme node?", r.url)
	}
	return nil
}

func (r *remote) refusal(status int, text []byte) error {
	var answer struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(text, &answer)
	switch {
	case status == http.StatusUnauthorized:
		return errors.New("the node refuses the token in TRIREME_ADMIN_TOKEN")
	case answer.Error != "":
		return errors.New(answer.Error)
	}
	return fmt.Errorf("%s answered %d %s", r.url, status, http.StatusText(status))
}
