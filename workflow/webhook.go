package workflow

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Webhook is an address that needs no token. Requests to it are events of the run.
type Webhook struct {
	URL     string `json:"webhookUrl"`
	EventID string `json:"eventId"`
}

// CreateWebhook is a step that makes an address. It ends with the run.
func CreateWebhook(c *Context, name string) Webhook {
	return result[Webhook](c, &pending{step: step{Name: name, Type: "CreateWebhook"}, run: func(context.Context) (*string, error) {
		user, err := userOf(c.d.Token)
		if err != nil {
			return nil, NonRetryable(err)
		}
		event := "evt_" + strings.ToLower(rand.Text()[:15])
		return outOf(Webhook{c.d.Node() + "/v2/workflows/hooks/" + user + "/" + c.RunID + "/" + event, event})
	}})
}

// userOf returns the user that a token names. A token is base64 of JSON.
func userOf(token string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(token)
	var who struct{ UserID string }
	if err == nil {
		err = json.Unmarshal(b, &who)
	}
	if err != nil || who.UserID == "" {
		return "", errors.New("workflow: the token names no user, which webhooks need")
	}
	return who.UserID, nil
}

// WaitForWebhook is a step that waits for a request to a webhook. Requests that came before it are kept. It returns the request, or
// ErrTimeout.
func WaitForWebhook(c *Context, name string, hook Webhook, timeout time.Duration) (*http.Request, error) {
	data, err := c.wait("WaitForWebhook", name, hook.EventID, timeout)
	if err != nil {
		return nil, err
	}
	var in struct {
		Method, Proto, Host, URL string
		Header                   http.Header
		Body                     []byte
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("workflow: the request to webhook %s: %w", hook.URL, err)
	}
	r, err := http.NewRequestWithContext(c, in.Method, in.Proto+"://"+in.Host+in.URL, bytes.NewReader(in.Body))
	if err != nil {
		return nil, fmt.Errorf("workflow: the request to webhook %s: %w", hook.URL, err)
	}
	if in.Header != nil {
		r.Header = in.Header
	}
	return r, nil
}
