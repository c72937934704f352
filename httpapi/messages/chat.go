package messages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/httpfield"
)

// chatPath is the path at which old clients ask a language model and wait for its answer. Newer ones publish to
// api/llm.
const chatPath = "/llm/v1/chat/completions"

// chatAPI is the API destination that answers there.
const chatAPI = "llm"

// The bounds of a conversation with a provider.
const (
	chatTime  = 10 * time.Minute
	chatReply = 48 << 20
)

// Provider sends one request to the API destination of a name, with its token, through
// the guard of deliveries.
type Provider func(api string, r *http.Request) (*http.Response, error)

// chat asks the provider of api/llm and returns its answer as it is, in pieces as they come. It stores nothing, and
// does not retry.
func (re *request) chat() error {
	target := re.Parser.APIs[chatAPI]
	body, err := re.body(re.MaxBody)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(re.r.Context(), chatTime)
	defer cancel()
	asked, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("api/%s: %w", chatAPI, err)
	}
	for _, name := range []string{"Content-Type", "Accept"} {
		if v := re.r.Header[name]; len(v) > 0 {
			asked.Header[name] = v
		}
	}
	answer, err := re.Ask(chatAPI, asked)
	if err != nil {
		return &Error{http.StatusBadGateway, "the provider of api/" + chatAPI + " can't be asked"}
	}
	defer answer.Body.Close()
	return re.pass(answer)
}

// passed are the headers of a provider's answer that are passed to the client, in addition to those that begin with
// limitPrefix.
var passed = []string{"Content-Type", "Retry-After"}

const limitPrefix = "X-Ratelimit-"

// pass passes on an answer. If the provider breaks off, the connection ends, and the client keeps what it has received.
func (re *request) pass(answer *http.Response) error {
	for name, values := range httpfield.EndToEnd(answer.Header) {
		if strings.HasPrefix(name, limitPrefix) || slices.Contains(passed, name) {
			re.w.Header()[name] = values
		}
	}
	re.w.WriteHeader(answer.StatusCode)
	piece, out := make([]byte, 16<<10), http.NewResponseController(re.w)
	for sent := 0; sent < chatReply; {
		n, err := answer.Body.Read(piece)
		if _, gone := re.w.Write(piece[:n]); gone != nil {
			return nil
		}
		_ = out.Flush() // a server without it sends at the end
		switch sent += n; {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
	panic(http.ErrAbortHandler)
}
