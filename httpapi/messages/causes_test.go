package messages

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestCausesAreAlike: what differs between two failures of one cause is left out, and nothing else.
func TestCausesAreAlike(t *testing.T) {
	for text, want := range map[string]string{
		"order 4711 was not found":                    "order # was not found",
		"TypeError: x2 is not a function":             "TypeError: x2 is not a function",
		"no row b3f1c2d4-0000-4aaa-8bbb-1234567890ab": "no row #",
		"dial tcp 10.0.0.7:8080: refused":             "dial tcp #.#.#.#:#: refused",
		"user_18c9f0aa is banned":                     "# is banned",
		"":                                            "",
		"\xff bad":                                    "\uFFFD bad",
	} {
		if got := alike(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := alike(strings.Repeat("ä ", 500)); len(got) > causeText || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestCauseOfAnAnswer: the message of an answer in JSON, the first line of another, the error if there was no answer.
func TestCauseOfAnAnswer(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"no stock","id":7}`:         "no stock",
		`{"error":{"message":"no stock"}}`:    "no stock",
		`{"message":"gone","error":"Not ok"}`: "gone",
		`{"error":7}`:                         `{"error":#}`,
		"\n\n  first\nsecond":                 "first",
		"":                                    "Internal Server Error",
	} {
		answer := &queue.Response{Status: 500, Body: []byte(body)}
		if got := causeOf(answer, ""); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
		if got := causeOf(answer, "connection refused"); got != "connection refused" {
			t.Errorf("%q with an error: %q", body, got)
		}
	}
}

// FuzzCauses looks for texts of which the cause is no text, or too long.
func FuzzCauses(f *testing.F) {
	f.Add([]byte(`{"error":"order 4711"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if got := alike(firstLine(body)); len(got) > causeText || !utf8.ValidString(got) {
			t.Errorf("%q: %q", body, got)
		}
	})
}
