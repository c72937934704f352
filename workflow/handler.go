package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	header          = "Upstash-Workflow-"
	protocolVersion = "1"
	// release is the release of the protocol that answers name: from 1.0 on, /v2/trigger starts runs.
	release = "v1.4.0"
	// maxBody bounds the body of a delivery, in bytes. Logs that are longer are fetched; answers of third parties are not.
	maxBody = 128 << 20
)

// handler serves workflows.
type handler struct {
	conn
	workflows map[string]Definition
}

// Handler serves workflows: a request is for the one whose name is the last segment of its path. A request that belongs to no run, such as a
// published message or a call of another workflow, starts one with its body. Without signing keys anybody may send one. Handler panics if two
// workflows have one name.
func Handler(o Options, workflows ...Definition) http.Handler {
	h := &handler{conn: conn{o.completed()}, workflows: map[string]Definition{}}
	for _, w := range workflows {
		if h.workflows[w.Name()] != nil {
			panic("workflow: two workflows have the name " + w.Name())
		}
		h.workflows[w.Name()] = w
	}
	return h
}

// ServeHTTP answers a delivery.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(header+"Sdk-Version", protocolVersion)
	if r.Method != http.MethodPost {
		answerError(w, http.StatusMethodNotAllowed, errors.New("workflow: expected POST"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		answerError(w, http.StatusBadRequest, fmt.Errorf("workflow: read the request: %w", err))
		return
	}
	if !h.Unsigned {
		if err := verify([]string{h.CurrentSigningKey, h.NextSigningKey}, r.Header.Get(signatureHeader), body, time.Now()); err != nil {
			answerError(w, http.StatusUnauthorized, err)
			return
		}
	}
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	definition := h.workflows[name]
	if definition == nil {
		answerError(w, http.StatusNotFound, fmt.Errorf("workflow: no workflow %q is served here", name))
		return
	}
	w.Header().Set(header+"Sdk", release)
	answer, err := h.deliver(w, r, definition, body)
	if err != nil && !errors.Is(err, errOver) {
		w.Header().Del(header + "Sdk")
		refuse(w, err)
		return
	}
	if answer == nil {
		answer = map[string]string{"workflowRunId": r.Header.Get(header + "Runid"), "finishCondition": "success"}
	}
	answerJSON(w, http.StatusOK, answer)
}

// deliver handles a request of a node. A nil answer is the ordinary one.
func (h *handler) deliver(w http.ResponseWriter, r *http.Request, definition Definition, body []byte) (answer any, err error) {
	run := r.Header.Get(header + "Runid")
	switch {
	case r.Header.Get(header+"Failure-Callback") != "":
		return h.failed(w, r, definition, body)
	case run != "" && r.Header.Get(header+"Callback") != "":
		return nil, h.called(r, run, body)
	case run == "" || r.Header.Get(header+"Sdk-Version") == "", r.Header.Get(header+"Unknown-Sdk") != "":
		return h.first(r, definition, body)
	}
	d, err := h.newDelivery(r, run, h.urlOf(r), body)
	if err != nil {
		return nil, err
	}
	return nil, d.replay(definition)
}

// urlOf returns the URL of the workflow that a request is for.
func (h *handler) urlOf(r *http.Request) string {
	if url := r.Header.Get(header + "Url"); url != "" {
		return url
	}
	if h.AppURL != "" {
		return h.AppURL + r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):]
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return cmp.Or(r.Header.Get("X-Forwarded-Proto"), scheme) + "://" + r.Host + r.URL.RequestURI()
}

// statusNonRetryable is the status upon which the server fails a run at once.
const statusNonRetryable = 489

// refuse answers with the error of an attempt.
func refuse(w http.ResponseWriter, err error) {
	if s, is := errors.AsType[*stepError](err); is {
		w.Header().Set("Upstash-Error-Step-Name", s.step)
	}
	if errors.Is(err, ErrNonRetryable) {
		w.Header().Set("Upstash-NonRetryable-Error", "true")
		answerError(w, statusNonRetryable, err)
		return
	}
	if after, is := errors.AsType[*RetryAfterError](err); is {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((after.After+time.Second-1)/time.Second), 10))
		answerError(w, http.StatusTooManyRequests, err)
		return
	}
	answerError(w, http.StatusInternalServerError, err)
}

func answerError(w http.ResponseWriter, status int, err error) { answerJSON(w, status, describe(err)) }

func answerJSON(w http.ResponseWriter, status int, v any) {
	b, err := marshal(v)
	if err != nil {
		b, status = []byte(`{"error":"Error","message":"workflow: the answer is no JSON"}`), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the node repeats a delivery whose answer is lost
}
