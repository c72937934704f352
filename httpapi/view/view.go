package view

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Redactor shows texts and headers. The zero value hides nothing, but cuts every text to nothing: set Trim to -1 for
// whole texts.
type Redactor struct {
	Hide *queue.Redaction
	// Trim is the most bytes of a text, negative for all.
	Trim int
}

// Text returns a body that the sender has made: a message that it has published, or the output of a step.
func (r Redactor) Text(body []byte) string {
	if r.hidesBody(body) {
		return r.Hide.Redacted(string(body))
	}
	return r.Answer(body)
}

func (r Redactor) hidesBody(body []byte) bool { return len(body) > 0 && r.Hide != nil && r.Hide.Body }

// Answer returns the answer of an endpoint, which is never hidden.
func (r Redactor) Answer(body []byte) string {
	return string(r.Cut([]byte(strings.ToValidUTF8(string(body), "\uFFFD"))))
}

// Cut returns the beginning of a body, of at most Trim bytes. It does not cut through a letter of a text.
func (r Redactor) Cut(body []byte) []byte {
	if r.Trim < 0 || len(body) <= r.Trim {
		return body
	}
	cut := r.Trim
	for cut > 0 && r.Trim-cut < utf8.UTFMax && !utf8.RuneStart(body[cut]) {
		cut--
	}
	return body[:cut]
}

// Size returns the number of bytes to show of a body with that many.
func (r Redactor) Size(body int) int {
	if r.Trim < 0 {
		return body
	}
	return min(body, r.Trim)
}

// All is the Trim that shows whole bodies.
const All = -1

// Body returns a body as text, or in base64 if it is none.
func (r Redactor) Body(body []byte) (text, coded string) {
	if utf8.Valid(body) || r.hidesBody(body) {
		return r.Text(body), ""
	}
	return "", base64.StdEncoding.EncodeToString(r.Cut(body))
}

// Header returns the sender's header by canonical names; nil if there is none.
func (r Redactor) Header(list ...[]queue.Field) map[string][]string {
	var m map[string][]string
	for _, header := range list {
		for _, f := range header {
			if m == nil {
				m = map[string][]string{}
			}
			name, value := queue.CanonicalName(f.Name), f.Value
			if r.hides(name) {
				value = r.Hide.Redacted(value)
			}
			m[name] = append(m[name], value)
		}
	}
	return m
}

func (r Redactor) hides(name string) bool {
	if r.Hide == nil || r.Hide.Header {
		return r.Hide != nil
	}
	return slices.ContainsFunc(r.Hide.Names, func(hidden string) bool { return strings.EqualFold(hidden, name) })
}

// Redact returns a header in which the redacted fields are hidden, except those by which clients find the run of a
// workflow.
func (r Redactor) Redact(header map[string][]string) map[string][]string {
	m := make(map[string][]string, len(header))
	for name, values := range header {
		m[name] = values
		if !r.hides(name) || strings.Contains(name, "-Workflow-") {
			continue
		}
		m[name] = nil
		for _, v := range values {
			m[name] = append(m[name], r.Hide.Redacted(v))
		}
	}
	return m
}

// Header returns the header of an endpoint's answer by canonical names; nil if there is none.
func Header(header []queue.Field) map[string][]string { return Redactor{}.Header(header) }

// First returns the first of some texts, empty if there is none.
func First(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// CallbackInfo describes the outcome of a failure callback.
type CallbackInfo struct {
	State           string              `json:"state"`
	ResponseStatus  int                 `json:"responseStatus,omitempty"`
	ResponseBody    string              `json:"responseBody,omitempty"`
	ResponseHeaders map[string][]string `json:"responseHeaders,omitempty"`
}

// NewCallbackInfo shows the state of a failure callback, and its answer if there is one.
func NewCallbackInfo(state string, answer *queue.Response, show Redactor) *CallbackInfo {
	n := &CallbackInfo{State: state}
	if answer != nil {
		n.ResponseStatus, n.ResponseHeaders, n.ResponseBody = answer.Status, Header(answer.Header), show.Answer(answer.Body)
	}
	return n
}
