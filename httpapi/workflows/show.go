package workflows

import (
	"strings"
	"unicode/utf8"

	"trireme/fsm/flow"
	"trireme/fsm/queue"
)

// shown renders what a run holds as answers of the API may show it: with what
// Svc-Redact-Fields names hidden (workflows.md 15.9), and long texts cut.
type shown struct {
	hide *queue.Redaction
	// trim is the most bytes of a text, negative for all.
	trim int
}

// text is a body of the run itself: its payload, outputs of steps, what is called.
func (s shown) text(body []byte) string {
	if len(body) > 0 && s.hide != nil && s.hide.Body {
		return queue.Redacted(string(body))
	}
	return s.answer(body)
}

// answer is what somebody else has answered.
func (s shown) answer(body []byte) string {
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	if s.trim < 0 || len(text) <= s.trim {
		return text
	}
	cut := s.trim
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// header is a header of the run's own requests; nil if there is none.
func (s shown) header(list ...[]queue.Field) map[string][]string {
	var m map[string][]string
	for _, header := range list {
		for _, f := range header {
			if m == nil {
				m = map[string][]string{}
			}
			name, value := queue.CanonicalName(f.Name), f.Value
			if s.hides(name) {
				value = queue.Redacted(value)
			}
			m[name] = append(m[name], value)
		}
	}
	return m
}

func (s shown) hides(name string) bool {
	if s.hide == nil || s.hide.Header {
		return s.hide != nil
	}
	for _, hidden := range s.hide.Names {
		if strings.EqualFold(hidden, name) {
			return true
		}
	}
	return false
}

// hidden is a header with what is to be hidden, but for the names by which clients find
// the run.
func (s shown) hidden(header map[string][]string) map[string][]string {
	m := make(map[string][]string, len(header))
	for name, values := range header {
		m[name] = values
		if !s.hides(name) || strings.Contains(name, "-Workflow-") {
			continue
		}
		m[name] = nil
		for _, v := range values {
			m[name] = append(m[name], queue.Redacted(v))
		}
	}
	return m
}

// answerHeader is the header of somebody's answer; nil if there is none.
func answerHeader(header []queue.Field) map[string][]string { return shown{}.header(header) }

// stepError is an attempt that failed.
type stepError struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers,omitempty"`
	Body    string              `json:"body"`
	Error   string              `json:"error,omitempty"`
	Time    int64               `json:"time"`
}

func (s shown) errors(list []flow.Attempt) []stepError {
	out := make([]stepError, 0, len(list))
	for i := range list {
		out = append(out, s.failure(&list[i]))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (s shown) failure(a *flow.Attempt) stepError {
	return stepError{Status: a.Status, Headers: answerHeader(a.Header), Body: s.answer(a.Body), Error: a.Error, Time: a.At}
}

// firstOf is the first of some texts, empty if there is none.
func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
